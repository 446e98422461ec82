import RPCurlChain
import RPCurlProtocols

/// Makes a span of one call, and sends its identity in the request's headers.
final class Trace: StagedInterceptor {
  let stages: Stages = [.requestStart, .responseEnd]
  private let plan: TraceFactory.Plan
  private let facts: CallFacts
  private let context: CallContext
  private var span: Span?

  init(_ plan: TraceFactory.Plan, _ facts: CallFacts, _ context: CallContext) {
    self.plan = plan
    self.facts = facts
    self.context = context
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    let (parent, state) = parent(start.headers)
    let identity = TraceParent(
      traceID: parent?.traceID ?? TraceID(high: .random(in: 1...(.max)), low: .random(in: 1...(.max))),
      spanID: .random(in: 1...(.max)), flags: parent?.flags ?? 1)
    if identity.isSampled, let exporter = plan.exporter {
      let beginning = Span.Beginning(
        identity, traceState: state, context.now, time: plan.services.nanosecondsSince1970)
      span = Span(
        beginning, parentID: parent?.spanID, .internal, facts, target: start.target, context.attributes,
        context.secrets)
      exporter.begin(beginning)
    }
    context.report(
      .note, "trace ID \(identity.traceID.text)\(identity.isSampled ? "" : ", not sampled")")
    var start = start
    start.headers.set("traceparent", identity.text)
    start.headers.remove("tracestate")
    if !state.isEmpty { start.headers.add("tracestate", state) }
    token.proceed(start)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    finishSpan(end.error)
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) { finishSpan(outcome.end.error) }

  private func finishSpan(_ error: RPCError?) {
    guard let span = span.take() else { return }
    plan.exporter?.end(span.beginning)
    plan.exporter?.add(span.serialized(end: context.now, error))
  }

  /// The span that causes the call: that of the request's header, or of the environment. An invalid header starts a
  /// new trace (W3C Trace Context, section 4.3).
  private func parent(_ headers: Headers) -> (TraceParent?, state: String) {
    let values = headers.values("traceparent")
    guard !values.isEmpty else { return (plan.parent, plan.traceState) }
    guard values.count == 1, let parent = TraceParent(values[0]) else {
      context.log(.warning, "the header traceparent is invalid: a new trace begins")
      return (nil, "")
    }
    if let state = TraceState.parse(headers.values("tracestate")) { return (parent, state) }
    context.log(.warning, "the header tracestate is invalid, and is not forwarded")
    return (parent, "")
  }
}

/// Makes a span of one attempt at a call, below the span of the call, with an event for each message.
final class TraceAttempt: StagedInterceptor {
  let stages: Stages
  let messages = MessageAccesses(.readBytes)
  private let exporter: SpanExporter
  private let facts: CallFacts
  private let context: CallContext
  private var span: Span?
  private var sentCount = 0
  private var receivedCount = 0

  init(_ exporter: SpanExporter, hasMessages: Bool, _ facts: CallFacts, _ context: CallContext) {
    self.exporter = exporter
    self.facts = facts
    self.context = context
    stages =
      hasMessages
      ? [.requestStart, .requestMessage, .responseMessage, .responseEnd] : [.requestStart, .responseEnd]
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    // Another interceptor may have replaced the header.
    guard let parent = start.headers.first("traceparent").flatMap({ TraceParent($0) }),
      let call = exporter.call(parent)
    else { return token.proceed(start) }
    let now = context.now
    let identity = TraceParent(
      traceID: parent.traceID, spanID: .random(in: 1...(.max)), flags: parent.flags)
    let beginning = Span.Beginning(
      identity, traceState: call.traceState, now, time: call.time(of: now))
    span = Span(
      beginning, parentID: parent.spanID, .client, facts, target: start.target, context.attributes,
      context.secrets)
    var start = start
    start.headers.set("traceparent", identity.text)
    token.proceed(start)
  }

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
    sentCount += 1
    span?.addMessage(isSent: true, number: sentCount, sizeBytes: message.sizeBytes, at: context.now)
    token.proceed(message)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    receivedCount += 1
    span?.addMessage(isSent: false, number: receivedCount, sizeBytes: message.sizeBytes, at: context.now)
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    finishSpan(end.error)
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) { finishSpan(outcome.end.error) }

  private func finishSpan(_ error: RPCError?) {
    guard let span = span.take() else { return }
    exporter.add(span.serialized(end: context.now, error))
  }
}
