import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Holds response messages until the names that they use and that the schema lacks are looked up, so that interceptors
/// receive them with all their fields.
final class NameResolver: StagedInterceptor {
  let stages: Stages = .responseMessage
  let messages = MessageAccesses(request: .none, response: .readBytes)
  let requirements = InterceptorRequirements(isSerial: true, holdsForLong: true)

  private let lookup: NameLookup
  private let type: MessageType
  private let codec: CodecName
  private let context: CallContext

  init(_ lookup: NameLookup, _ type: MessageType, _ codec: CodecName, _ context: CallContext) {
    self.lookup = lookup
    self.type = type
    self.codec = codec
    self.context = context
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    resolve(message, try message.bytes, HeldToken(token))
  }

  private func resolve(
    _ message: MessageValue, _ bytes: [UInt8], _ token: HeldToken<MessageValue, Inbound>
  ) {
    guard let names = lookup.missing(in: bytes.span.bytes, of: type, codec) else {
      return token.use { $0.proceed(message) }
    }
    // A lookup must not use up the time of the call.
    let deadline = context.deadline.map { context.now + ($0 - context.now) / 2 }
    lookup.find(names, until: deadline) { [weak self] in
      if let self { resolve(message, bytes, token) } else { token.use { $0.proceed(message) } }
    }
  }
}

extension NameLookup {
  /// Makes a resolver for each call. `[loop's thread]`
  struct Factory: InterceptorFactory {
    let lookup: LoopBound<() -> NameLookup?>

    var declaration: InterceptorDeclaration {
      InterceptorDeclaration(
        stages: .responseMessage, messages: MessageAccesses(request: .none, response: .readBytes)
      ).keepingResponses()
    }

    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
      guard let lookup = lookup.value(), let type = call.responseType, type.pool === lookup.pool.core,
        lookup.isNeeded(for: type)
      else { return nil }
      return NameResolver(lookup, type, call.codec, context)
    }
  }
}
