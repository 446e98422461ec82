import RPCurlCCurl
import RPCurlProtocols

/// The options of a request.
extension TransferHandle {
  /// The least size of libcurl's buffer for a request's body.
  static let leastUploadBytes = 16 << 10
  /// The maximum size of a block that libcurl delivers, in bytes.
  private static let bufferBytes = 256 << 10
  /// The length of the longest value of a header field that libcurl sends, in bytes. A request goes out without a field that
  /// has a longer one.
  static let longestValueBytes = 307_199

  /// Sets what requests of a configuration share, and the connection options for their server.
  ///
  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - extraFields: Receives header fields that the options need.
  ///   - lists: Receives lists, which the caller frees after the handle.
  func set(
    _ configuration: EasyHandle.Configuration, extraFields: inout [String],
    keeping lists: inout [UnsafeMutablePointer<curl_slist>?]
  ) throws(TransportError) {
    let options = configuration.options.value
    try set(CURLOPT_PATH_AS_IS, 1)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    // A proxy's response to CONNECT is not part of the response.
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Cancelling must not wait for an unresponsive resolver.
    try set(CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_BUFFERSIZE, Self.bufferBytes)
    // Without a limit libcurl ignores a content-length that exceeds the largest number.
    try set(CURLOPT_MAXFILESIZE, Int.max)
    // At that length, libcurl would end the response and drop its trailers.
    if configuration.wantsTrailers { try set(CURLOPT_IGNORE_CONTENT_LENGTH, 1) }
    // A forwarding proxy uses HTTP/1.1 to the server: HTTP/2 needs a tunnel.
    if options.httpVersion.isHTTP2WithoutTLS(configuration.url) { try set(CURLOPT_HTTPPROXYTUNNEL, 1) }
    try set(configuration.method == "GET" ? CURLOPT_HTTPGET : CURLOPT_POST, 1)
    if configuration.isStream {
      try set(CURLOPT_POSTFIELDSIZE, -1)
    } else if !configuration.isLarge {
      // libcurl allocates this buffer for each request, and fills it with zeros.
      try set(CURLOPT_UPLOAD_BUFFERSIZE, Self.leastUploadBytes)
    }
    try set(options, url: configuration.url, extraFields: &extraFields, keeping: &lists)
  }

  /// Sets the header fields of a request.
  ///
  /// - Parameters:
  ///   - headers: The fields.
  ///   - configuration: The configuration of the request.
  ///   - extraFields: Fields that the connection options need, unless the request has them.
  ///   - lists: Receives lists, which the caller frees after the handle.
  func set(
    _ headers: Headers, _ configuration: EasyHandle.Configuration, _ extraFields: [String],
    keeping lists: inout [UnsafeMutablePointer<curl_slist>?]
  ) throws(TransportError) {
    // Removes libcurl's default headers, which no RPC protocol uses.
    var fields = ["Expect:", "Accept:"]
    for field in headers.fields {
      guard field.value.utf8.count <= Self.longestValueBytes else {
        throw TransportError(
          .request,
          "the value of the header \(field.name) has \(field.value.utf8.count) bytes, more than the "
            + "\(Self.longestValueBytes) that can be sent")
      }
      // libcurl needs a semicolon for a field with an empty value: "Name:" would remove it.
      fields.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    if headers.first("host") == nil { fields += extraFields }
    try set(CURLOPT_HTTPHEADER, fields, keeping: &lists)
  }
}
