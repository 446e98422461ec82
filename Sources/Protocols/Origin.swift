import RPCurlProtobuf

/// The origin of a URL: scheme, host and port. Credentials and failure counts belong to one origin.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// `http` or `https`.
  public let scheme: String
  /// The host in lower case; an IPv6 address without its brackets.
  public let host: String
  /// The port; the scheme's default if the URL has none.
  public let port: Int

  /// Parses the origin of a URL; `nil` if it is not an HTTP URL.
  ///
  /// - Parameter url: The URL.
  public init?(url: some StringProtocol) {
    self.init(lowercased: url.lowercased())
  }

  // Not generic, as the parser of `MethodName`.
  private init?(lowercased url: String) {
    guard let scheme = ["https", "http"].first(where: { url.hasPrefix("\($0)://") }) else { return nil }
    let authority = Substring(url.utf8.dropFirst(scheme.utf8.count + 3).prefix { !"/?#".utf8.contains($0) })
    guard !authority.utf8.contains(UInt8(ascii: "@")), let (host, port) = Self.split(authority) else {
      return nil
    }
    self.scheme = scheme
    self.host = host
    self.port = port ?? (scheme == "https" ? 443 : 80)
  }

  /// Splits `host[:port]`; `nil` if invalid.
  package static func split(_ authority: some StringProtocol) -> (host: String, port: Int?)? {
    let (open, close, colon) = (UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"))
    var host = Substring(authority).lowercased().utf8[...]
    var port: Int?
    if host.last != close, let last = host.lastIndex(of: colon),
      host.first == open || host.firstIndex(of: colon) == last
    {
      guard let number = UInt16(Substring(host[host.index(after: last)...])) else { return nil }
      port = Int(number)
      host = host[..<last]
    }
    if host.first == open, host.last == close { host = host.dropFirst().dropLast() }
    return host.isEmpty ? nil : (String(Substring(host)), port)
  }

  /// Whether the host is this machine.
  public var isLocal: Bool { Self.isLocal(host: host) }

  /// Whether a host, in lower case, is this machine. libcurl does not resolve these names.
  package static func isLocal(host: String) -> Bool {
    if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
    // A text that only resembles an address is resolved as a name.
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { $0.allSatisfy { ("0"..."9").contains($0) } && UInt8($0) != nil }
  }

  /// Whether others on the network can read the traffic, judging by the URL alone.
  package var isExposed: Bool { scheme != "https" && !isLocal }

  /// Host and port.
  public var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

extension String {
  /// The URL without user name and password.
  package var withoutUserInfo: String {
    // Bytes: a character that is compared includes the combining marks after it.
    guard utf8.contains(UInt8(ascii: "@")), let scheme = firstRange(of: "://") else { return self }
    let rest = self[scheme.upperBound...]
    let authority = rest.utf8.prefix { $0 != UInt8(ascii: "/") }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return self }
    return "\(self[..<scheme.upperBound])\(rest[rest.utf8.index(after: at)...])"
  }
}
