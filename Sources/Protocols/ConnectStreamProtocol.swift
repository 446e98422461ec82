/// A stream in Connect (Connect protocol, "Streaming"): the last envelope of the response holds the status
/// and the trailing metadata as JSON.
enum ConnectStreamProtocol: EnvelopeProtocol {
  static let mediaType = "application/connect"
  static let bareMediaType = ContentType.Bare.invalid
  static let textMediaType: String? = nil
  static let fields = ConnectHeaders.fields
  static let encodingFields = (used: "connect-content-encoding", accepted: "connect-accept-encoding")
  static let wantsTrailers = false
  static let requiresHTTP2 = false
  static let requiresASCII = false
  static let endFlag: UInt8? = 0x02
  static let missingEnd = "its last envelope"

  static func timeoutField(_ timeout: Duration) -> (String, String) {
    ConnectHeaders.timeoutField(timeout)
  }

  static func end(head: ResponseStart) throws(RPCError) -> ResponseEnd? {
    nil
  }

  static func check(head: ResponseStart, contentType: ContentType) throws(RPCError) {
    guard head.httpStatus == 200 else {
      throw .violation(
        HTTPStatusMapping.connect(head.httpStatus),
        "the server responded to a stream with HTTP \(head.httpStatus)")
    }
    try ConnectHeaders.check(head, expected: contentType.value, family: "application/connect+")
  }

  static func end(envelope: [UInt8], after head: ResponseEnd?) throws(RPCError) -> ResponseEnd {
    guard let end = ConnectError.decodeEnd(envelope) else {
      throw .violation(.unknown, "the last envelope of the response is not a valid end of stream")
    }
    return end
  }

  static func end(trailers: Headers) throws(RPCError) -> ResponseEnd? {
    nil
  }

  static func encode(_ end: ResponseEnd) -> EncodedEnd {
    .envelope(ConnectError.encode(end))
  }
}
