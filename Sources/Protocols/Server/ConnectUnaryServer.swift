import RPCurlProtobuf

/// A unary call in Connect at a server, by POST or GET (Connect protocol, "Unary"). It is the other half of
/// ``ConnectUnaryProtocol``.
///
/// The HTTP status depends on the end of the call, so the whole response is sent then.
final class ConnectUnaryServer: ServerProtocol {
  let request: ServerRequest
  private let options: ServerOptions
  /// Whether the schema has the method.
  private let isKnown: Bool
  private var body: [UInt8] = []
  private var isEnded = false

  private var start: ResponseStart?
  /// The message of the response, and why it cannot be sent.
  private var message = SingleMessage()

  private init(_ request: ServerRequest, isKnown: Bool, _ options: ServerOptions) {
    self.request = request
    self.isKnown = isKnown
    self.options = options
  }

  /// Reads the headers and the query of a request.
  static func receive(
    _ head: ServerRequestHead, _ request: ServerRequest, isKnown: Bool, _ options: ServerOptions
  ) -> ServerArrival {
    var request = request
    do throws(RPCError) {
      let encoding =
        request.isGET
        ? try request.readQuery(head.query, options)
        : head.headers.first("content-encoding")
      try request.readCompression(
        encoding, accepted: head.headers.values("accept-encoding"), options)
      try request.readTimeout(head.headers)
      if !request.isGET {
        try ConnectHeaders.check(version: head.headers, isRequired: options.requiresConnectVersion)
      }
      return .call(ConnectUnaryServer(request, isKnown: isKnown, options))
    } catch {
      let call = ConnectUnaryServer(request, isKnown: isKnown, options)
      return .refusal(call.end(ResponseEnd(error: error)))
    }
  }

  // MARK: Request

  func receive(
    body piece: RawSpan, from offset: inout Int, _ deliver: (RawSpan) -> Void
  ) throws(RPCError) {
    let rest = piece.extracting(droppingFirst: offset)
    offset = piece.byteCount
    guard !isEnded, !request.isGET else { return }
    guard body.count + rest.byteCount <= options.maxMessageBytes else {
      isEnded = true
      throw .messageTooLarge("is too long", limit: options.maxMessageBytes, from: .client)
    }
    rest.withUnsafeBytes { body.append(contentsOf: $0) }
  }

  func receiveEnd(_ deliver: (RawSpan) -> Void) throws(RPCError) {
    guard !isEnded else { return }
    isEnded = true
    var message = request.isGET ? request.message : body
    body = []
    if let compression = request.compression {
      var decompressor = MessageDecompressor(compression, from: .client)
      message = try decompressor.decompress(message.span.bytes, limit: options.maxMessageBytes)
    }
    guard message.count <= options.maxMessageBytes else {
      throw .messageTooLarge("is too long", limit: options.maxMessageBytes, from: .client)
    }
    deliver(message.span.bytes)
  }

  // MARK: Response

  func respond(_ start: ResponseStart) -> ServerResponseHead? {
    self.start = start
    return nil
  }

  func encode(_ message: RawSpan, into body: inout [UInt8]) throws(RPCError) -> ServerResponseHead? {
    try self.message.keep(message)
    return nil
  }

  func end(_ end: ResponseEnd) -> ServerResponse {
    do throws(RPCError) {
      if let error = end.error { throw error }
      var compressor = MessageCompressor(request.responseCompression(start, options))
      let body = try compressor.compress(try message.get())
      var head = head(200, request.contentType, end)
      if let compression = compressor.compression {
        head.headers.add("content-encoding", compression.rawValue)
      }
      return ServerResponse(head: head, body: body)
    } catch {
      // A method that does not exist is not found, as in other servers of Connect. A server shows itself that it has it.
      let isMissing = start.map { $0.httpStatus == 404 } ?? !isKnown
      let status = error.code == .unimplemented && isMissing ? 404 : HTTPStatusMapping.status(error.code)
      return ServerResponse(head: head(status, "application/json", end), body: ConnectError.encode(error))
    }
  }

  private func head(_ status: Int, _ contentType: String, _ end: ResponseEnd) -> ServerResponseHead {
    var headers = Headers([
      (HeaderSyntax.contentType, contentType), ("accept-encoding", options.acceptedEncodings),
    ])
    if request.isGET { headers.add("vary", "accept-encoding") }
    headers.append(ServerHeaders.leading(start))
    for field in ServerHeaders.metadata(end.trailers).fields {
      headers.add("trailer-\(field.name)", field.value)
    }
    return ServerResponseHead(status: status, headers: headers)
  }
}

extension ServerRequest {
  /// Reads the query of a call by GET (Connect protocol, "Unary-Get-Request").
  ///
  /// - Returns: The compression of the message.
  fileprivate mutating func readQuery(
    _ query: Substring, _ options: ServerOptions
  ) throws(RPCError) -> String? {
    let parameters = ConnectGet.parameters(of: query)
    let version = parameters["connect"]
    guard version == nil ? !options.requiresConnectVersion : version == Array("v1".utf8) else {
      throw .violation(.invalidArgument, "the parameter connect must be v1")
    }
    guard parameters["message"] != nil else {
      throw .violation(.invalidArgument, "the parameter message is missing")
    }
    guard let bytes = ConnectGet.message(in: parameters) else {
      throw .violation(.invalidArgument, "the parameter message is not valid base64")
    }
    message = bytes
    return parameters["compression"].map { String(decoding: $0, as: UTF8.self) }
  }
}
