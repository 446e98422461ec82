import RPCurlProtobuf

/// A call whose messages travel in envelopes both ways, at a server: gRPC, gRPC-Web and streams in Connect. It is the other half
/// of ``EnvelopeCall``.
final class EnvelopeServer: ServerProtocol {
  let request: ServerRequest
  private let wire: any EnvelopeProtocol.Type
  private let options: ServerOptions
  private var reader: EnvelopeReader
  private var decompressor: MessageDecompressor?
  private var base64 = ContentDecoder.base64
  /// The message of a request that is not a stream.
  private var single = SingleMessage(from: .client)
  /// Whether the request is complete, or invalid.
  private var isEnded = false

  private var compressor = MessageCompressor(nil)
  /// The start of the response, while its head is not sent.
  private var start: ResponseStart?
  private var isHeadSent = false

  private init(_ request: ServerRequest, _ wire: any EnvelopeProtocol.Type, _ options: ServerOptions) {
    self.request = request
    self.wire = wire
    self.options = options
    reader = EnvelopeReader(
      EnvelopeLimits(maxMessageBytes: options.maxMessageBytes, endFlag: nil, peer: .client))
  }

  /// Reads the headers of a request.
  static func receive(
    _ head: ServerRequestHead, _ request: ServerRequest, _ wire: any EnvelopeProtocol.Type,
    _ options: ServerOptions
  ) -> ServerArrival {
    var request = request
    do throws(RPCError) {
      let (used, accepted) = wire.encodingFields
      try request.readCompression(
        head.headers.first(used), accepted: head.headers.values(accepted), options)
      try request.readTimeout(head.headers)
      if request.protocolName == .connect {
        try ConnectHeaders.check(version: head.headers, isRequired: false)
      }
      return .call(EnvelopeServer(request, wire, options))
    } catch {
      return .refusal(EnvelopeServer(request, wire, options).end(ResponseEnd(error: error)))
    }
  }

  // MARK: Request

  func receive(
    body: RawSpan, from offset: inout Int, _ deliver: (RawSpan) -> Void
  ) throws(RPCError) {
    do throws(RPCError) {
      guard !isEnded else { return offset = body.byteCount }
      guard request.isText else { return try receive(content: body, from: &offset, deliver) }
      if base64.isProcessed { try decode(body, from: &offset) }
      let decoder = base64
      var processed = decoder.processed
      defer { base64.processed = processed }
      try receive(content: decoder.decoded.span.bytes, from: &processed, deliver)
    } catch {
      isEnded = true
      offset = body.byteCount
      throw error
    }
  }

  private func decode(_ body: RawSpan, from offset: inout Int) throws(RPCError) {
    do throws(RPCError) {
      try base64.decode(body, from: &offset)
    } catch {
      throw .violation(.invalidArgument, "the request is not valid base64, which its content-type requires")
    }
  }

  private func receive(
    content: RawSpan, from offset: inout Int, _ deliver: (RawSpan) -> Void
  ) throws(RPCError) {
    guard offset < content.byteCount else { return }
    try reader.read(content, from: &offset) { (flags, message) throws(RPCError) in
      guard flags != 0 else { return try receive(message, deliver) }
      let bytes = try decompress(message, flags: flags)
      try receive(bytes.span.bytes, deliver)
    }
  }

  private func decompress(_ message: RawSpan, flags: UInt8) throws(RPCError) -> [UInt8] {
    guard flags == Envelope.compressed else {
      throw .violation(.internal, "the client sent an envelope with the unknown flags \(flags)")
    }
    if decompressor == nil {
      decompressor = request.compression.map { MessageDecompressor($0, from: .client) }
    }
    guard let bytes = try decompressor?.decompress(message, limit: options.maxMessageBytes) else {
      throw .violation(.internal, "the client sent a compressed message, but its headers name no encoding")
    }
    return bytes
  }

  private func receive(_ message: RawSpan, _ deliver: (RawSpan) -> Void) throws(RPCError) {
    guard request.kind?.clientStreams == false else { return deliver(message) }
    try single.keep(message)
  }

  func receiveEnd(_ deliver: (RawSpan) -> Void) throws(RPCError) {
    guard !isEnded else { return }
    isEnded = true
    guard reader.pendingBytes == 0 else {
      throw .violation(.invalidArgument, "the request ended in the middle of a message")
    }
    guard request.kind?.clientStreams == false else { return }
    let message = try single.get()
    deliver(message.span.bytes)
  }

  // MARK: Response

  func respond(_ start: ResponseStart) -> ServerResponseHead? {
    guard !isHeadSent else { return nil }
    self.start = start
    // A response that shows its end may have no messages, and then it has no trailers (PROTOCOL-HTTP2, "Trailers-Only").
    return start.showsEnd ? nil : takeHead()
  }

  /// The head, which is sent.
  private func takeHead() -> ServerResponseHead? {
    guard !isHeadSent else { return nil }
    isHeadSent = true
    compressor = MessageCompressor(request.responseCompression(start, options))
    var headers = Headers([(HeaderSyntax.contentType, request.contentType)])
    if let compression = compressor.compression {
      headers.add(wire.encodingFields.used, compression.rawValue)
    }
    headers.add(wire.encodingFields.accepted, options.acceptedEncodings)
    return ServerResponseHead(headers: headers.appending(ServerHeaders.leading(start)))
  }

  func encode(_ message: RawSpan, into body: inout [UInt8]) throws(RPCError) -> ServerResponseHead? {
    let head = takeHead()
    if compressor.compression == nil {
      try append(message, flags: 0, to: &body)
    } else {
      let compressed = try compressor.compress(message.copyBytes())
      try append(compressed.span.bytes, flags: Envelope.compressed, to: &body)
    }
    return head
  }

  private func append(_ content: RawSpan, flags: UInt8, to body: inout [UInt8]) throws(RPCError) {
    guard request.isText else { return try Envelope.append(content, flags: flags, to: &body) }
    var envelope: [UInt8] = []
    try Envelope.append(content, flags: flags, to: &envelope)
    Base64.append(envelope, to: &body)
  }

  func end(_ end: ResponseEnd) -> ServerResponse {
    var head = takeHead()
    switch wire.encode(end) {
    case .envelope(let content):
      var body: [UInt8] = []
      // Only an end of more than 4 GiB does not fit.
      try? append(content.span.bytes, flags: wire.endFlag ?? 0, to: &body)
      return ServerResponse(head: head, body: body)
    case .trailers(let trailers):
      guard head != nil, ServerHeaders.leading(start).isEmpty else {
        return ServerResponse(head: head, trailers: trailers)
      }
      head?.headers.append(trailers)
      return ServerResponse(head: head)
    }
  }
}
