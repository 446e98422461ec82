/// The status of a call in gRPC and gRPC-Web: `grpc-status`, `grpc-message` and `grpc-status-details-bin`.
enum GRPCStatus {
  private static let names: Set<String> = ["grpc-status", "grpc-message", "grpc-status-details-bin"]

  /// What describes HTTP's message and connection, and so is no metadata of the call's end.
  private static let framing = [
    "content-type", "content-length", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade",
  ]

  /// The status in the header fields of a response without messages (trailers-only); `nil` if there is none. It counts
  /// whatever HTTP's status is.
  static func end(head: ResponseStart) -> ResponseEnd? {
    guard var end = end(head.headers) else { return nil }
    for name in framing { end.trailers.remove(name) }
    return end
  }

  /// Throws if the status line and header fields are not those of a response with messages.
  static func check(head: ResponseStart, contentType: ContentType) throws(RPCError) {
    guard head.httpStatus == 200 else {
      throw .violation(
        HTTPStatusMapping.grpc(head.httpStatus),
        "the server answered HTTP \(head.httpStatus), without a gRPC status")
    }
    let got = head.headers.first("content-type")
    let mediaType = got.map(MediaType.init)?.name
    // Without a codec it means protobuf.
    guard mediaType == contentType.value || (mediaType == contentType.base && contentType.codec == .proto)
    else {
      throw .unexpectedContentType(got, expected: contentType.value, code: .unknown)
    }
  }

  /// The end of a call that its trailers tell.
  static func end(trailers: Headers) throws(RPCError) -> ResponseEnd {
    guard let end = end(trailers) else {
      throw .violation(.unknown, "the server's trailers hold no grpc-status")
    }
    return end
  }

  /// The end of a call that `trailers` tell; `nil` when they hold no status.
  ///
  /// The three fields of the status are not part of the trailing metadata that the end carries.
  private static func end(_ trailers: Headers) -> ResponseEnd? {
    guard let text = trailers.first("grpc-status") else { return nil }
    var metadata = trailers
    for name in names { metadata.remove(name) }
    return ResponseEnd(error: error(text, trailers), trailers: metadata)
  }

  private static func error(_ text: String, _ trailers: Headers) -> RPCError? {
    let message = PercentEncoding.decode(trailers.first("grpc-message") ?? "")
    guard let number = Int(text), let code = StatusCode(rawValue: number) else {
      let words = "the server sent the unknown grpc-status \(text.debugDescription)"
      return RPCError(.unknown, message.isEmpty ? words : "\(message) (\(words))", origin: .server)
    }
    guard code != .ok else { return nil }
    return RPCError(code, message, details: details(trailers), origin: .server)
  }

  /// The details of the status, or none when the field is missing or damaged: a status is still a status
  /// without them.
  private static func details(_ trailers: Headers) -> [StatusDetail] {
    guard let bytes = trailers.binaryValues("grpc-status-details-bin").first ?? nil else { return [] }
    return RPCStatusMessage.details(bytes) ?? []
  }
}
