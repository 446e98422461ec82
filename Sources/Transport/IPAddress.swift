import RPCurlPlatform

/// IP addresses as text.
package enum IPAddress {
  /// The bytes of an IPv4 or IPv6 address without brackets; nil if the text is not one.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, String(text), &bytes) == 1 { return bytes }
    }
    return nil
  }
}
