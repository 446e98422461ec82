import RPCurlProtocols

/// The header fields of a request as HTTP/2 sends them. nghttp2 sends no larger block than its limit, and closes the stream instead.
enum HeaderBlock {
  /// The largest block in bytes (nghttp2's `NGHTTP2_MAX_HEADERSLEN`), which libcurl does not change.
  private static let maxBytes = 65_536
  /// What nghttp2 adds to the names and values of its fields: bytes for each field, and for the block
  /// (`nghttp2_hd_deflate_bound`, and the priority of a stream).
  private static let (fieldBytes, blockBytes) = (12, 17)

  /// The error of a request whose header fields HTTP/2 cannot send; nil if it can.
  ///
  /// - Parameter bodyBytes: The length of the body; nil for a stream.
  static func error(_ request: HTTPRequest, bodyBytes: Int?) -> TransportError? {
    // A request that has not nearly as much is not looked at further: each request is checked.
    let given = request.headers.fields.reduce(request.url.utf8.count) {
      $0 + $1.name.utf8.count + $1.value.utf8.count + fieldBytes
    }
    guard given > maxBytes - 1024 else { return nil }
    let url = request.url
    let host = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
    let authority = host.prefix { $0 != "/" }
    let scheme = url.utf8.count - host.utf8.count - "://".utf8.count
    var fields = [
      (":method", request.method.utf8.count), (":scheme", scheme),
      (":authority", (request.headers.first("host") ?? String(authority)).utf8.count),
      (":path", host.utf8.count - authority.utf8.count),
    ]
    if let bodyBytes, request.method != "GET" { fields.append(("content-length", "\(bodyBytes)".utf8.count)) }
    for field in request.headers.fields where field.name != "host" {
      fields.append((field.name, field.value.utf8.count))
    }
    let bytes = fields.reduce(blockBytes) { $0 + $1.0.utf8.count + $1.1 + fieldBytes }
    guard bytes > maxBytes, let longest = fields.max(by: { $0.1 < $1.1 }) else { return nil }
    return TransportError(
      .request,
      "the headers have \(bytes) bytes, with \(fieldBytes) for each, more than the \(maxBytes) that can be sent over HTTP/2; "
        + "the longest is \(longest.0) with \(longest.1) bytes")
  }
}
