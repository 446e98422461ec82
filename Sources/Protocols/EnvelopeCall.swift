import RPCurlProtobuf

/// A call whose messages travel in envelopes both ways.
final class EnvelopeCall<Wire: EnvelopeProtocol>: WireProtocol {
  /// It is read for each message, so its large cases are indirect.
  private enum State {
    /// Nothing was received yet.
    case head
    /// The headers contained the status. It is final if nothing follows them.
    indirect case status(ResponseEnd, ResponseStart)
    /// Receiving envelopes.
    case body
    /// Receiving the body of a response that is not one of the protocol.
    case foreign(ForeignBody)
    /// The last envelope was received. Nothing may follow it.
    indirect case last(ResponseEnd)
    /// The end was reported.
    case ended
  }

  private let parameters: CallParameters
  private let contentType: ContentType
  private let limits: EnvelopeLimits
  private var state = State.head
  /// The status in headers that a body follows.
  private var statusInHead: ResponseEnd?
  /// The trailers so far, unless they arrive together.
  private var partialTrailers = Headers()
  private var hasStatusInTrailers = false
  private var reader: EnvelopeReader
  /// The message of a response that is not a stream.
  private var single = SingleMessage()
  /// The places of messages that are delivered together; its memory serves the next piece.
  private var plain: [Range<Int>] = []
  private(set) var receivedMessages = 0
  private(set) var receivedMessageBytes = 0
  private var compressor: MessageCompressor
  /// The encoding that the headers name. It matters only if a message is compressed: a failed call has none.
  private var encoding: String?
  private var decompressor: MessageDecompressor?
  /// Decode the body, one after the other: its `content-encoding` and base64.
  private var decoders: [ContentDecoder] = []
  /// Whether an envelope arrived that is invalid or too large.
  private var hasInvalidEnvelope = false
  var onMessageSize: ((MessageSize) -> Void)?

  var hasMessage: Bool { receivedMessages > 0 || single.hasMessage || hasInvalidEnvelope }

  init(_ parameters: CallParameters) {
    self.parameters = parameters
    contentType = Wire.contentType(parameters.codec)
    limits = EnvelopeLimits(maxMessageBytes: parameters.maxMessageBytes, endFlag: Wire.endFlag)
    reader = EnvelopeReader(limits)
    compressor = MessageCompressor(parameters.compression)
  }

  func makeRequest(_ start: RequestStart, timeout: Duration?) throws(RPCError) -> HTTPRequest {
    let text = parameters.sendsText ? Wire.textContentType(parameters.codec) : nil
    let contentType = text ?? contentType
    var fields = [("content-type", contentType.value)] + Wire.fields
    fields.append(("user-agent", parameters.userAgent))
    if let compression = parameters.compression {
      fields.append((Wire.encodingFields.used, compression.rawValue))
    }
    fields.append((Wire.encodingFields.accepted, parameters.acceptedEncodings))
    // Proxies that translate the protocol respond in base64 only to this.
    if let text { fields.append(("accept", text.base)) }
    if let timeout { fields.append(Wire.timeoutField(timeout)) }
    var request = try HTTPRequest(
      start, fields: fields, requiresASCII: Wire.requiresASCII, otherContentType: contentType.other)
    request.wantsTrailers = Wire.wantsTrailers
    request.requiresHTTP2 = Wire.requiresHTTP2
    return request
  }

  func encode(_ message: [UInt8], into body: inout [UInt8]) throws(RPCError) {
    let flags = compressor.compression == nil ? 0 : Envelope.compressed
    guard parameters.sendsText else {
      return try Envelope.append(compressor.compress(message), flags: flags, to: &body)
    }
    var envelope: [UInt8] = []
    try Envelope.append(compressor.compress(message), flags: flags, to: &envelope)
    Base64.append(envelope, to: &body)
  }

  func receive(head: ResponseStart, _ receiver: any ResponseReceiver) -> ResponseEnd? {
    guard case .head = state else { return nil }
    receiver.receive(.responseStart(head))
    do throws(RPCError) {
      guard let end = try Wire.end(head: head) else {
        try expectEnvelopes(head)
        return nil
      }
      // The body of another HTTP status is text for people.
      guard head.httpStatus == 200 else { return finish(end, receiver) }
      state = .status(end, head)
      return nil
    } catch {
      return fail(error)
    }
  }

  private func expectEnvelopes(_ head: ResponseStart) throws(RPCError) {
    let text = textContentType(of: head)
    do throws(RPCError) {
      try Wire.check(head: head, contentType: text ?? contentType)
    } catch {
      return state = .foreign(ForeignBody(error, head))
    }
    state = .body
    encoding = head.headers.first(Wire.encodingFields.used)
    if let decoder = try ContentDecoder(head.headers) { decoders.append(decoder) }
    if text != nil { decoders.append(.base64) }
  }

