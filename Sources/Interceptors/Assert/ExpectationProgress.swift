import Interception
import Language
import Protobuf
import RPCProtocols

/// A response as it is compared with expectations, part by part.
struct ExpectationProgress {
  private let expected: Expectations
  private var headers = Headers()
  private var received = 0
  private var fields: [FieldProgress]

  /// Starts with a response of which nothing has arrived.
  init(_ expected: Expectations) {
    self.expected = expected
    fields = expected.fields.map { FieldProgress($0) }
  }

  /// Receives the start of the response.
  mutating func receive(_ start: ResponseStart) {
    headers = start.headers
  }

  /// Receives a message of the response.
  mutating func receive(_ message: Message) {
    for index in fields.indices { fields[index].check(message, number: received) }
    received += 1
  }

  /// The expectations that the response does not meet, one line each.
  ///
  /// - Parameters:
  ///   - end: The end of the call.
  ///   - metrics: The metrics of the call; nil does not check the latency.
  func failures(_ end: ResponseEnd, _ metrics: CallMetrics? = nil) -> [String] {
    var failures: [String] = []
    if let code = expected.code, code != end.code {
      let why = end.error.map { $0.message.isEmpty ? "" : ": \($0.message)" } ?? ""
      failures.append("code: expected \(code.name), found \(end.code.name)\(why)")
    }
    if let pattern = expected.message {
      let message = end.error?.message ?? ""
      if !pattern.isFound(in: message) {
        failures.append(
          "message: expected \(pattern.source.debugDescription) to match, found \(message.debugDescription)")
      }
    }
    failures += Self.failures("header", expected.headers, headers)
    failures += Self.failures("trailer", expected.trailers, end.trailers)
    if let bound = expected.messages, !bound.allows(received) {
      failures.append("messages: expected \(bound), found \(received)")
    }
    failures += fields.compactMap { $0.failure(of: received) }
    if let bound = expected.latency, let metrics, metrics.total > bound {
      failures.append(
        "latency: expected at most \(bound.millisecondsText) ms, found \(metrics.total.millisecondsText) ms")
    }
    return failures
  }

  private static func failures(
    _ kind: String, _ conditions: [MetadataCondition], _ metadata: Headers
  ) -> [String] {
    let redaction = Redaction()
    let shown = Headers(metadata.fields.map { ($0.name, redaction.value(of: $0)) })
    return conditions.compactMap { condition in
      // The check uses the real values; the report shows them redacted.
      guard condition.holds(for: metadata) else {
        return "\(kind): expected \(condition), found \(condition.found(in: shown))"
      }
      return nil
    }
  }
}

/// The progress of a condition on fields, message by message.
private struct FieldProgress {
  private let expected: Expectations.FieldExpectation
  /// The first selected message for which it fails, and the value found.
  private var miss: (number: Int, found: String)?
  private var missCount = 0
  private var hasHeld = false

  init(_ expected: Expectations.FieldExpectation) { self.expected = expected }

  mutating func check(_ message: Message, number: Int) {
    switch expected.selection {
    case .first where number > 0, .any where hasHeld: return
    case .number(let wanted) where wanted != number: return
    default: break
    }
    let found: String?
    do {
      found = try expected.condition.mismatch(in: message)
    } catch {
      found = error.reason
    }
    guard let found else {
      hasHeld = true
      if expected.selection == .last { miss = nil }
      return
    }
    missCount += 1
    if miss == nil || expected.selection == .last { miss = (number, found) }
  }

  /// The failure after `count` messages; `nil` if the condition holds.
  func failure(of count: Int) -> String? {
    let claim = "\(expected.key): expected \(expected.condition)"
    guard count > 0 else { return "\(claim), found no message" }
    if case .number(let wanted) = expected.selection, wanted >= count {
      return "\(claim), found \(count) messages, none with number \(wanted)"
    }
    guard let miss, expected.selection != .any || !hasHeld else { return nil }
    var text = "\(claim), found \(miss.found)"
    if count > 1 { text += " in message \(miss.number)" }
    switch expected.selection {
    case .every where missCount > 1: text += " (and others in \(missCount - 1) more)"
    case .any: text += count > 1 ? " and no match in \(count - 1) more" : ""
    default: break
    }
    return text
  }
}
