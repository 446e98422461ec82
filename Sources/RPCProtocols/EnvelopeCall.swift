import Protobuf

/// A call whose messages travel in envelopes both ways.
final class EnvelopeCall<Wire: EnvelopeProtocol>: WireProtocol {
  private enum State {
    /// Nothing was received yet.
    case head
    /// The headers contained the status. It is final if nothing follows them.
    case status(ResponseEnd, ResponseStart)
    /// Receiving envelopes, after headers with or without a status.
    case body(hasStatus: Bool)
    /// The last envelope was received. Nothing may follow it.
    case last(ResponseEnd)
    /// The end was reported.
    case ended
  }

  private let parameters: CallParameters
  private let contentType: ContentType
  private let limits: EnvelopeLimits
  private var state = State.head
  private var reader: EnvelopeReader
  private var cardinality: ResponseCardinality
  private var compressor: MessageCompressor
  private var decompressor: MessageDecompressor?

  init(_ parameters: CallParameters) {
    self.parameters = parameters
    contentType = ContentType(base: Wire.mediaType, codec: parameters.codec)
    limits = EnvelopeLimits(maxMessageBytes: parameters.maxMessageBytes, endFlag: Wire.endFlag)
    reader = EnvelopeReader(limits)
    cardinality = ResponseCardinality(kind: parameters.kind)
    compressor = MessageCompressor(parameters.compression)
  }

  func makeRequest(_ start: RequestStart, timeout: Duration?) throws(RPCError) -> HTTPRequest {
    var fields = [("content-type", contentType.value)] + Wire.fields
    fields.append(("user-agent", parameters.userAgent))
    if let compression = parameters.compression {
      fields.append((Wire.encodingFields.used, compression.rawValue))
    }
    fields.append((Wire.encodingFields.accepted, parameters.acceptedEncodings))
    if let timeout { fields.append(Wire.timeoutField(timeout)) }
    var request = try HTTPRequest(start, fields: fields)
    request.wantsTrailers = Wire.wantsTrailers
    request.requiresHTTP2 = Wire.requiresHTTP2
    return request
  }

  func encode(_ message: [UInt8], into body: inout [UInt8]) throws(RPCError) {
    let flags = compressor.compression == nil ? 0 : Envelope.compressed
    try Envelope.append(compressor.compress(message), flags: flags, to: &body)
  }

  func receive(head: ResponseStart, _ sink: any ResponseSink) {
    guard case .head = state else { return }
    sink.receive(start: head)
    do throws(RPCError) {
      guard let end = try Wire.end(head: head) else { return try expectEnvelopes(head, hasStatus: false) }
      // The body of another HTTP status is text for people.
      guard head.httpStatus == 200 else { return finish(end, sink) }
      state = .status(end, head)
    } catch {
      fail(error, sink)
    }
  }

  private func expectEnvelopes(_ head: ResponseStart, hasStatus: Bool) throws(RPCError) {
    state = .body(hasStatus: hasStatus)
    try Wire.check(head: head, contentType: contentType)
    let encoding = head.headers.first(Wire.encodingFields.used)
    decompressor = try parameters.agreedCompression(encoding).map { MessageDecompressor($0) }
  }

  func receive(body: RawSpan, _ sink: any ResponseSink) {
    guard body.byteCount > 0 else { return }
    do throws(RPCError) {
      // A response with a body is not trailers-only, so its status is in the trailers (PROTOCOL-HTTP2,
      // "Responses").
      if case .status(_, let head) = state { try expectEnvelopes(head, hasStatus: true) }
      if case .last = state { throw .dataAfterEnd }
      guard isReading else { return }
      let unreadBytes = try reader.read(body) { (flags, message) throws(RPCError) in
        if flags == 0 {
          if parameters.reportsSizes { reportSize(message.byteCount, message.byteCount, nil, sink) }
          try cardinality.receive(message, sink)
        } else {
          try receive(message, flags: flags, sink)
        }
        return isReading
      }
      if unreadBytes > 0, case .last = state { throw .dataAfterEnd }
    } catch {
      fail(error, sink)
    }
  }

