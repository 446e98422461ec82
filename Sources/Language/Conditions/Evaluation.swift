import RPCurlBase
import RPCurlProtobuf

/// The evaluation of a condition during a call, message by message. It keeps the last message, and for `list` the values.
package struct Evaluation {
  private let condition: Condition
  private let files: any GoldenFiles
  /// The type of the response messages; nil if it is not known.
  private var type: MessageType?
  /// The test of values in messages; nil without a type, and for conditions that are not about them.
  private var test: ValueTest?
  /// Why the condition does not fit; then it is not evaluated.
  private var problem: LanguageError?
  /// The number of messages so far.
  private var count = 0
  /// The number of messages that the evaluation received before one that it did not; nil if it received all.
  private var received: Int?
  private var last: Message?
  /// The difference of the first message that has one, and its number.
  private var miss: (mismatch: Mismatch, number: Int)?
  private var missCount = 0
  /// Whether the condition holds for a message of `any`.
  private var hasHeld = false
  private var values: [CheckedValue] = []

  /// Begins the evaluation.
  ///
  /// - Parameters:
  ///   - condition: The condition, without expressions.
  ///   - type: The type of the response messages; nil if it is not known.
  ///   - files: The golden files.
  package init(_ condition: Condition, type: MessageType?, files: any GoldenFiles = NoGoldenFiles()) {
    self.condition = condition
    self.files = files
    if !condition.isLiteral { problem = LanguageError("the condition has a value that is not known") }
    if let type { prepare(type) }
  }

  private mutating func prepare(_ type: MessageType) {
    self.type = type
    guard problem == nil else { return }
    attempt { evaluation throws(LanguageError) in
      switch evaluation.condition.claim {
      case .value(.detail(let name, let path?), let condition):
        try evaluation.check(condition, path, ofDetail: name)
      case .value(.field(_, let path), let condition), .value(.list(let path), let condition):
        evaluation.test = try evaluation.test(condition, path, in: type)
      default: break
      }
    }
  }

  /// Runs a part of the evaluation, and keeps its error.
  private mutating func attempt(_ body: (inout Evaluation) throws(LanguageError) -> Void) {
    do throws(LanguageError) { try body(&self) } catch { problem = error }
  }

  /// Throws if the condition does not fit the type.
  func check() throws(LanguageError) {
    if let problem { throw problem }
  }

  // MARK: Messages

  /// Receives the next message of the response.
  package mutating func receive(_ message: Message) {
    defer {
      count += 1
      last = message
    }
    guard condition.claim.path != nil, problem == nil else { return }
    if type == nil { prepare(message.type) }
    attempt { evaluation throws(LanguageError) in try evaluation.check(message) }
  }

  /// Skips messages of the response that are not kept.
  package mutating func skip(_ number: Int) {
    guard number > 0 else { return }
    received = received ?? count
    count += number
    last = nil
  }

  private mutating func check(_ message: Message) throws(LanguageError) {
    switch condition.claim {
    case .value(.field(.first, let path), _) where count == 0: try check(message, path)
    case .value(.field(.number(count), let path), _): try check(message, path)
    case .value(.field(.every, let path), _) where received == nil: try check(message, path)
    case .value(.field(.any, let path), _) where !hasHeld: try check(message, path)
    case .value(.list(let path), _) where received == nil:
      values += try CheckedValue.values(path, in: message)
    default: return
    }
  }

  private mutating func check(_ message: Message, _ path: FieldPath) throws(LanguageError) {
    let isAny = if case .value(.field(.any, _), _) = condition.claim { true } else { false }
    let found = try test?.check(CheckedValue.values(path, in: message), areLast: !isAny)
    guard let found else {
      hasHeld = true
      return
    }
    if miss == nil { miss = (found, count) }
    missCount += 1
  }

  // MARK: The outcome

  /// The outcome for the call.
  ///
  /// - Parameter subject: The call, whose messages the evaluation received.
  package func outcome(of subject: some Subject) -> ConditionOutcome {
    do throws(LanguageError) {
      if let problem { throw problem }
      guard let mismatch = try mismatch(of: subject) else { return .holds }
      return .fails(mismatch)
    } catch {
      return .invalid(reason: error.reason, hint: error.hint)
    }
  }

  /// What differs; nil if the condition holds.
  private func mismatch(of subject: some Subject) throws(LanguageError) -> Mismatch? {
    switch condition.claim {
    case .status(let codes, let isWanted): return try status(codes, isWanted: isWanted, subject)
    case .count(let bound): return bound.allows(count) ? nil : Mismatch("\(bound)", got: "\(count)")
    case .latency(let bound):
      if bound.allows(subject.latency) { return nil }
      return Mismatch("\(bound)", got: "\(subject.latency.millisecondsText)ms")
    case .expiry(let bound):
      guard let validity = subject.certificateValidity else {
        return Mismatch("\(bound)", got: "no certificate")
      }
      return bound.allows(validity) ? nil : Mismatch("\(bound)", got: validity.inDays)
    case .value(.connection(let property), let condition):
      return try metadata(property.owner, condition, subject.connection(property), subject)
    case .value(.error, let condition):
      guard case .exists(let isWanted) = condition.test else {
        return try ValueTest(condition, .text, isList: false, files).check([.text(subject.error)])
      }
      if subject.error.isEmpty != isWanted { return nil }
      return Mismatch("\(condition)", got: JSONValue.quoted(subject.error))
    case .value(.detail(let type, let path), let condition): return try detail(type, path, condition, subject)
    case .value(.header(let name), let condition):
      return try metadata(name, condition, subject.headers(name), subject)
    case .value(.trailer(let name), let condition):
      return try metadata(name, condition, subject.trailers(name), subject)
    case .value(.value(let expression), let condition):
      guard case .literal(let value) = expression else { return nil }
      let isText = if case .string = value { true } else { false }
      return try ValueTest(condition, isText ? .text : .untyped, isList: false, files)
        .check([value == .null ? .missing : .json(value)])
    case .value(.field(let selection, let path), let condition):
      return try field(selection, path, condition, subject)
    case .value(.list, let condition):
      // A response without messages has an empty list.
      guard let test else { return noMessage(condition, subject) }
      guard received == nil else { throw notKept }
      return try test.check(values)
    }
  }

  private func status(
    _ operands: [Operand], isWanted: Bool, _ subject: some Subject
  ) throws(LanguageError) -> Mismatch? {
    var codes: [Int] = []
    for operand in operands {
      let code = try condition.statuses.number(of: operand)
      if !codes.contains(code) { codes.append(code) }
    }
    if codes.contains(subject.statusNumber) == isWanted { return nil }
    let names = codes.map { condition.statuses.names[$0] }
    return Mismatch(
      isWanted ? names.joined(separator: " or ") : "not \(names.joined(separator: " and not "))",
      got: subject.statusText)
  }

  private func metadata(
    _ name: String, _ condition: ValueCondition, _ values: [String], _ subject: some Subject
  ) throws(LanguageError) -> Mismatch? {
    guard try !condition.holds(for: values) else { return nil }
    // The condition uses the real values; the report shows them redacted.
    let shown = values.map { JSONValue.quoted(subject.shown($0, of: name)) }
    let expected = condition.description { subject.shown($0, of: name) }
    return Mismatch(expected, got: shown.isEmpty ? "no \(name)" : shown.joined(separator: ", "))
  }

  private func test(
    _ test: ValueCondition, _ path: FieldPath, in type: MessageType
  ) throws(LanguageError) -> ValueTest {
    var isList = path.hasEach
    if case .value(.list, _) = condition.claim { isList = true }
    return try ValueTest(test, ValueType(path, in: type), isList: isList, files)
  }

  // MARK: Details

  private func detail(
    _ name: String, _ path: FieldPath?, _ condition: ValueCondition, _ subject: some Subject
  ) throws(LanguageError) -> Mismatch? {
    let details = subject.statusDetails
    let found = details.filter { $0.typeName == name || $0.typeName.hasSuffix(".\(name)") }
    let types = details.map(\.typeName).joined(separator: ", ")
    let got = types.isEmpty ? "no details" : types
    guard let path else {
      let isWanted = condition.test == .exists(isWanted: true)
      return found.isEmpty != isWanted ? nil : Mismatch(isWanted ? name : "no \(name)", got: got)
    }
    var first: (test: ValueTest, values: [CheckedValue])?
    for detail in found {
      guard let type = detailType(detail.typeName) else {
        throw LanguageError("the schema does not define the detail \(detail.typeName)")
      }
      let test = try test(condition, path, in: type)
      guard let message = try? Message(type, serialized: detail.value) else {
        throw LanguageError("the detail \(detail.typeName) is not a valid message")
      }
      let values = try CheckedValue.values(path, in: message)
      if try test.check(values, areLast: false) == nil { return nil }
      first = first ?? (test, values)
    }
    if found.isEmpty { try check(condition, path, ofDetail: name) }
    guard let first else { return Mismatch(name, got: got) }
    return try first.test.check(first.values)
  }

  /// Throws if no type that the name of a detail can mean has the field of a claim.
  private func check(
    _ condition: ValueCondition, _ path: FieldPath, ofDetail name: String
  ) throws(LanguageError) {
    var problem: LanguageError?
    for type in [detailType(name), detailType("google.rpc.\(name)")].compactMap(\.self) {
      do throws(LanguageError) {
        _ = try test(condition, path, in: type)
        return
      } catch {
        problem = problem ?? error
      }
    }
    if let problem { throw problem }
  }

  private func detailType(_ name: String) -> MessageType? {
    (try? type?.relative(named: name)) ?? WellKnownMessages.type(name)
  }

  // MARK: Fields

  private func field(
    _ selection: MessageSelection, _ path: FieldPath, _ condition: ValueCondition, _ subject: some Subject
  ) throws(LanguageError) -> Mismatch? {
    guard let test, count > 0 else { return noMessage(condition, subject) }
    if case .number(let number) = selection, number >= count {
      return Mismatch("\(condition)", got: "\(count) messages, numbered from 0")
    }
    var found = miss
    if selection == .last || selection == .number(count - 1) || selection == .first && count == 1 {
      // It is kept, also if others are not, unless a command waits for the next ones.
      guard let last else { throw notKept }
      found = try test.check(CheckedValue.values(path, in: last)).map { ($0, count - 1) }
    } else if let received {
      switch selection {
      case .number(let number) where number >= received: throw notKept
      case .first where received == 0: throw notKept
      case .any where !hasHeld: throw notKept
      case .every where found == nil: throw notKept
      default: break
      }
    }
    guard let (found, number) = found, selection != .any || !hasHeld else { return nil }
    if selection == .any, let last, try test.check(CheckedValue.values(path, in: last)) == nil { return nil }
    var mismatch = found
    if count > 1 { mismatch.got += " in message \(number)" }
    if selection == .any, count > 1 { mismatch.got += ", and no match in \(count - 1) more" }
    if selection == .every, missCount > 1 { mismatch.got += ", and others in \(missCount - 1) more" }
    return mismatch
  }

  private var notKept: LanguageError {
    LanguageError(
      "the response has \(count) messages, of which the first \(received ?? 0) are kept",
      hint: "check count, last, or a message among the first")
  }

  private func noMessage(_ condition: ValueCondition, _ subject: some Subject) -> Mismatch {
    let status = subject.statusNumber == 0 ? "" : " (\(subject.statusText))"
    return Mismatch("\(condition)", got: "no message\(status)")
  }
}

extension ConnectionProperty {
  /// What a call without the property lacks.
  fileprivate var owner: String {
    switch self {
    case .http, .address: "connection"
    case .tls: "TLS"
    case .subject, .issuer, .name: "certificate"
    }
  }
}

extension Duration {
  /// Days, to a tenth, or hours if that is less than a day.
  fileprivate var inDays: String {
    let hours = Double(nanoseconds) / 3_600e9
    let isShort = hours.magnitude < 24
    let tenths = Int(((isShort ? hours : hours / 24) * 10).rounded(.down))
    return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)\(isShort ? "h" : "d")"
  }
}

extension Subject {
  /// The status with its message.
  fileprivate var statusText: String { error.isEmpty ? statusName : "\(statusName): \(error)" }
}

extension ValueCondition {
  /// Whether it holds for the values of a name, such as a header: for one of them, or for all if it is negated.
  func holds(for values: [String]) throws(LanguageError) -> Bool {
    if case .exists(let isWanted) = test { return values.isEmpty != isWanted }
    let test = try ValueTest(self, .text, isList: false, NoGoldenFiles())
    var count = 0
    for value in values where try test.check([.text(value)]) == nil { count += 1 }
    return isNegated ? count == values.count : count > 0
  }
}
