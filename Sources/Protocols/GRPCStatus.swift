import RPCurlProtobuf

/// The status of a call in gRPC and gRPC-Web: `grpc-status`, `grpc-message` and `grpc-status-details-bin`.
enum GRPCStatus {
  private static let names = ["grpc-status", "grpc-message", detailsName]
  private static let detailsName = "grpc-status-details-bin"

  /// Fields of the HTTP message and connection, which are not metadata of the call's end.
  private static let framing = [
    "content-type", "content-length", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade",
  ]

  /// The end of the call in the header fields of a response without messages (trailers-only); `nil` without a
  /// status. It takes precedence over the HTTP status.
  static func end(head: ResponseStart) -> ResponseEnd? {
    guard var end = end(head.headers) else { return nil }
    end.trailers = end.trailers.without(framing)
    return end
  }

  /// Checks that the status line and header fields are those of a response with messages.
  static func check(head: ResponseStart, contentType: ContentType) throws(RPCError) {
    guard head.httpStatus == 200 else {
      throw .violation(
        HTTPStatusMapping.grpc(head.httpStatus),
        "the server responded with HTTP \(head.httpStatus), without a gRPC status")
    }
    let got = head.headers.first("content-type")
    // Without a codec, the content type means protobuf. Most servers send this or the value itself, which needs no parsing.
    if got == contentType.base, contentType.codec == .proto { return }
    let mediaType = got.map(MediaType.init)?.name
    guard let mediaType, contentType.matches(mediaType) else {
      throw .unexpectedContentType(got, expected: contentType.value, code: .unknown)
    }
  }

  /// The end of a call in its trailers.
  static func end(trailers: Headers) throws(RPCError) -> ResponseEnd {
    guard let end = end(trailers) else {
      throw .violation(.unknown, "the server's trailers contain no grpc-status")
    }
    return end
  }

  /// The fields of the end of a call at a server: the status, then the trailing metadata (PROTOCOL-HTTP2, "Responses").
  static func fields(_ end: ResponseEnd) -> Headers {
    var fields = Headers([(names[0], "\(end.code.rawValue)")])
    if let error = end.error {
      if !error.message.isEmpty { fields.add(names[1], PercentEncoding.encode(message: error.message)) }
      // Bytes that were not those of a status when they were received.
      let other = error.details.first.flatMap { $0.typeName.isEmpty ? $0.value : nil }
      if !error.details.isEmpty {
        fields.add(detailsName, Base64.encode(other ?? RPCStatusMessage.bytes(error), padding: false))
      }
    }
    return fields.appending(ServerHeaders.metadata(end.trailers))
  }

  /// The end of a call in `trailers`; `nil` if they contain no status.
  ///
  /// Its trailing metadata does not include the three fields of the status.
  private static func end(_ trailers: Headers) -> ResponseEnd? {
    // Of several, such as that of the server and that of a proxy, an error is the status.
    let texts = trailers.values("grpc-status")
    guard let text = texts.first(where: { $0 != "0" }) ?? texts.first else { return nil }
    return ResponseEnd(error: text == "0" ? nil : error(text, trailers), trailers: trailers.without(names))
  }

  private static func error(_ text: String, _ trailers: Headers) -> RPCError? {
    let message = PercentEncoding.decode(trailers.first("grpc-message") ?? "")
    // Int also accepts a sign.
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text),
      let code = StatusCode(rawValue: number)
    else {
      let words = "the server sent the unknown grpc-status \(text.debugDescription)"
      return RPCError(.unknown, message.isEmpty ? words : "\(message) (\(words))", origin: .server)
    }
    guard code != .ok else { return nil }
    return RPCError(code, message, details: details(trailers), origin: .server)
  }

  /// The details of the status; empty without the field. Some servers have other bytes there than those of a status, or text
  /// that is not base64.
  private static func details(_ trailers: Headers) -> [StatusDetail] {
    guard let text = trailers.first(detailsName) else { return [] }
    let bytes = trailers.binaryValues(detailsName).first ?? nil
    return bytes.flatMap { RPCStatusMessage.details($0) }
      ?? [StatusDetail(typeName: "", value: bytes ?? Array(text.utf8))]
  }
}
