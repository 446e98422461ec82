import RPCurlBase
import RPCurlProtobuf

/// The compiled rules of a message type.
package struct TypeRules: Sendable {
  /// Fields of which at most one, or exactly one, must be set.
  package struct Choice: Sendable {
    package let fields: [Field]
    let isRequired: Bool
  }

  /// Rules of the whole message.
  var rules: [Rule] = []
  package private(set) var choices: [Choice] = []
  /// The oneofs of which a field must be set: their indices and names.
  var requiredOneofs: [(index: Int, name: String)] = []
  /// The fields that have rules, or messages that may have them.
  package private(set) var fields: [(field: Field, rules: ValueRules)] = []

  /// Whether there are rules about several fields.
  package var hasMessageRules: Bool { !rules.isEmpty || !choices.isEmpty || !requiredOneofs.isEmpty }

  /// Compiles the rules of a type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - problems: Receives why rules are skipped.
  /// - Throws: `SchemaError` if the schema of the type is invalid.
  init(_ type: MessageType, problems: inout [String]) throws(SchemaError) {
    let all = WireFields(try type.options())
    let olderAreDisabled = OlderRules.areDisabled(by: all)
    var compiler = RuleCompiler(type, olderAreDisabled: olderAreDisabled)
    let fields = try type.fields()
    var inChoices: Set<UInt32> = []
    let options = all.message(RuleCompiler.extensionNumber)
    if let options {
      rules = CELRules.compile(options, texts: 5, rules: 3, nil) { problems.append("\(type.name): \($0)") }
    }
    for choice in options?.messages(4) ?? [] {
      let names = choice.texts(1)
      let members = names.compactMap { name in fields.first { $0.name == name } }
      guard members.count == names.count, !names.isEmpty else {
        problems.append(
          "\(type.name): the rule oneof names fields that do not exist: \(names.joined(separator: ", "))")
        continue
      }
      inChoices.formUnion(members.map(\.number))
      choices.append(Choice(fields: members, isRequired: choice.flag(2)))
    }
    for (index, oneof) in try type.oneofs().enumerated() {
      let options = WireFields(oneof.options)
      let older = !olderAreDisabled && options.flag(OlderRules.extensionNumber)
      if options.message(RuleCompiler.extensionNumber)?.flag(1) ?? older {
        requiredOneofs.append((index, oneof.name))
      }
    }
    for field in fields {
      var rules = compiler.compile(field, place: "\(type.name).\(field.name)")
      if inChoices.contains(field.number) { rules.ignoresZero = true }
      if !rules.isEmpty { self.fields.append((field, rules)) }
    }
    problems += compiler.problems
  }
}

/// The rules of message types, compiled once for each.
package final class RuleBook: Sendable {
  private let types = Locked<[String: (type: MessageType, rules: TypeRules)]>([:])
  private let warned = Locked<Set<String>>([])

  /// Makes an empty book.
  package init() {}

  /// The rules of a type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - warn: Receives why rules are skipped, when they are compiled.
  package func rules(of type: MessageType, _ warn: (String) -> Void) -> TypeRules? {
    let name = type.name
    if let found = types.withLock({ $0[name] }), found.type == type { return found.rules }
    var problems: [String] = []
    do throws(SchemaError) {
      let rules = try TypeRules(type, problems: &problems)
      types.withLock { $0[name] = (type, rules) }
      for problem in problems { warn(problem) }
      return rules
    } catch {
      warn("\(name): \(error)")
      return nil
    }
  }

  /// Whether a warning has not been given yet.
  func isNew(_ warning: String) -> Bool { warned.withLock { $0.insert(warning).inserted } }
}
