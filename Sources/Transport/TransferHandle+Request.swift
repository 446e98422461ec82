import CCurl
import RPCProtocols

/// The options of a request.
extension TransferHandle {
  /// The least size of libcurl's buffer for a request's body.
  private static let leastUploadBytes = 16 << 10

  /// Sets the request, and the connection options for its server.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - bodyBytes: The length of its body; nil for a stream.
  ///   - options: The connection options.
  ///   - bufferBytes: The maximum size of a block that libcurl delivers.
  ///   - lists: Receives lists, which the caller frees after the handle.
  func set(
    _ request: HTTPRequest, bodyBytes: Int?, options: ConnectionOptions, bufferBytes: Int,
    keeping lists: inout [UnsafeMutablePointer<curl_slist>?]
  ) throws(TransportError) {
    try set(CURLOPT_PATH_AS_IS, 1)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    // A proxy's response to CONNECT is not part of the response.
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Cancelling must not wait for an unresponsive resolver.
    try set(CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_BUFFERSIZE, bufferBytes)
    // At that length, libcurl would end the response and drop its trailers.
    if request.wantsTrailers { try set(CURLOPT_IGNORE_CONTENT_LENGTH, 1) }
    // A forwarding proxy uses HTTP/1.1 to the server: HTTP/2 needs a tunnel.
    if options.isHTTP2WithoutTLS(request.url) { try set(CURLOPT_HTTPPROXYTUNNEL, 1) }
    // Removes libcurl's default headers, which no RPC protocol uses.
    var fields = ["Expect:", "Accept:"]
    let isGet = request.method == "GET"
    try set(isGet ? CURLOPT_HTTPGET : CURLOPT_POST, 1)
    if let bodyBytes {
      if !isGet { try set(CURLOPT_POSTFIELDSIZE, bodyBytes) }
      // libcurl allocates this buffer for each request, and fills it with zeros.
      if bodyBytes < Self.leastUploadBytes { try set(CURLOPT_UPLOAD_BUFFERSIZE, Self.leastUploadBytes) }
    } else {
      try set(CURLOPT_POSTFIELDSIZE, -1)
      // HTTP/1.1 sends a body of unknown length in chunks; HTTP/2 has no such header.
      if options.httpVersion != .http1 { fields.append("Transfer-Encoding:") }
    }
    for field in request.headers.fields {
      // libcurl needs a semicolon for a field with an empty value: "Name:" would remove it.
      fields.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    try set(options, url: request.url, extraFields: &fields, keeping: &lists)
    try set(CURLOPT_HTTPHEADER, fields, keeping: &lists)
  }
}