  func receive(trailers: Headers, _ sink: any ResponseSink) {
    do throws(RPCError) {
      switch state {
      case .status(let end, _):
        guard Wire.wantsTrailers else { return }
        finish((try? Wire.end(trailers: trailers)) ?? end, sink)
      case .body:
        guard let end = try Wire.end(trailers: trailers) else { return }
        guard end.error != nil || reader.pendingBytes == 0 else { throw .endedInMessage }
        finish(end, sink)
      case .head, .last, .ended: break
      }
    } catch {
      fail(error, sink)
    }
  }

  var awaitsEnd: Bool {
    switch state {
    case .status, .last: true
    case .head, .body, .ended: false
    }
  }

  func receiveEnd(_ sink: any ResponseSink) {
    switch state {
    case .ended: break
    case .head: fail(.closedWithoutResponse, sink)
    case .status(let end, _), .last(let end): finish(end, sink)
    case .body where reader.pendingBytes > 0: fail(.endedInMessage, sink)
    case .body(hasStatus: true):
      fail(
        .violation(
          .internal, "the server sent a status with the headers, then a body without \(Wire.missingEnd)"),
        sink)
    case .body(hasStatus: false):
      fail(
        .violation(.unknown, "the response ended without \(Wire.missingEnd), so its status is unknown"),
        sink)
    }
  }

  func receive(failure: RPCError, _ sink: any ResponseSink) {
    switch state {
    // The RPC's end is known; only the end of the HTTP response is missing.
    case .status(let end, _), .last(let end): finish(end, sink)
    case .head, .body: fail(failure, sink)
    case .ended: break
    }
  }

  private var isReading: Bool {
    if case .body = state { true } else { false }
  }

  /// Receives an envelope with flags: compressed, the last one, or both.
  private func receive(
    _ content: RawSpan, flags: UInt8, _ sink: any ResponseSink
  ) throws(RPCError) {
    guard flags & ~(Envelope.compressed | (Wire.endFlag ?? 0)) == 0 else {
      throw .violation(.internal, "the server sent an envelope with the unknown flags \(flags)")
    }
    guard flags & Envelope.compressed != 0 else {
      state = .last(try Wire.end(envelope: content.copyBytes()))
      return
    }
    guard decompressor != nil else {
      throw .violation(.internal, "the server sent a compressed message, but its headers name no encoding")
    }
    let bytes = try decompressor?.decompress(content, limit: limits.bytes(flags)) ?? []
    if limits.isEnd(flags) {
      state = .last(try Wire.end(envelope: bytes))
    } else {
      if parameters.reportsSizes {
        reportSize(bytes.count, content.byteCount, decompressor?.compression, sink)
      }
      try cardinality.receive(bytes.span.bytes, sink)
    }
  }

  private func reportSize(_ bytes: Int, _ encoded: Int, _ compression: Compression?, _ sink: any ResponseSink)
  {
    let size = MessageSize(bytes: bytes, wireBytes: encoded + Envelope.prefixBytes, compression: compression)
    sink.receive(size: size)
  }

  private func finish(_ end: ResponseEnd, _ sink: any ResponseSink) {
    state = .ended
    cardinality.finish(end, sink)
  }

  private func fail(_ error: RPCError, _ sink: any ResponseSink) {
    state = .ended
    sink.receive(end: ResponseEnd(error: error))
  }
}

extension RPCError {
  static let needsHTTP2 = violation(.internal, "the server responded over HTTP/1.1, but gRPC requires HTTP/2")
  static let closedWithoutResponse = violation(.unavailable, "the server closed the call without a response")
  static let dataAfterEnd = violation(.internal, "the server sent data after the end of the stream")
  static let endedInMessage = violation(.internal, "the response ended in the middle of a message")
}
