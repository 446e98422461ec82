import RPCurlCCurl
import RPCurlProtocols

/// The measurements of a transfer, and the facts of its connection.
extension Transfer {
  /// Copies libcurl's measurements into `metrics`.
  package func measure(into metrics: inout CallMetrics) {
    metrics.connect = time(CURLINFO_CONNECT_TIME_T)
    metrics.resolve = metrics.connect == nil ? nil : time(CURLINFO_NAMELOOKUP_TIME_T)
    metrics.tls = time(CURLINFO_APPCONNECT_TIME_T)
    metrics.sentBytes = sentBytes
    metrics.receivedBytes = receivedBytes
  }

  /// The address and port of the server, or of the proxy; nil if there is no connection, or one without an address.
  package var peer: String? { loop.peers.text(of: handle) }

  /// The bytes that libcurl has sent for this transfer.
  var sentSize: Int {
    var size = 0
    return ccurl_get_long(handle, CURLINFO_REQUEST_SIZE, &size) == CURLE_OK ? size : 0
  }

  /// How many connections libcurl has made for this transfer.
  var connectionsMade: Int {
    var count = 0
    return ccurl_get_long(handle, CURLINFO_NUM_CONNECTS, &count) == CURLE_OK ? count : 0
  }

  /// Whether a proxy forwards the request.
  var isForwarded: Bool {
    !options.httpVersion.needsTunnel(url) && ProxyAddress.name(for: url, options)?.hasPrefix("http") == true
  }

  /// The protocol that TLS negotiated for the connection; nil if unknown.
  var negotiated: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { name in
      guard let base = name.baseAddress, ccurl_negotiated(handle, base, name.count) else { return nil }
      return String(cString: base)
    }
  }

  /// The head of a response, with the facts of its connection.
  func withConnection(_ head: ResponseStart) -> ResponseStart {
    var head = head
    head.peer = peer ?? ""
    if isTLS, let version = ccurl_tls_version(handle) {
      head.tlsVersion = String(cString: version)
    }
    if isTLS, let certificates = loop.certificates {
      head.certificates = certificates.certificates(of: handle, head.peer, url)
    }
    return head
  }

  private func time(_ info: CURLINFO) -> Duration? {
    var microseconds: curl_off_t = 0
    guard ccurl_get_offset(handle, info, &microseconds) == CURLE_OK, microseconds > 0 else { return nil }
    return .microseconds(Int64(microseconds))
  }
}
