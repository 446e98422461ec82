import Interception
import Protobuf
import RPCProtocols

/// Stands beside the plugin on the chain and lets everything wait for a moment, as interceptors may.
final class SelfTestNeighbour: Interceptor {
  let stages = Stages.all
  private let context: CallContext

  init(_ context: CallContext) { self.context = context }

  static func registration(_ name: String, priority: Int) -> InterceptorRegistration {
    InterceptorRegistration(
      name: name, factory: ClosureFactory { _, context in SelfTestNeighbour(context) }, priority: priority)
  }

  private func wait<Value, Direction>(
    _ token: consuming Token<Value, Direction>,
    _ proceed: @escaping @Sendable (consuming Token<Value, Direction>) -> Void
  ) {
    // Both are on the loop's thread.
    nonisolated(unsafe) let held = HeldToken(token)
    context.post { held.use(proceed) }
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    wait(token) { $0.proceed(start) }
  }
  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) {
    wait(token) { $0.proceed(message) }
  }
  func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) {
    wait(token) { $0.proceed(bytes) }
  }
  func requestEnd(_ token: consuming RequestToken<Void>) {
    wait(token) { $0.proceed() }
  }
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    wait(token) { $0.proceed(start) }
  }
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    wait(token) { $0.proceed(bytes) }
  }
  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) {
    wait(token) { $0.proceed(message) }
  }
  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    wait(token) { $0.proceed(end) }
  }
  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
    wait(token) { $0.proceed(metrics) }
  }
}
