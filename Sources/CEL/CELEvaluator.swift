import RPCurlLanguage
import RPCurlProtobuf

/// Evaluates an expression.
package struct CELEvaluator {
  /// The values of the variables; those of macros follow those of the expression.
  private var variables: [CELValue]
  /// The steps that may still be taken: an expression comes from a server.
  private(set) var run: RuleRun

  /// Evaluates an expression.
  ///
  /// - Parameters:
  ///   - node: The expression.
  ///   - variables: The values of its variables.
  ///   - run: The resources, from which its steps are subtracted.
  package static func evaluate(
    _ node: CELNode, _ variables: [CELValue], _ run: inout RuleRun
  ) throws(LanguageError) -> CELValue {
    var evaluator = CELEvaluator(variables: variables, run: run)
    defer { run = evaluator.run }
    return try evaluator.value(node)
  }

  private mutating func value(_ node: CELNode) throws(LanguageError) -> CELValue {
    try run.spend(1)
    switch node {
    case .literal(let value): return value
    case .variable(let index): return variables[index]
    case .select(let node, let name): return try field(name, of: try value(node))
    case .has(let node, let name): return .bool(try has(name, in: try value(node)))
    case .list(let nodes):
      var list: [CELValue] = []
      for node in nodes { list.append(try value(node)) }
      return .list(list)
    case .map(let nodes):
      var entries: [(key: CELValue, value: CELValue)] = []
      for (keyNode, valueNode) in nodes {
        let key = try value(keyNode)
        guard try CELValue.find(key, in: entries, &run) == nil else {
          throw LanguageError("a key of a map is repeated")
        }
        entries.append((key, try value(valueNode)))
      }
      return .map(entries)
    case .and(let one, let other): return .bool(try logic(one, other, deciding: false))
    case .or(let one, let other): return .bool(try logic(one, other, deciding: true))
    case .conditional(let condition, let one, let other):
      return try value(try truth(try value(condition)) ? one : other)
    case .call(let name, let nodes):
      var arguments: [CELValue] = []
      for node in nodes { arguments.append(try value(node)) }
      for argument in arguments { try run.spend(reading: argument) }
      return try CELFunctions.call(name, arguments, &run)
    case .comprehension(let macro, let node, let condition, let result):
      return try comprehension(macro, try value(node), condition, result)
    }
  }

  private func truth(_ value: CELValue) throws(LanguageError) -> Bool {
    guard case .bool(let truth) = value else { throw LanguageError("\(value.typeName) is not a bool") }
    return truth
  }

  /// A conjunction or disjunction: a value that decides it counts even if the other fails.
  private mutating func logic(
    _ one: CELNode, _ other: CELNode, deciding: Bool
  ) throws(LanguageError) -> Bool {
    var failure: LanguageError?
    for node in [one, other] {
      do throws(LanguageError) {
        if try truth(try value(node)) == deciding { return deciding }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return !deciding
  }

  // MARK: Members

  private mutating func field(_ name: String, of value: CELValue) throws(LanguageError) -> CELValue {
    switch value {
    case .message(let message):
      let found = try Self.field(name, of: message)
      let value = CELValue(found.message.contents(of: found.field), found.field)
      try run.spend(reading: value)
      return value
    case .map(let entries):
      guard let value = try CELValue.find(.string(name), in: entries, &run) else {
        throw LanguageError("the map has no key \(name)")
      }
      return value
    default: throw LanguageError("\(value.typeName) has no field \(name)")
    }
  }

  private mutating func has(_ name: String, in value: CELValue) throws(LanguageError) -> Bool {
    switch value {
    case .message(let message):
      let found = try Self.field(name, of: message)
      if case .unset = found.message.contents(of: found.field) { return false }
      return true
    case .map(let entries): return try CELValue.find(.string(name), in: entries, &run) != nil
    default: throw LanguageError("\(value.typeName) has no field \(name)")
    }
  }

  /// A field of a message, or of the message in an Any.
  static func field(
    _ name: String, of message: Message
  ) throws(LanguageError) -> (message: Message, field: Field) {
    let message = message.unpacked ?? message
    guard let fields = try? message.type.fields(), let field = fields.first(where: { $0.name == name }) else {
      throw LanguageError("\(message.type.name) has no field \(name)")
    }
    return (message, field)
  }

  // MARK: Macros

  private mutating func comprehension(
    _ macro: CELMacro, _ range: CELValue, _ condition: CELNode, _ result: CELNode?
  ) throws(LanguageError) -> CELValue {
    let elements: [CELValue]
    switch range {
    case .list(let list): elements = list
    case .map(let entries): elements = entries.map(\.key)
    default: throw LanguageError("\(macro.rawValue) requires a list or a map, not \(range.typeName)")
    }
    var found: [CELValue] = []
    var matches = 0
    var failure: LanguageError?
    for element in elements {
      variables.append(element)
      defer { variables.removeLast() }
      let isMatch: Bool
      do throws(LanguageError) {
        isMatch = try truth(try value(condition))
      } catch {
        // An element that decides the result counts even if others fail.
        guard macro == .all || macro == .exists, run.budget > 0 else { throw error }
        failure = failure ?? error
        continue
      }
      if isMatch { matches += 1 }
      switch macro {
      case .all where !isMatch: return .bool(false)
      case .exists where isMatch: return .bool(true)
      case .filter where isMatch: found.append(element)
      case .map where isMatch: if let result { found.append(try value(result)) }
      default: break
      }
    }
    if let failure { throw failure }
    switch macro {
    case .all: return .bool(true)
    case .exists: return .bool(false)
    case .existsOne: return .bool(matches == 1)
    case .filter, .map: return .list(found)
    }
  }
}

extension RuleRun {
  /// Subtracts the steps that reading a value takes, roughly.
  ///
  /// A value may contain the same list many times, so that it has more elements than the steps that made it. Each
  /// element is charged before the next is visited.
  package mutating func spend(reading value: CELValue) throws(LanguageError) {
    switch value {
    case .string(let text): try spend(1 + text.utf8.count >> 3)
    case .bytes(let bytes): try spend(1 + bytes.count >> 3)
    case .list(let list):
      try spend(1)
      for element in list { try spend(reading: element) }
    case .map(let entries):
      try spend(1)
      for (key, value) in entries {
        try spend(reading: key)
        try spend(reading: value)
      }
    case .message: try spend(10)
    default: try spend(1)
    }
  }
}

extension Message {
  /// The message in a `google.protobuf.Any`; nil for other messages, and if the schema does not declare its type.
  fileprivate var unpacked: Message? {
    guard type.name == "google.protobuf.Any", let fields = try? type.fields(), fields.count == 2,
      case .value(.string(let url)) = contents(of: fields[0])
    else { return nil }
    let name = url.lastIndex(of: "/").map { String(url[url.index(after: $0)...]) } ?? url
    guard let type = try? type.relative(named: name) else { return nil }
    guard case .value(.bytes(let bytes)) = contents(of: fields[1]) else { return Message(type) }
    return try? Message(type, serialized: bytes)
  }
}
