import Interception
import Protobuf
import RPCProtocols
import Transport

/// One call from its start to its end: the caller's side of the chain.
public final class Call {
  private let request: CallRequest
  private let chain: Chain
  private let exchange: Exchange
  private let events: CallEvents

  init(
    _ request: CallRequest, builder: ChainBuilder, log: @escaping LogSink, loop: EventLoop,
    observer: any CallObserver
  ) throws(RPCError) {
    self.request = request
    let mail = Mail()
    let mailbox = loop.mailbox
    chain = try builder.makeChain(
      for: request.facts, codec: request.messageCodec, log: log,
      wake: { mailbox.post { mail.chain?.processMail() } })
    mail.chain = chain
    events = CallEvents(request, chain: chain, loop: loop, observer: observer)
    exchange = Exchange(request, loop: loop, chain: chain, observer: events)
  }

  /// Whether the call is over, and every interceptor has finished.
  public var isFinished: Bool { chain.isFinished }

  /// The names of the interceptors that the call passes, first to last on the request path.
  public var interceptorNames: [String] { chain.names }

  /// Reads a request message in the form that the chain and the codec want: when no interceptor asks for a
  /// message, JSON becomes the bytes that travel without one being built.
  public func encode(json: [UInt8], options: JSONDecodingOptions) throws(JSONError) -> Payload {
    let type = request.method.input
    guard !chain.wantsRequestMessages, request.codec == .proto else {
      return .typed(try Message(type, json: json, options: options))
    }
    var bytes: [UInt8] = []
    try JSONTranscoder(type, decoding: options).transcode(json: json, into: &bytes)
    return .bytes(bytes)
  }

  /// Starts the call. Once, and first.
  public func start() {
    events.start(through: exchange)
  }

  /// Sends a message.
  public func send(_ message: Payload) {
    chain.send(message)
  }

  /// Half-closes: no more messages follow.
  public func finishSending() {
    chain.closeRequest()
  }

  /// Ends the call at once, with the status `canceled`.
  public func cancel(_ reason: String) {
    chain.cancel(RPCError(.canceled, reason, origin: .client))
  }
}

/// The way from the chain's wake-up, on any thread, to the chain, on the loop's.
private final class Mail: @unchecked Sendable {
  /// Set before the chain starts, and then touched on the loop's thread only.
  weak var chain: Chain?
}
