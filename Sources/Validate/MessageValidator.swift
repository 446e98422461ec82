import RPCurlCEL
import RPCurlLanguage
import RPCurlProtobuf

/// Finds the violations in one message.
package struct MessageValidator {
  /// A step of the path of a field.
  private enum Step {
    case field(Field)
    case index(Int)
    case key(Value)
  }

  /// At most this many violations are listed.
  static let limit = 100

  private let book: RuleBook
  private let warn: (String) -> Void
  private var run: RuleRun
  private var path: [Step] = []
  /// The type of the whole message.
  private var typeName = ""
  package private(set) var violations: [Violation] = []
  /// Whether a rule could not be evaluated.
  package private(set) var hasSkippedRule = false
  /// Whether the messages in the message are not validated.
  private let isShallow: Bool

  /// Makes a validator.
  ///
  /// - Parameters:
  ///   - book: The rules.
  ///   - now: The time, in nanoseconds since 1970.
  ///   - isShallow: Whether the messages in the message are not validated.
  ///   - warn: Receives why rules are skipped.
  package init(_ book: RuleBook, now: Int64, isShallow: Bool = false, warn: @escaping (String) -> Void) {
    self.book = book
    self.isShallow = isShallow
    self.warn = warn
    run = RuleRun(now: now)
  }

  /// Validates a message by the rules of its type.
  package mutating func validate(_ message: Message) {
    guard let rules = book.rules(of: message.type, warn) else { return }
    if path.isEmpty { typeName = message.type.name }
    check(rules.rules, .value(.message(message)))
    for choice in rules.choices {
      let count = choice.fields.count { message.has($0) }
      let names = choice.fields.map(\.name).joined(separator: ", ")
      if count > 1 {
        add("message.oneof", "only one of \(names) can be set")
      } else if count == 0, choice.isRequired {
        add("message.oneof", "one of \(names) must be set")
      }
    }
    if !rules.requiredOneofs.isEmpty {
      let set = Set(message.setFields.compactMap(\.oneofIndex))
      for oneof in rules.requiredOneofs where !set.contains(oneof.index) {
        add("required", "exactly one field is required in oneof", oneof: oneof.name)
      }
    }
    for (field, rules) in rules.fields {
      guard violations.count < Self.limit else { return }
      path.append(.field(field))
      validate(field, message.contents(of: field), rules)
      path.removeLast()
    }
  }

  /// Validates a field by its rules.
  package mutating func validate(_ field: Field, of message: Message, _ rules: ValueRules) {
    validate(field, message.contents(of: field), rules)
  }

  /// Validates an element of a list, or a key or a value of a map.
  package mutating func validate(element value: Value, _ rules: ValueRules) {
    validate(.index(0), value, rules)
  }

  private mutating func validate(_ field: Field, _ contents: FieldContents, _ rules: ValueRules) {
    var contents = contents
    if case .unset = contents {
      if rules.isRequired { return add("required", "value is required") }
      if rules.ignoresZero || field.hasPresence { return }
      if field.isMap {
        contents = .map([])
      } else if field.isRepeated {
        contents = .list([])
      } else if let zero = field.defaultValue {
        contents = .value(zero)
      }
    }
    if rules.ignoresEmpty, case .value(let value) = contents, value.isDefault { return }
    check(rules.rules, contents)
    switch contents {
    case .unset: break
    case .value(let value): validateMessage(value, rules)
    case .list(let values):
      guard let items = rules.items.first else { return }
      for (index, value) in values.enumerated() {
        guard violations.count < Self.limit else { return }
        validate(.index(index), value, items)
      }
    case .map(let entries):
      for (key, value) in entries {
        guard violations.count < Self.limit else { return }
        if let keys = rules.keys.first {
          let before = violations.count
          validate(.key(key), key, keys)
          for index in before..<violations.count {
            let own = violations[index]
            violations[index] = Violation(field: own.field, rule: own.rule, message: "key: \(own.message)")
          }
        }
        if let values = rules.values.first { validate(.key(key), value, values) }
      }
    }
  }

  /// Validates an element of a list, or a key or a value of a map.
  private mutating func validate(_ step: Step, _ value: Value, _ rules: ValueRules) {
    if rules.ignoresZero, value.isDefault { return }
    path.append(step)
    defer { path.removeLast() }
    check(rules.rules, .value(value))
    validateMessage(value, rules)
  }

  private mutating func validateMessage(_ value: Value, _ rules: ValueRules) {
    if rules.validatesMessages, !isShallow, case .message(let message) = value { validate(message) }
  }

  private mutating func check(_ rules: [Rule], _ contents: FieldContents) {
    for rule in rules {
      do throws(LanguageError) {
        if let message = try rule.test(contents, &run) { add(rule.id, message) }
      } catch {
        hasSkippedRule = true
        let place = pathText.isEmpty ? typeName : pathText
        // The path without subscripts, so that a rule of elements is named once.
        let fields = path.map { if case .field(let field) = $0 { field.name } else { "[]" } }
        if book.isNew("\(typeName) \(fields.joined(separator: ".")) \(rule.id)") {
          warn("\(place): \(rule.id) is skipped: \(error.reason)")
        }
      }
    }
  }

  private mutating func add(_ rule: String, _ message: String, oneof: String? = nil) {
    guard violations.count < Self.limit else { return }
    let field = pathText + (oneof.map { (path.isEmpty ? "" : ".") + $0 } ?? "")
    violations.append(Violation(field: field, rule: rule, message: message))
  }

  private var pathText: String {
    let steps = path.map { step -> FieldPath.Step in
      switch step {
      case .field(let field): .field(field.name)
      case .index(let index): .subscripted(.integer(Int64(index)))
      case .key(.string(let key)): .subscripted(.string(key))
      case .key(.bool(let key)): .subscripted(.bool(key))
      case .key(.uint64(let key)):
        .subscripted(Int64(exactly: key).map { .integer($0) } ?? .unsigned(key))
      case .key(let key):
        if case .integer(let number)? = Ordinal(key) {
          .subscripted(.integer(Int64(truncatingIfNeeded: number)))
        } else {
          .subscripted(.string("?"))
        }
      }
    }
    return steps.isEmpty ? "" : "\(FieldPath(steps: steps))"
  }
}

extension Message {
  /// Whether a field is set: one without presence is not zero, a list or map is not empty.
  fileprivate func has(_ field: Field) -> Bool {
    if case .unset = contents(of: field) { false } else { true }
  }
}
