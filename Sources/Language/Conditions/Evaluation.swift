import Protobuf

/// Evaluates conditions on the result of a call.
struct Evaluation<Result: Subject> {
  private let result: Result
  private let files: any GoldenFiles

  init(_ result: Result, _ files: any GoldenFiles) {
    self.result = result
    self.files = files
  }

  /// What differs from a claim; nil if it holds.
  func mismatch(_ claim: Claim) throws(LanguageError) -> Mismatch? {
    switch claim {
    case .status(let codes, let isWanted, let text):
      return codes.contains(result.statusNumber) == isWanted ? nil : Mismatch(text, got: status)
    case .error(let condition):
      let test = try ValueTest(condition, .untyped, isList: false, files)
      guard case .exists(let isWanted) = condition.test else {
        return try test.mismatch([.text(result.error)])
      }
      if result.error.isEmpty != isWanted { return nil }
      return Mismatch(condition.text, got: JSONValue.quoted(result.error))
    case .detail(let type, let claim): return try detail(type, claim)
    case .header(let name, let condition): return try metadata(name, condition, result.headers(name))
    case .trailer(let name, let condition): return try metadata(name, condition, result.trailers(name))
    case .count(let bound):
      return bound.allows(result.count) ? nil : Mismatch("\(bound)", got: "\(result.count)")
    case .latency(let comparison, let bound, let text):
      if comparison.holds(Order(result.latency, bound)) == true { return nil }
      return Mismatch(text, got: "\(result.latency.millisecondsText)ms")
    case .field(let selection, let claim): return try field(selection, claim)
    case .list(let claim): return try list(claim)
    }
  }

  /// The status with its message.
  private var status: String {
    result.error.isEmpty ? result.statusName : "\(result.statusName): \(result.error)"
  }

  // MARK: Metadata

  private func metadata(
    _ name: String, _ condition: ValueCondition, _ values: [String]
  ) throws(LanguageError) -> Mismatch? {
    if case .exists(let isWanted) = condition.test {
      if values.isEmpty != isWanted { return nil }
    } else {
      let test = try ValueTest(condition, .untyped, isList: false, files)
      var count = 0
      for value in values where try test.mismatch([.text(value)]) == nil { count += 1 }
      if condition.isNegated ? count == values.count : count > 0 { return nil }
    }
    // The condition uses the real values; the report shows them redacted.
    let shown = values.map {
      JSONValue.quoted(result.shown($0, of: name))
    }
    return Mismatch(condition.text, got: shown.isEmpty ? "no \(name)" : shown.joined(separator: ", "))
  }

  // MARK: Details

  private func detail(_ name: String, _ claim: DetailClaim) throws(LanguageError) -> Mismatch? {
    let found = result.statusDetails.filter { $0.typeName == name || $0.typeName.hasSuffix(".\(name)") }
    let types = result.statusDetails.map(\.typeName).joined(separator: ", ")
    let got = types.isEmpty ? "no details" : types
    switch claim {
    case .exists(let isWanted):
      return found.isEmpty != isWanted ? nil : Mismatch(isWanted ? name : "no \(name)", got: got)
    case .field(let claim):
      var first: Mismatch?
      for detail in found {
        guard let type = detailType(detail.typeName) else {
          throw LanguageError("the schema does not define the detail \(detail.typeName)")
        }
        let test = try test(claim, in: type)
        guard let message = try? Message(type, serialized: detail.value) else {
          throw LanguageError("the detail \(detail.typeName) is not a valid message")
        }
        guard let mismatch = try test.mismatch(CheckedValue.values(claim.path, in: message)) else {
          return nil
        }
        if first == nil { first = mismatch }
      }
      if found.isEmpty, let type = detailType(name) ?? detailType("google.rpc.\(name)") {
        _ = try test(claim, in: type)
      }
      return first ?? Mismatch(name, got: got)
    }
  }

  private func detailType(_ name: String) -> MessageType? {
    (try? result.type?.relative(named: name)) ?? WellKnownMessages.type(name)
  }

  // MARK: Messages

  private func test(
    _ claim: ValueClaim, in type: MessageType, isList: Bool = false
  ) throws(LanguageError) -> ValueTest {
    try ValueTest(
      claim.condition, ValueType(claim.path, in: type), isList: isList || claim.selectsMany, files)
  }

  private func field(_ selection: MessageSelection, _ claim: ValueClaim) throws(LanguageError) -> Mismatch? {
    guard let type = result.type ?? result.last?.type else { return noMessage(claim) }
    let test = try test(claim, in: type)
    guard let last = result.last else { return noMessage(claim) }
    switch selection {
    case .first: return try message(0, test, claim, last)
    case .last: return try mismatch(test, claim, last, result.count - 1)
    case .number(let number): return try message(number, test, claim, last)
    case .any: return try mismatchOfAny(test, claim)
    case .every: return try mismatchOfEvery(test, claim)
    }
  }

  /// The mismatch of the message with a number.
  private func message(
    _ number: Int, _ test: ValueTest, _ claim: ValueClaim, _ last: Message
  ) throws(LanguageError) -> Mismatch? {
    guard number < result.count else {
      return Mismatch(claim.condition.text, got: "\(result.count) messages, numbered from 0")
    }
    if number == result.count - 1 { return try mismatch(test, claim, last, number) }
    guard number < result.messages.count else { throw notKept }
    return try mismatch(test, claim, result.messages[number], number)
  }

  private func mismatch(
    _ test: ValueTest, _ claim: ValueClaim, _ message: Message, _ number: Int
  ) throws(LanguageError) -> Mismatch? {
    guard var mismatch = try test.mismatch(CheckedValue.values(claim.path, in: message)) else {
      return nil
    }
    if result.count > 1 { mismatch.got += " in message \(number)" }
    return mismatch
  }

  private func mismatchOfAny(_ test: ValueTest, _ claim: ValueClaim) throws(LanguageError) -> Mismatch? {
    var first: Mismatch?
    for (number, message) in result.messages.enumerated() {
      guard let mismatch = try mismatch(test, claim, message, number) else { return nil }
      if first == nil { first = mismatch }
    }
    guard result.messages.count == result.count else { throw notKept }
    if result.count > 1 { first?.got += ", and no match in \(result.count - 1) more" }
    return first
  }

  private func mismatchOfEvery(_ test: ValueTest, _ claim: ValueClaim) throws(LanguageError) -> Mismatch? {
    var first: Mismatch?
    var count = 0
    for (number, message) in result.messages.enumerated() {
      guard let mismatch = try mismatch(test, claim, message, number) else { continue }
      count += 1
      if first == nil { first = mismatch }
    }
    guard first != nil || result.messages.count == result.count else { throw notKept }
    if count > 1 { first?.got += ", and others in \(count - 1) more" }
    return first
  }

  private func list(_ claim: ValueClaim) throws(LanguageError) -> Mismatch? {
    // A response without messages has an empty list.
    guard let type = result.type ?? result.last?.type else { return noMessage(claim) }
    let test = try test(claim, in: type, isList: true)
    guard result.messages.count == result.count else { throw notKept }
    var values: [CheckedValue] = []
    for message in result.messages { values += try CheckedValue.values(claim.path, in: message) }
    return try test.mismatch(values)
  }

  private var notKept: LanguageError {
    LanguageError(
      "the response has \(result.count) messages, of which the first \(result.messages.count) are kept",
      hint: "check count, last, or a message among the first")
  }

  private func noMessage(_ claim: ValueClaim) -> Mismatch {
    Mismatch(claim.condition.text, got: result.statusNumber == 0 ? "no message" : "no message (\(status))")
  }
}
