import CCurl

/// The address at the other end of a connection.
enum PeerAddress {
  /// The address and port that a handle's request was sent to, such as `127.0.0.1:50051` or `[::1]:50051`; nil if it has
  /// no connection, or one without an address.
  static func text(of handle: UnsafeMutableRawPointer) -> String? {
    var port = 0
    guard let address = ccurl_get_string(handle, CURLINFO_PRIMARY_IP).map({ String(cString: $0) }),
      !address.isEmpty, ccurl_get_long(handle, CURLINFO_PRIMARY_PORT, &port) == CURLE_OK, port > 0
    else { return nil }
    return "\(address.contains(":") ? "[\(address)]" : address):\(port)"
  }
}
