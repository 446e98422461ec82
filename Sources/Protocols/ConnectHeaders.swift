/// The header fields that Connect's unary calls and streams share.
enum ConnectHeaders {
  /// The fields of every request except GET.
  static let fields = [("connect-protocol-version", "1")]

  /// Checks the version of the protocol in a request.
  static func check(version headers: Headers, isRequired: Bool) throws(RPCError) {
    let version = headers.first("connect-protocol-version")
    guard version == nil ? !isRequired : version == "1" else {
      throw .violation(.invalidArgument, "the value of connect-protocol-version must be 1")
    }
  }

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
