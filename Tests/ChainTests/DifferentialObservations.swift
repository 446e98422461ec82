import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

/// The moment at which an interceptor ends the call: what it has received, and not decided, by then.
struct Moment {
  let kind: CallDescription.EndingPlan.Kind
  let stage: Stage
  /// How many values of each direction it has received.
  let requestCount: Int
  let responseCount: Int
  /// The numbers of the response values that it holds.
  let undecided: Set<Int>
  /// Whether the callback with the value has not returned.
  let isInCallback: Bool
}

/// A message that an interceptor injected into the direction other than that of the value it received.
struct CrossInjection {
  let isRequest: Bool
  let message: MessageModel
  /// How many values of the other direction it had received.
  var sourceCount = 0
  /// How many values of that direction it had received.
  let count: Int
  /// Whether it had ended that direction, or the call had; nil if it is not known.
  let isAfterEnd: Bool?
  /// Whether it precedes the messages that the interceptor injected through its context in the callback with the last
  /// value that it had received.
  var isBeforeOwn = false
}

/// What an interceptor has received of the metrics of its call, or of its attempt.
struct MetricsRecord {
  var count = 0
  var receivedBytes = 0
  /// What it has added.
  var addedBytes = 0
  /// Whether it decided on them later.
  var isHeld = false
}

/// A report of an attempt, as an interceptor or the caller has received it.
struct ReceivedReport {
  let numbers: [Int]
  /// The status and the origin of the attempt's end.
  let end: String
  let nestedCount: Int
  /// Whether the attempt was started after a wait.
  let hasWait: Bool
  /// Whether the receiver had the end of the response.
  let isAfterEnd: Bool
  /// Whether the receiver had the metrics.
  let isAfterMetrics: Bool

  init(_ report: AttemptReport, isAfterEnd: Bool, isAfterMetrics: Bool) {
    numbers = report.numbers
    end = Lines.status(report.error)
    nestedCount = report.nestedCount
    hasWait = report.wait != nil
    self.isAfterEnd = isAfterEnd
    self.isAfterMetrics = isAfterMetrics
  }
}

/// The lines by which the test compares values.
enum Lines {
  static func start(_ headers: Headers) -> String { "start \(headers.values("tag").joined(separator: ","))" }
  static func headers(_ headers: Headers) -> String {
    "headers \(headers.values("tag").joined(separator: ","))"
  }
  static func bytes(_ bytes: [UInt8]) -> String {
    "bytes " + bytes.map { $0 > 0x20 && $0 < 0x7f ? String(UnicodeScalar($0)) : "_\($0)" }.joined()
  }
  static func content(_ content: Payload?) -> String {
    switch content {
    case .typed(let message)?: "typed \(TestMessages.text(message))"
    case .bytes(let data)?: bytes(data)
    case nil: "content"
    }
  }
  static func end(_ end: ResponseEnd) -> String {
    "end \(status(end.error)) \(end.trailers.values("tag").joined(separator: ","))"
  }
  static func status(_ error: RPCError?) -> String {
    guard let error else { return "ok " }
    let origin = if case .interceptor(let name) = error.origin { name } else { "\(error.origin)" }
    return "\(error.code.name) \(origin)"
  }
}

extension ResponseEnd {
  /// The end as an interceptor forwards it.
  func changed(_ change: CallDescription.Action.Change, by name: String) -> ResponseEnd {
    var end = self
    switch change {
    case .tag: end.trailers.add("tag", name)
    case .flip: end.error = error == nil ? RPCError(.aborted, "flipped", origin: .interceptor(name)) : nil
    default: break
    }
    return end
  }
}

/// A policy for which every error is a failed attempt.
final class AttemptPolicy: HedgingPolicy {
  private let index: Int
  init(_ index: Int) { self.index = index }
  func verdict(on end: ResponseEnd, headers: Headers?, of request: RequestStart) -> HedgingVerdict {
    end.error == nil ? .decided : .failed(next: .zero)
  }
  func reasonAgainstAttempt(at request: RequestStart) -> String? { nil }
  func headers(ofAttempt number: Int) -> Headers { Headers([("path-\(index)", "\(number)")]) }
}