  /// The content type of a response in base64; nil if it has another.
  private func textContentType(of head: ResponseStart) -> ContentType? {
    guard let text = Wire.textContentType(parameters.codec),
      let got = head.headers.first(HeaderSyntax.contentType), got != contentType.value,
      got != contentType.base
    else { return nil }
    return text.matches(MediaType(got).name) ? text : nil
  }

  func receive(
    body: RawSpan, from offset: inout Int, _ receiver: any ResponseReceiver
  ) -> ResponseEnd? {
    guard offset < body.byteCount else { return nil }
    do throws(RPCError) {
      // A response with a body is not trailers-only, so its status is in the trailers (PROTOCOL-HTTP2,
      // "Responses").
      if case .status(let end, let head) = state {
        statusInHead = end
        try expectEnvelopes(head)
      }
    } catch {
      offset = body.byteCount
      return fail(error)
    }
    switch state {
    case .foreign(let foreign):
      foreign.add(body.extracting(droppingFirst: offset))
      offset = body.byteCount
      return foreign.isEnough ? fail(foreign.end) : nil
    case .body, .last: return receive(body, from: &offset, decodedBy: 0, receiver)
    case .head, .status, .ended: return receive(content: body, from: &offset, receiver)
    }
  }

  /// Decodes the next part of a piece, or receives the next part of what was decoded.
  private func receive(
    _ body: RawSpan, from offset: inout Int, decodedBy index: Int, _ receiver: any ResponseReceiver
  ) -> ResponseEnd? {
    guard index < decoders.count else { return receive(content: body, from: &offset, receiver) }
    do throws(RPCError) {
      if decoders[index].isProcessed { try decoders[index].decode(body, from: &offset) }
    } catch {
      offset = body.byteCount
      return fail(error)
    }
    let decoder = decoders[index]
    var processed = decoder.processed
    defer { decoders[index].processed = processed }
    return receive(decoder.decoded.span.bytes, from: &processed, decodedBy: index + 1, receiver)
  }

  private func receive(
    content body: RawSpan, from offset: inout Int, _ receiver: any ResponseReceiver
  ) -> ResponseEnd? {
    guard offset < body.byteCount else { return nil }
    do throws(RPCError) {
      if case .last = state { throw .dataAfterEnd }
      guard isReading else {
        offset = body.byteCount
        return nil
      }
      deliverPlainMessages(of: body, from: &offset, receiver)
      guard offset < body.byteCount else { return nil }
      try reader.read(body, from: &offset) { (flags, message) throws(RPCError) in
        guard flags == 0 else { return try receive(message, flags: flags, receiver) }
        reportSize(message.byteCount, message.byteCount, nil)
        try deliver(message, receiver)
      }
      if offset < body.byteCount, case .last = state { throw .dataAfterEnd }
      return nil
    } catch {
      offset = body.byteCount
      hasInvalidEnvelope = true
      return fail(error)
    }
  }

  /// Delivers the next messages of a piece that are complete and not compressed, many at once.
  private func deliverPlainMessages(
    of piece: RawSpan, from offset: inout Int, _ receiver: any ResponseReceiver
  ) {
    guard parameters.kind.serverStreams, onMessageSize == nil else { return }
    let start = offset
    var plain: [Range<Int>] = []
    swap(&plain, &self.plain)
    defer {
      plain.removeAll(keepingCapacity: true)
      self.plain = plain
    }
    reader.plainMessages(in: piece, from: &offset, &plain)
    guard !plain.isEmpty else { return }
    receivedMessages += plain.count
    receivedMessageBytes += offset - start - plain.count * Envelope.prefixBytes
    var rest = plain.span
    while !rest.isEmpty {
      rest = rest.extracting(droppingFirst: receiver.receive(messages: rest, of: piece))
    }
  }

  func receive(trailers: Headers, areComplete: Bool, _ receiver: any ResponseReceiver) -> ResponseEnd? {
    if areComplete { return finish(trailers: trailers, receiver) }
    partialTrailers.append(trailers)
    if (try? Wire.end(trailers: trailers)) != nil { hasStatusInTrailers = true }
    return nil
  }

  private func finish(trailers: Headers, _ receiver: any ResponseReceiver) -> ResponseEnd? {
    do throws(RPCError) {
      switch state {
      case .status(let end, _):
        guard Wire.wantsTrailers else { return nil }
        return finish((try? Wire.end(trailers: trailers)) ?? end, receiver)
      case .body:
        guard let end = try Wire.end(trailers: trailers) else { return nil }
        guard end.error != nil || reader.pendingBytes == 0 else { throw .endedInMessage }
        return finish(end, receiver)
      case .head, .foreign, .last, .ended: return nil
      }
    } catch {
      return fail(error)
    }
  }

