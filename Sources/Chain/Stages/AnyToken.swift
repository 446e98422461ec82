import RPCurlProtocols

/// Marks tokens of any direction.
package enum AnyDirection: RequestDirection, ResponseDirection {}

/// A token of any stage, for the host of plugins: it checks itself which verdicts a stage has. Metrics cannot fail, only
/// request stages respond, and only response stages retry.
package typealias AnyToken = Token<CallEvent<MessageValue>, AnyDirection>

extension Token {
  /// The token without the type of its value.
  package consuming func erased() -> AnyToken { AnyToken(sink.take(), tokenID) }
}

extension Token where Value == CallEvent<MessageValue>, Direction == AnyDirection {
  /// The stage of the value.
  package var stage: Stage { tokenID.stage }

  /// Passes the value on, changed or not. `[any thread]`
  package consuming func proceed(_ value: CallEvent<MessageValue>) {
    guard let sink = sink.take() else { return }
    if let message = value.message {
      sink.proceed(tokenID, message)
    } else {
      sink.settle(tokenID, .proceed(value))
    }
  }

  /// Removes a message or a half-close in whose place the interceptor puts others, or has. It checks that a unary direction
  /// has a message at its end. `[any thread]`
  package consuming func remove() { settle(.taken) }

  /// Drops the message; message stages only. `[any thread]`
  package consuming func drop() { settle(.drop) }

  /// Injects a message before the value; stages of messages and of ends only. `[any thread]`
  package func inject(_ message: Payload) { sink?.put(message, before: tokenID) }
}

/// An interceptor with one method for all stages.
package protocol AnyStageInterceptor: StagedInterceptor {
  /// Receives a value. The stage is that of the token.
  func receive(_ value: CallEvent<MessageValue>, _ token: consuming AnyToken) throws
  /// Observes what has no token.
  func observe(_ observation: Observation)
}

extension AnyStageInterceptor {
  /// Ignores it.
  package func observe(_ observation: Observation) {}
  package func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
    try receive(.requestStart(start), token.erased())
  }
  package func requestMessage(
    _ message: MessageValue, _ token: consuming RequestToken<MessageValue>
  ) throws {
    try receive(.requestMessage(message), token.erased())
  }
  package func requestEnd(_ token: consuming RequestToken<Void>) throws {
    try receive(.requestEnd, token.erased())
  }
  package func responseStart(
    _ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>
  ) throws {
    try receive(.responseStart(start), token.erased())
  }
  package func responseMessage(
    _ message: MessageValue, _ token: consuming ResponseToken<MessageValue>
  ) throws {
    try receive(.responseMessage(message), token.erased())
  }
  package func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws {
    try receive(.responseEnd(end), token.erased())
  }
  package func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) throws {
    try receive(.metrics(metrics), token.erased())
  }
}
