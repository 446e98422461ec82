import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// Compares what a suite exercises with an older schema.
struct ContractCheck {
  let contract: SuiteContract
  /// The schema of the last call.
  private var new: DescriptorPool?
  /// The full names of services, methods, messages and enums of the old schema that calls concern.
  private var exercised: Set<String> = []
  /// The changes of types between the schemas; nil until they are needed.
  private var changedTypes: [SchemaFinding]?

  init(_ contract: SuiteContract) { self.contract = contract }

  // MARK: Calls

  /// Adds a method of the old schema, and the types of its messages. Returns nil if the old schema lacks it.
  mutating func add(_ name: MethodName) -> MethodDescriptor? {
    guard let method = try? SchemaSource.find(name, in: contract.old) else { return nil }
    guard exercised.insert("\(method.service)/\(method.name)").inserted else { return method }
    exercised.insert(method.service)
    if let dot = method.service.utf8.lastIndex(of: UInt8(ascii: ".")) {
      exercised.insert(String(method.service[..<dot]))
    }
    var enums: [EnumType] = []
    for type in [method.input, method.output] {
      type.forEachReachable(besides: &exercised) { _, fields in
        enums += fields.compactMap { ($0.mapValue ?? $0).enumType }
      }
    }
    exercised.formUnion(enums.map(\.name))
    return method
  }

  /// How a message of a call differs in the two schemas; nil if it means the same.
  ///
  /// - Parameters:
  ///   - message: A message of the new schema: a request as it is written in the suite, or a response as it was received.
  ///   - plan: The call.
  mutating func difference(
    of message: SessionMessage, _ plan: CallPlan, isRequest: Bool
  ) -> Mismatch? {
    new = plan.pool
    guard let method = add(plan.name) else { return nil }
    guard isRequest else {
      let bytes: SessionMessage
      switch message {
      case .typed(let message): bytes = .bytes(message.serialized(), .proto, method.output)
      case .bytes(let content, let codec, _): bytes = .bytes(content, codec, method.output)
      }
      guard let before = try? bytes.message() else { return nil }
      do throws(Failure) {
        return Self.difference(before, try message.message())
      } catch {
        return Mismatch("a \(method.output.name)", got: error.message?.why ?? "an invalid message")
      }
    }
    // A client of the old schema sends the same JSON.
    guard case .bytes(let json, .json, _) = message, let before = try? Message(method.input, json: json)
    else {
      return nil
    }
    do {
      return Self.difference(before, try Message(plan.method.input, serialized: before.serialized()))
    } catch {
      return Mismatch("a \(plan.method.input.name)", got: "\(error)")
    }
  }

  private static func difference(_ before: Message, _ after: Message) -> Mismatch? {
    guard let old = try? JSONValue(parsing: before.json()) else { return nil }
    do {
      let new = try JSONValue(parsing: after.json())
      return keeps(old, new) ? nil : Mismatch(old, got: new)
    } catch {
      return Mismatch(old.text, got: "\(error)")
    }
  }

  /// Whether a message in JSON has everything that it has with the old schema.
  private static func keeps(_ old: JSONValue, _ new: JSONValue) -> Bool {
    switch (old, new) {
    case (.object(let members), .object):
      members.allSatisfy { member in new[member.name].map { keeps(member.value, $0) } ?? false }
    case (.array(let some), .array(let others)):
      some.count == others.count && zip(some, others).allSatisfy(keeps)
    default: old == new
    }
  }

  // MARK: Schemas

  /// The broken rules.
  ///
  /// - Parameter current: The new schema; nil for that of the last call.
  /// - Returns: Those that concern what was exercised, and the number of others.
  func findings(_ current: DescriptorPool?) throws(SchemaError) -> (exercised: [SchemaFinding], others: Int) {
    guard let new = new ?? current else { return ([], 0) }
    let findings = try SchemaComparison.findings(ofAPI: contract.old, new, rules: contract.rules.rules)
    let broken = contract.rules.result(of: findings).findings.filter { $0.rule != nil }
    let concerned = broken.filter(isExercised)
    return (concerned, broken.count - concerned.count)
  }

  /// The changes of types of fields among the messages of a method; nil without one.
  ///
  /// - Parameters:
  ///   - name: The method.
  ///   - current: The new schema, if no call has been made.
  mutating func typeChanges(of name: MethodName, _ current: DescriptorPool?) -> String? {
    guard let method = try? SchemaSource.find(name, in: contract.old), let new = new ?? current else {
      return nil
    }
    let changed =
      changedTypes
      ?? (try? SchemaComparison.findings(
        ofAPI: contract.old, new, rules: [.fieldSameType, .fieldSameCardinality])) ?? []
    changedTypes = changed
    var types: Set<String> = []
    for type in [method.input, method.output] { type.forEachReachable(besides: &types) { _, _ in } }
    let found = changed.filter { $0.rule != nil && $0.parent.map(types.contains) == true }
    return found.isEmpty ? nil : found.map(\.text).joined(separator: "; ")
  }

  private func isExercised(_ finding: SchemaFinding) -> Bool {
    // No call depends on options of files.
    guard let rule = finding.rule, !rule.rawValue.hasPrefix("FILE_") else { return false }
    if exercised.contains(finding.symbol) { return true }
    // A member of a message or an enum.
    guard let parent = finding.parent else { return false }
    return exercised.contains(parent) && contract.old.declaresType(parent)
  }
}

extension SchemaFinding {
  /// The full name of what the declaration is a member of.
  fileprivate var parent: String? {
    symbol.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(symbol[..<$0]) }
  }
}

extension DescriptorPool {
  /// Whether a message or an enum has this name.
  fileprivate func declaresType(_ name: String) -> Bool {
    ((try? messageType(named: name)) ?? nil) != nil || ((try? enumType(named: name)) ?? nil) != nil
  }
}
