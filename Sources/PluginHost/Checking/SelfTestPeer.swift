import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// An interceptor next to the plugin on the chain. It holds every value for a round of the loop, and may end
/// the call in the round in which it releases values.
final class SelfTestPeer: AnyStageInterceptor {
  /// How it ends the call after receiving the whole request.
  enum Ending {
    case none, response, failure
  }

  let stages = Stages.all
  let messages = MessageAccesses(.none)
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

  func receive(_ value: CallEvent<MessageValue>, _ token: consuming AnyToken) {
    let (stage, ending, response) = (token.stage, ending, response)
    let held = HeldToken(token)
    context.post {
      held.use { token in
        switch (stage, ending) {
        case (.requestEnd, .response): token.respond(LocalResponse(messages: [.bytes(response)]))
        case (.requestEnd, .failure):
          token.fail(RPCError(.unavailable, "this is a self-test", origin: .client), trailers: Headers())
        default: token.proceed(value)
        }
      }
    }
  }
}
