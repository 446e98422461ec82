import RPCurlCCurl
import RPCurlPlatform

/// The address at the other end of a connection.
struct PeerAddress {
  /// The last address and its text: most requests go to the same server.
  private var last: (address: [CChar], port: Int, text: String)?

  /// The address and port that a handle's request was sent to, such as `127.0.0.1:50051` or `[::1]:50051`; nil if it has
  /// no connection, or one without an address.
  mutating func text(of handle: UnsafeMutableRawPointer) -> String? {
    var port = 0
    guard let address = ccurl_get_string(handle, CURLINFO_PRIMARY_IP), address.pointee != 0,
      ccurl_get_long(handle, CURLINFO_PRIMARY_PORT, &port) == CURLE_OK, port > 0
    else { return nil }
    if let last, last.port == port, strcmp(last.address, address) == 0 { return last.text }
    let host = String(cString: address)
    let text = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
    last = (Array(host.utf8CString), port, text)
    return text
  }
}
