import Interception
import Protobuf
import RPCProtocols

/// An interceptor next to the plugin on the chain. It holds every value for a round of the loop, and may end
/// the call in the round in which it releases values.
final class SelfTestPeer: StagedInterceptor {
  /// How it ends the call after receiving the whole request.
  enum Ending {
    case none, response, failure
  }

  let stages = Stages.all
  private let context: CallContext
  private let ending: Ending
  private let response: [UInt8]

  private init(_ context: CallContext, _ ending: Ending, _ response: [UInt8]) {
    self.context = context
    self.ending = ending
    self.response = response
  }

  /// Makes a registration.
  ///
  /// - Parameters:
  ///   - priority: Above the plugin's for an outer neighbour.
  ///   - response: A serialized message for the response.
  static func registration(
    _ name: String, priority: Int, _ ending: Ending = .none, response: [UInt8] = []
  ) -> InterceptorRegistration {
    InterceptorRegistration(
      name: name,
      factory: ClosureFactory { _, context in SelfTestPeer(context, ending, response) },
      priority: priority)
  }

  private func wait<Value, Direction>(
    _ token: consuming Token<Value, Direction>,
    _ proceed: @escaping (consuming Token<Value, Direction>) -> Void
  ) {
    let held = HeldToken(token)
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
    switch ending {
    case .none: wait(token) { $0.proceed() }
    case .response:
      let response = response
      wait(token) { $0.respond(LocalResponse(messages: [.bytes(response)])) }
    case .failure: wait(token) { $0.fail(RPCError(.unavailable, "this is a self-test", origin: .client)) }
    }
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
