import InterceptionSupport
import Protobuf
import RPCProtocols

@testable import Interception

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
  /// Whether it had received the end of that direction, and decided on it.
  let isAfterEnd: Bool
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
    var origin = ""
    if let error = end.error {
      origin = if case .interceptor(let name) = error.origin { name } else { "\(error.origin)" }
    }
    return "end \(end.code.name) \(origin) \(end.trailers.values("tag").joined(separator: ","))"
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
