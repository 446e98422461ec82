/// gRPC over HTTP/2 (PROTOCOL-HTTP2): the status is in the HTTP trailers.
enum GRPCProtocol: EnvelopeProtocol {
  static let mediaType = "application/grpc"
  static let bareMediaType = ContentType.Bare.sent
  static let textMediaType: String? = nil
  static let fields = [("te", "trailers")]
  static let encodingFields = (used: "grpc-encoding", accepted: "grpc-accept-encoding")
  static let wantsTrailers = true
  static let requiresHTTP2 = true
  static let requiresASCII = true
  static let endFlag: UInt8? = nil
  static let missingEnd = "trailers"

  static func timeoutField(_ timeout: Duration) -> (String, String) {
    ("grpc-timeout", Timeout.grpc(timeout))
  }

  static func end(head: ResponseStart) throws(RPCError) -> ResponseEnd? {
    guard !head.httpVersion.hasPrefix("1") || head.httpStatus != 200 else { throw .needsHTTP2 }
    return GRPCStatus.end(head: head)
  }

  static func check(head: ResponseStart, contentType: ContentType) throws(RPCError) {
    try GRPCStatus.check(head: head, contentType: contentType)
  }

  static func end(envelope: [UInt8], after head: ResponseEnd?) throws(RPCError) -> ResponseEnd {
    throw .violation(.internal, "the server sent its status in an envelope")
  }

  static func end(trailers: Headers) throws(RPCError) -> ResponseEnd? {
    try GRPCStatus.end(trailers: trailers)
  }

  static func encode(_ end: ResponseEnd) -> EncodedEnd {
    .trailers(GRPCStatus.fields(end))
  }
}
