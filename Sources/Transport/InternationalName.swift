import RPCurlCCurl

/// Host names that are not ASCII, as libcurl accepts them (IDNA 2008, RFC 5891): `xn--grn-ioa.example` for `grün.example`.
enum InternationalName {
  /// Converts the host in a URL, or at the start of an entry `HOST:PORT:…`. Other text stays unchanged.
  ///
  /// - Throws: An error of kind ``TransportError/Kind/request`` if the host is not a valid name, or libidn2 is missing.
  static func ascii(_ text: String) throws(TransportError) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    let bytes = text.utf8
    var start = bytes.startIndex
    if let slash = bytes.firstIndex(of: UInt8(ascii: "/")), bytes[..<slash].last == UInt8(ascii: ":") {
      start = bytes[slash...].firstIndex { $0 != UInt8(ascii: "/") } ?? bytes.endIndex
    }
    let authority = bytes[start...].prefix { $0 != UInt8(ascii: "/") }
    if let sign = authority.lastIndex(of: UInt8(ascii: "@")) { start = bytes.index(after: sign) }
    let host = authority[start...].prefix { $0 != UInt8(ascii: ":") }
    guard host.contains(where: { $0 >= 0x80 }) else { return text }
    return text[..<start] + (try converted(String(text[start..<host.endIndex]))) + text[host.endIndex...]
  }

  /// Converts the hosts at the start of entries.
  static func ascii(entries: [String]) throws(TransportError) -> [String] {
    var converted: [String] = []
    for entry in entries { converted.append(try ascii(entry)) }
    return converted
  }

  private static func converted(_ host: String) throws(TransportError) -> String {
    var ascii: UnsafeMutablePointer<CChar>?
    if let reason = ccurl_ascii_name(host, &ascii) {
      throw TransportError(.request, "the name \(host): \(String(cString: reason))")
    }
    guard let ascii else { return host }
    defer { ccurl_ascii_name_free(ascii) }
    return String(cString: ascii)
  }
}
