/// The header fields that unary calls and streams in Connect have in common.
enum ConnectHeaders {
  /// The fields that every request has, but one by GET.
  static let fields = [("connect-protocol-version", "1")]

  /// The field that tells how long the call may take.
  static func timeoutField(_ timeout: Duration) -> (String, String) {
    ("connect-timeout-ms", Timeout.connect(timeout))
  }

  /// Throws when a response is not of the type expected. A server of the same `family` that speaks another
  /// codec, and a proxy's page, are told apart as connect-go does.
  static func check(_ head: ResponseStart, expected: String, family: String) throws(RPCError) {
    let mediaType = head.headers.first("content-type").map(MediaType.init)
    guard mediaType?.name != expected else { return }
    let code: StatusCode = mediaType?.name.hasPrefix(family) == true ? .internal : .unknown
    throw .unexpectedContentType(mediaType?.name, expected: expected, code: code)
  }
}