  var awaited: AwaitedEnd? {
    switch state {
    case .status(let end, _) where !hasStatusInTrailers: end.error == nil ? .messages : .end
    case .status: .trailers
    case .body: hasStatusInTrailers ? .trailers : nil
    case .last: .end
    case .foreign: .text
    case .head, .ended: nil
    }
  }

  func receiveEnd(failure: RPCError?, _ receiver: any ResponseReceiver) -> ResponseEnd? {
    if !partialTrailers.isEmpty, failure == nil || hasStatusInTrailers,
      let end = finish(trailers: partialTrailers, receiver)
    {
      return end
    }
    switch state {
    case .ended: return nil
    case .last(let end): return finish(end, receiver)
    case .status(let end, _):
      // An error is the end of the call, whether or not its HTTP response ends. Success could have messages.
      if end.error == nil, let failure { return fail(failure) }
      return finish(end, receiver)
    case .head: return fail(failure ?? .closedWithoutResponse)
    case .foreign(let foreign): return fail(foreign.end)
    case .body: return fail(failure ?? unexpectedEnd)
    }
  }

  /// The error of a response whose body ends before the last envelope, or the trailers.
  private var unexpectedEnd: RPCError {
    if reader.pendingBytes > 0 { return .endedInMessage }
    return statusInHead != nil
      ? .violation(
        .internal, "the server sent a status with the headers, then a body without \(Wire.missingEnd)")
      : .violation(.unknown, "the response ended without \(Wire.missingEnd), so its status is unknown")
  }

  private var isReading: Bool {
    if case .body = state { true } else { false }
  }

  /// Receives an envelope with flags: compressed, the last one, or both.
  private func receive(
    _ content: RawSpan, flags: UInt8, _ receiver: any ResponseReceiver
  ) throws(RPCError) {
    guard flags & ~(Envelope.compressed | (Wire.endFlag ?? 0)) == 0 else {
      throw .violation(.internal, "the server sent an envelope with the unknown flags \(flags)")
    }
    guard flags & Envelope.compressed != 0 else {
      return try receive(last: content.copyBytes())
    }
    if decompressor == nil {
      decompressor = try parameters.agreedCompression(encoding).map { MessageDecompressor($0) }
    }
    guard decompressor != nil else {
      throw .violation(.internal, "the server sent a compressed message, but its headers name no encoding")
    }
    let bytes = try decompressor?.decompress(content, limit: limits.bytes(flags)) ?? []
    if limits.isEnd(flags) {
      try receive(last: bytes)
    } else {
      reportSize(bytes.count, content.byteCount, decompressor?.compression)
      try deliver(bytes.span.bytes, receiver)
    }
  }

  private func receive(last content: [UInt8]) throws(RPCError) {
    let end = try Wire.end(envelope: content, after: statusInHead)
    guard end.trailers.count <= Headers.maxResponseFields else {
      throw .violation(.unavailable, "the response has more than \(Headers.maxResponseFields) trailers")
    }
    state = .last(end)
  }

  private func reportSize(_ bytes: Int, _ encoded: Int, _ compression: Compression?) {
    onMessageSize?(
      MessageSize(bytes: bytes, wireBytes: encoded + Envelope.prefixBytes, compression: compression))
  }

  /// Gives a message of a stream to the receiver. Where exactly one is allowed, it waits for the end.
  private func deliver(_ message: RawSpan, _ receiver: any ResponseReceiver) throws(RPCError) {
    guard parameters.kind.serverStreams else { return try single.keep(message) }
    receivedMessages += 1
    receivedMessageBytes += message.byteCount
    receiver.receive(message: message)
  }

  private func finish(_ end: ResponseEnd, _ receiver: any ResponseReceiver) -> ResponseEnd {
    state = .ended
    guard !parameters.kind.serverStreams, end.error == nil else { return end }
    do throws(RPCError) {
      let message = try single.get()
      receivedMessages += 1
      receivedMessageBytes += message.count
      receiver.receive(message: message.span.bytes)
      return end
    } catch {
      return ResponseEnd(error: error, trailers: end.trailers)
    }
  }

  private func fail(_ error: RPCError) -> ResponseEnd {
    state = .ended
    return ResponseEnd(error: error)
  }
}

extension RPCError {
  static var needsHTTP2: RPCError {
    var error = violation(.internal, "the server responded over HTTP/1.1, but gRPC requires HTTP/2")
    error.cause = .onlyHTTP1(negotiated: nil)
    return error
  }
  /// libcurl reports no error if a connection ends within a head of HTTP/1.1.
  static let closedWithoutResponse = RPCError(
    .unavailable, "the server closed the connection without a complete response", origin: .connection)
  static let dataAfterEnd = violation(.internal, "the server sent data after the end of the stream")
  static let endedInMessage = violation(.internal, "the response ended in the middle of a message")
}
