/// The header fields that Connect's unary calls and streams share.
enum ConnectHeaders {
  /// The fields of every request except GET.
  static let fields = [("connect-protocol-version", "1")]

  /// The field with the call's timeout.
  static func timeoutField(_ timeout: Duration) -> (String, String) {
    ("connect-timeout-ms", Timeout.connect(timeout))
  }

  /// Checks that the response has the expected content type.
  ///
  /// - Throws: One error for another codec of the same `family`, and another for any other type (such as a
  ///   proxy's page), as connect-go does.
  static func check(_ head: ResponseStart, expected: String, family: String) throws(RPCError) {
    let mediaType = head.headers.first("content-type").map(MediaType.init)
    guard mediaType?.name != expected else { return }
    let code: StatusCode = mediaType?.name.hasPrefix(family) == true ? .internal : .unknown
    throw .unexpectedContentType(mediaType?.name, expected: expected, code: code)
  }
}
