import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// Sends a copy of one call to a second server. Forwards everything at once and unchanged.
final class Shadow: StagedInterceptor {
  static let stages: Stages = [
    .requestStart, .requestMessage, .requestEnd, .responseMessage, .responseEnd,
  ]
  static let messages = MessageAccesses(.readBytes)
  let stages: Stages = Shadow.stages
  let messages: MessageAccesses = Shadow.messages
  private let plan: ShadowPlan
  private let call: CallFacts
  private let context: CallContext
  private var start: RequestStart?
  private var request: [UInt8]?
  private var response: [UInt8]?
  private var comparison: ShadowComparison?

  init(_ plan: ShadowPlan, _ call: CallFacts, _ context: CallContext) {
    self.plan = plan
    self.call = call
    self.context = context
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    self.start = start
    token.proceed(start)
  }

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    request = try message.bytes
    token.proceed(message)
  }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    copy()
    token.proceed()
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    response = try message.bytes
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    // A call that was canceled has no response to compare. At its deadline a call ends for all interceptors.
    if token.isVoid, end.code != .deadlineExceeded { comparison = nil }
    comparison?.receive(end, response, isCopy: false)
    comparison = nil
    token.proceed(end)
  }

  private func copy() {
    guard let start, let request, comparison == nil else { return }
    let target = plan.target(of: start)
    let comparison = ShadowComparison(plan, call, context, target: target)
    self.comparison = comparison
    var copy = Subrequest(
      method: start.method, target: target, headers: plan.headers(of: start, secret: context.secrets.names),
      message: request,
      timeout: start.deadline.map { max($0 - context.now, .milliseconds(1)) })
    copy.lingering = plan.wait
    context.call(copy) { answer in comparison.receive(answer.end, answer.message, isCopy: true) }
  }
}
