import Interception
import Protobuf
import RPCProtocols
import Transport

/// One call from its start to its end: the caller's side of the chain.
public final class Call {
  private let request: CallRequest
  private let chain: Chain
  private let events: CallDriver

  init(
    _ request: CallRequest, builder: ChainBuilder, environment: ChainEnvironment,
    subrequests: ClientSubrequestTransport,
    loop: EventLoop, liveCalls: LiveCalls, observer: any CallObserver
  ) {
    self.request = request
    interceptorNames = builder.order(for: request.name).map(\.name)
    chain = builder.makeChain(for: request.facts, codec: request.messageCodec, environment: environment)
    events = CallDriver(
      request, chain: chain, subrequests: subrequests, loop: loop, liveCalls: liveCalls, observer: observer)
  }

  /// Whether the call is over, and every interceptor has finished.
  public var isFinished: Bool { chain.isFinished }

  /// How many bytes of request and response have travelled so far, without headers, in the latest attempt.
  public var traffic: (sent: Int, received: Int) { events.traffic }

  /// The names of the interceptors that are asked to take part, first to last on the request path.
  public let interceptorNames: [String]

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

  /// Reads a request message in text format.
  public func encode(text: [UInt8], options: TextDecodingOptions) throws(TextError) -> Payload {
    .typed(try Message(request.method.input, text: text, options: options))
  }

  /// Checks a serialized request message. Where nobody asks for a message, the same bytes travel.
  public func encode(serialized: [UInt8]) throws(DecodeError) -> Payload {
    let message = try Message(request.method.input, serialized: serialized)
    guard !chain.wantsRequestMessages, request.codec == .proto else { return .typed(message) }
    return .bytes(serialized)
  }

  /// Starts the call. Once.
  public func start() {
    events.start()
  }

  /// Sends a message. One that is sent before `start` follows the start.
  public func send(_ message: Payload) {
    chain.send(message)
  }

  /// Half-closes: no more messages follow.
  public func finishSending() {
    chain.closeRequest()
  }

  /// Says whether more of the response is wanted now. What is on its way still comes; then the server is slowed down.
  public func wantResponse(_ isWanted: Bool) {
    chain.callerWants(response: isWanted)
  }

  /// Ends the call at once, with the status `canceled`. After that, `start` does nothing.
  public func cancel(_ reason: String) {
    events.cancel(RPCError(.canceled, reason, origin: .client))
  }
}
