import RPCurlProtobuf
import RPCurlProtocols

import RPCurlChain

/// What happened, in order, as short lines.
package final class Journal {
  package var lines: [String] = []
  package init() {}
  package func note(_ line: String) { lines.append(line) }
  package func lines(of name: String) -> [String] {
    lines.filter { $0.hasPrefix("\(name) ") }.map { String($0.dropFirst(name.count + 1)) }
  }
}

/// Holds tokens until a test takes them.
package final class Holder<Value, Direction> {
  private var tokens: [HeldToken<Value, Direction>] = []
  package init() {}
  package var count: Int { tokens.count }
  package func keep(_ token: consuming Token<Value, Direction>) { tokens.append(HeldToken(token)) }
  package func take(_ index: Int = 0) -> HeldToken<Value, Direction> { tokens.remove(at: index) }
  package func release() { tokens.removeAll() }
}

/// An interceptor that records what it receives, and runs a test's closures.
///
/// A line of a message starts with the form that the interceptor receives: "message" and "got-message", or "bytes" and
/// "got-bytes".
package final class Probe: StagedInterceptor {
  package let name: String
  package let stages: Stages
  package let journal: Journal
  package var messages: MessageAccesses
  package var requirements = InterceptorRequirements()
  package var context: CallContext?
  package var onRequestStart: ((RequestStart, consuming RequestToken<RequestStart>) -> Void)?
  package var onRequestMessage: ((MessageValue, consuming RequestToken<MessageValue>) -> Void)?
  package var onRequestEnd: ((consuming RequestToken<Void>) -> Void)?
  package var onResponseStart: ((ResponseStart, consuming ResponseToken<ResponseStart>) -> Void)?
  package var onResponseMessage: ((MessageValue, consuming ResponseToken<MessageValue>) -> Void)?
  package var onResponseEnd: ((ResponseEnd, consuming ResponseToken<ResponseEnd>) -> Void)?
  package var onMetrics: ((CallMetrics, consuming ReportToken<CallMetrics>) -> Void)?

  package init(
    _ name: String, _ stages: Stages = .all, _ journal: Journal,
    messages: MessageAccesses = MessageAccesses()
  ) {
    self.name = name
    self.stages = stages
    self.journal = journal
    self.messages = messages
  }

  package func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    journal.note("\(name) start")
    if let onRequestStart { onRequestStart(start, token) } else { token.proceed(start) }
  }
  package func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
    journal.note("\(name) \(message.line)")
    if let onRequestMessage { onRequestMessage(message, token) } else { token.proceed(message) }
  }
  package func requestEnd(_ token: consuming RequestToken<Void>) {
    journal.note("\(name) half-close")
    if let onRequestEnd { onRequestEnd(token) } else { token.proceed() }
  }
  package func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    journal.note("\(name) headers")
    if let onResponseStart { onResponseStart(start, token) } else { token.proceed(start) }
  }
  package func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    journal.note("\(name) got-\(message.line)")
    if let onResponseMessage { onResponseMessage(message, token) } else { token.proceed(message) }
  }
  package func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    journal.note("\(name) end \(end.code.name)")
    if let onResponseEnd { onResponseEnd(end, token) } else { token.proceed(end) }
  }
  package func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
    journal.note("\(name) metrics \(metrics.sentBytes)")
    if let onMetrics { onMetrics(metrics, token) } else { token.proceed(metrics) }
  }
  package func finish(_ outcome: Outcome) {
    journal.note("\(name) finish \(outcome.end.code.name)")
  }
}
