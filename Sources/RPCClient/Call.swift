import Interception
import Protobuf
import RPCProtocols
import Transport

/// One call, from its start to its end: the caller's side of the chain.
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
    chain = builder.makeChain(for: request.facts, codec: request.messageCodec, environment: environment)
    events = CallDriver(
      request, chain: chain, subrequests: subrequests, loop: loop, liveCalls: liveCalls, observer: observer)
  }

  /// Whether the call is over, and every interceptor has finished.
  public var isFinished: Bool { chain.isFinished }

  /// The bytes of request and response bodies so far, in the latest attempt.
  public var traffic: (sent: Int, received: Int) { events.traffic }

  /// Encodes a request message from JSON in the form that the chain and the codec need. If no interceptor
  /// needs a message, JSON is converted to the wire format without building one.
  public func encode(json: [UInt8], options: JSONDecodingOptions) throws(MessageParseError) -> Payload {
    let type = request.method.input
    guard !chain.wantsRequestMessages, request.codec == .proto else {
      return .typed(try Message(type, json: json, options: options))
    }
    var bytes: [UInt8] = []
    try JSONTranscoder(type, decoding: options).transcode(json: json, into: &bytes)
    return .bytes(bytes)
  }

  /// Encodes a request message from text format.
  public func encode(text: [UInt8], options: TextDecodingOptions) throws(MessageParseError) -> Payload {
    .typed(try Message(request.method.input, text: text, options: options))
  }

  /// Validates a serialized request message. If no interceptor needs a message, its bytes are sent unchanged.
  public func encode(serialized: [UInt8]) throws(DecodeError) -> Payload {
    let message = try Message(request.method.input, serialized: serialized)
    guard !chain.wantsRequestMessages, request.codec == .proto else { return .typed(message) }
    return .bytes(serialized)
  }

  /// Starts the call. Must be called once.
  public func start() {
    events.start()
  }

  /// Sends a message. A message sent before `start` is queued.
  public func send(_ message: Payload) {
    chain.send(message)
  }

  /// Half-closes the call: no more messages follow.
  public func finishSending() {
    chain.closeRequest()
  }

  /// Pauses or resumes the response. Data already received is still delivered; then flow control slows the
  /// server down.
  public func wantResponse(_ isWanted: Bool) {
    chain.callerWants(response: isWanted)
  }

  /// Ends the call immediately with the status `canceled`. `start` does nothing afterwards.
  public func cancel(_ reason: String) {
    events.cancel(RPCError(.canceled, reason, origin: .client))
  }
}
