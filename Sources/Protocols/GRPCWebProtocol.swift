/// gRPC-Web (PROTOCOL-WEB): gRPC for HTTP of any version, with the trailers in the last envelope.
enum GRPCWebProtocol: EnvelopeProtocol {
  static let mediaType = "application/grpc-web"
  static let bareMediaType = ContentType.Bare.same
  static let textMediaType: String? = "application/grpc-web-text"
  static let fields = [("x-grpc-web", "1")]
  static let encodingFields = GRPCProtocol.encodingFields
  static let wantsTrailers = false
  static let requiresHTTP2 = false
  static let requiresASCII = true
  static let endFlag: UInt8? = 0x80
  static let missingEnd = "its trailers"

  static func timeoutField(_ timeout: Duration) -> (String, String) {
    GRPCProtocol.timeoutField(timeout)
  }

  static func end(head: ResponseStart) throws(RPCError) -> ResponseEnd? {
    GRPCStatus.end(head: head)
  }

  static func check(head: ResponseStart, contentType: ContentType) throws(RPCError) {
    try GRPCStatus.check(head: head, contentType: contentType)
  }

  static func end(envelope: [UInt8], after head: ResponseEnd?) throws(RPCError) -> ResponseEnd {
    let trailers = try fields(of: envelope)
    // A proxy that translates a response without messages (trailers-only) may add an envelope without a status to it.
    if var head, trailers.first("grpc-status") == nil {
      head.trailers = head.trailers.appending(trailers)
      return head
    }
    return try GRPCStatus.end(trailers: trailers)
  }

  static func end(trailers: Headers) throws(RPCError) -> ResponseEnd? {
    nil
  }

  // Names in lower case, and no empty line at the end (PROTOCOL-WEB, "Message framing").
  static func encode(_ end: ResponseEnd) -> EncodedEnd {
    .envelope(GRPCStatus.fields(end).fields.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) })
  }

  /// Parses header lines as in HTTP/1.1. Servers end lines with CR LF or LF, with or without an empty line at
  /// the end.
  private static func fields(of block: [UInt8]) throws(RPCError) -> Headers {
    var fields = Headers()
    for line in block.split(separator: UInt8(ascii: "\n")) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.isEmpty { continue }
      let text = HeaderSyntax.text(line.span.bytes)
      guard !line.contains(UInt8(ascii: "\r")), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
        HeaderSyntax.isName(text[..<colon])
      else {
        throw .violation(
          .internal, "the server's trailers contain \(text.debugDescription), which is not a header field")
      }
      fields.add(String(text[..<colon]), HeaderSyntax.trimmed(text[text.utf8.index(after: colon)...]))
    }
    return fields
  }
}
