import RPCurlBase
import RPCurlChain
import RPCurlProtocols
import Synchronization

/// Counts one call, and forwards everything.
///
/// The latency is the time from the request's start to the response's end where the interceptor is on the chain: that of a
/// stream includes its messages, and that of a retried call all attempts.
final class Metrics: StagedInterceptor {
  let stages: Stages = [.requestStart, .responseEnd]
  private let statistics: MetricsFactory.Shared
  private let facts: CallFacts
  private let context: CallContext
  private var begin: MonotonicClock.Instant?
  private var latency: Duration?
  private var code: StatusCode?

  init(_ statistics: MetricsFactory.Shared, _ facts: CallFacts, _ context: CallContext) {
    self.statistics = statistics
    self.facts = facts
    self.context = context
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    begin = context.now
    statistics.started()
    token.proceed(start)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    latency = begin.map { context.now - $0 }
    code = end.code
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) {
    // A call that ended before it reached this interceptor is not counted.
    guard let begin else { return }
    statistics.count(facts, code ?? outcome.end.code, latency ?? context.now - begin, outcome.metrics)
  }
}
