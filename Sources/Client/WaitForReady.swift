import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// Lets calls wait for a server that is not ready: its name is not known yet, no connection to it can be made, or the connection
/// is closed in the TLS handshake.
///
/// Such a call is made again after a wait of 50 milliseconds, which doubles up to a second, until the server is ready. If `limit` or
/// the deadline of the call precedes the next attempt, the error is that of the last one. A call of which the server may have received something is not repeated; `BuiltIn`
/// `retry` does that. A certificate that is not trusted ends the call at once.
///
/// ```swift
/// try await withRPCClient(target, schema: schema, interceptors: [WaitForReady(limit: .seconds(30))]) { client in … }
/// _ = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"], interceptors: [WaitForReady()])
/// ```
public struct WaitForReady: ChainMember {
  /// The place on the chain: after all other interceptors.
  public let registration: InterceptorRegistration

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - limit: The maximum time to wait; nil for the timeout of the call, or without one for no limit.
  ///   - requestBytes: The size of the request, or of the start of its stream, that is kept until the server is ready, in bytes. A
  ///     call with more does not wait.
  public init(limit: Duration? = nil, requestBytes: Int = 1 << 20) {
    registration = InterceptorRegistration(
      name: "wait-for-ready",
      factory: ClosureFactory { _, context in
        ReadyWait(context, limit, requestBytes: max(requestBytes, 1))
      }, priority: .min)
  }
}

/// Repeats one call until its server is ready.
private final class ReadyWait: StagedInterceptor {
  let stages: Stages = [.requestStart, .responseEnd]
  let messages = MessageAccesses(request: .none, response: .none)
  let requirements: InterceptorRequirements
  private let context: CallContext
  private let limit: Duration?
  private var end: MonotonicClock.Instant?
  private var repetition = 0

  init(_ context: CallContext, _ limit: Duration?, requestBytes: Int) {
    (self.context, self.limit) = (context, limit)
    requirements = InterceptorRequirements(replayLimitBytes: requestBytes)
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    end = limit.map { context.now + $0 }
    token.proceed(start)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    guard !token.isVoid, let error = end.error, error.cause?.isNotReady == true, token.canRetry else {
      return token.proceed(end)
    }
    repetition += 1
    let wait = Backoff.forServerStart.wait(
      beforeRepetition: repetition, fraction: .random(in: 0..<1))
    if let last = self.end, context.now + wait >= last { return token.proceed(end) }
    context.log(.info, "not ready: \(error.message)")
    token.retry(after: wait, headers: Headers())
  }
}
