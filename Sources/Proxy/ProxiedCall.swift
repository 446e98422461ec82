import RPCurlCall
import RPCurlChain
import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlServer

/// A call that has arrived, and the one that is made of it: what one receives the other sends, as fast as both can.
final class ProxiedCall: StreamHandler, RequestReceiver, CallObserver {
  let number: Int
  /// Also observes the call; nil if only a line is printed.
  let printer: CallPrinter?
  private(set) var line: CallLine
  private let responder: ServerResponder
  private let proxied: ProxiedMethod
  private let whenFinished: (ProxiedCall) -> Void
  private var call: Call?
  /// Whether the client reads more slowly than the server sends.
  private var isStreamFull = false
  private var isOutputBehind = false
  /// The findings of interceptors.
  let findings: FindingCollector
  /// What the suite has of the call; nil if it is not recorded.
  private(set) var recorded: SavedSuite.Call?

  init(
    _ number: Int, _ responder: ServerResponder, _ proxied: ProxiedMethod, _ printer: CallPrinter?,
    _ line: CallLine,
    _ recorded: SavedSuite.Call?, whenFinished: @escaping (ProxiedCall) -> Void
  ) {
    (self.number, self.responder, self.proxied) = (number, responder, proxied)
    (self.printer, self.line, self.whenFinished) = (printer, line, whenFinished)
    self.recorded = recorded
    findings = printer?.findings ?? FindingCollector()
  }

  private var method: MethodDescriptor { proxied.descriptor }
  /// The codec of the call that is made.
  private var codec: CodecName { proxied.codec }

  func start(_ call: Call) {
    self.call = call
    printer?.call = call
    responder.receiver = self
    call.start()
  }

  // MARK: From the client

  func receive(body: RawSpan) { responder.receive(body) }

  func receiveEnd() { responder.receiveEnd() }

  func receiveRequestEnd(_ error: RPCError?) {
    if let error { end(error) } else { call?.finishSending() }
  }

  func receiveReset(_ reason: ResetReason) {
    responder.close()
    // A suite could not repeat when the client has canceled it.
    recorded?.cut()
    call?.cancel(reason.text)
  }

  func resume() {
    isStreamFull = false
    updateFlowControl()
  }

  func receive(request message: [UInt8]) {
    guard let call else { return }
    line.requestCount += 1
    recorded?.add(request: message, method.input, responder.codec)
    // A target checks what it receives; without one, this is the server.
    guard codec != responder.codec || proxied.isServed else { return call.send(.bytes(message)) }
    do {
      call.send(try call.serialized(.typed(Message(method.input, message, responder.codec))))
    } catch {
      responder.fail(
        RPCError(.invalidArgument, "the request is no \(method.input.name): \(error)", origin: .client))
    }
  }

  /// Ends the call with an error of this side, such as one of an invalid request.
  func end(_ error: RPCError) {
    guard !line.hasEnded else { return }
    finish(ResponseEnd(error: error))
    call?.cancel(error.message)
  }

  /// The suite does not have this call, unless the client has received its end.
  func omitFromSuite() {
    if !line.hasEnded { recorded?.cut() }
  }

  /// The client receives the end of the call.
  private func finish(_ end: ResponseEnd) {
    line.end(end, hint: end.error.flatMap(hint))
    if end.code == .deadlineExceeded { recorded?.cut() }
    recorded?.code = end.code
    responder.end(end)
  }

  // MARK: From the call

  func receive(_ event: CallEvent<Payload>) throws(RPCError) {
    switch event {
    case .responseStart(let start): responder.respond(start)
    case .responseMessage(let message): try deliver(message)
    case .responseEnd(let end): if !line.hasEnded { finish(end) }
    case .requestStart, .requestMessage, .requestEnd, .metrics: break
    }
    try printer?.receive(event)
    guard case .metrics = event else { return }
    call = nil
    whenFinished(self)
  }

  /// What to do about a connection that failed.
  private func hint(for error: RPCError) -> String? {
    guard error.cause != nil || error.origin == .connection else { return nil }
    return proxied.plan.hint(for: error)
      ?? (proxied.plan.settings.protocolName == .grpc
        ? nil : "the server may have gRPC only: --protocol grpc")
  }

  func receive(message: RawSpan) throws(RPCError) {
    guard codec == responder.codec else { return try receive(.responseMessage(.bytes(message.copyBytes()))) }
    line.responseCount += 1
    if recorded != nil { recorded?.add(response: message.copyBytes(), method.output, codec) }
    wrote(canWriteMore: try responder.write(message))
    try printer?.receive(message: message)
  }

  func receive(messages places: Span<Range<Int>>, of piece: RawSpan) throws(RPCError) -> Int {
    guard codec == responder.codec, recorded == nil, printer == nil else {
      try receive(message: piece.extracting(places[0]))
      return 1
    }
    line.responseCount += places.count
    wrote(canWriteMore: try responder.write(places, of: piece))
    return places.count
  }

  func receive(wire event: CallEvent<MessageSize>) { printer?.receive(wire: event) }

  func receive(sent message: [UInt8], isRepeated: Bool) {
    printer?.receive(sent: message, isRepeated: isRepeated)
  }

  func attemptEnded(_ report: AttemptReport) { printer?.attemptEnded(report) }

  func wantInput(_ isWanted: Bool) { responder.wantRequest(isWanted) }

  private func deliver(_ message: Payload) throws(RPCError) {
    line.responseCount += 1
    let bytes: [UInt8]
    do {
      bytes = try message.bytes(in: responder.codec, from: codec, method.output)
    } catch {
      throw RPCError(
        .internal, "the response has no form in \(responder.codec.rawValue): \(error)", origin: .client)
    }
    recorded?.add(response: bytes, method.output, responder.codec)
    wrote(canWriteMore: try responder.write(bytes.span.bytes))
  }

  /// Sets whether the reader of the output is behind: then what the printer shows waits.
  func setOutputBehind(_ isBehind: Bool) {
    guard let printer else { return }
    isOutputBehind = isBehind
    printer.setOutputBehind(isBehind)
    updateFlowControl()
  }

  /// The response is as slow as its slower reader.
  private func updateFlowControl() { call?.wantResponse(!isStreamFull && !isOutputBehind) }

  private func wrote(canWriteMore: Bool) {
    guard !canWriteMore else { return }
    isStreamFull = true
    updateFlowControl()
  }
}

extension Payload {
  /// The message in a codec.
  ///
  /// - Parameters:
  ///   - other: The codec of the bytes.
  ///   - type: The type of the message.
  fileprivate func bytes(in codec: CodecName, from other: CodecName, _ type: MessageType) throws -> [UInt8] {
    switch self {
    case .bytes(let bytes):
      guard codec != other else { return bytes }
      return try Payload.typed(Message(type, bytes, other)).bytes(in: codec, from: codec, type)
    case .typed(let message): return codec == .json ? try message.json() : message.serialized()
    }
  }
}

extension Message {
  /// A message of bytes in a codec. A newer schema may have more fields.
  init(_ type: MessageType, _ bytes: [UInt8], _ codec: CodecName) throws {
    switch codec {
    case .proto: try self.init(type, serialized: bytes)
    case .json: try self.init(type, json: bytes, options: JSONDecodingOptions(allowUnknownFields: true))
    }
  }
}

extension ResetReason {
  /// Why the call ends.
  fileprivate var text: String {
    switch self {
    case .stream: "the client has canceled the call"
    case .connection: "the connection of the client was closed"
    case .timeout: "the client did not read or send in time"
    case .malformed: "the request breaks the rules of HTTP"
    case .stopped: "rpcurl was stopped"
    }
  }
}
