/// Where a URL leads: what a browser calls its origin. Credentials and counts of failures belong to one.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// `http` or `https`.
  public let scheme: String
  /// The host in lower case; an IPv6 address without its brackets.
  public let host: String
  /// The port, also where the URL leaves it to the scheme.
  public let port: Int

  /// Reads the origin off a URL; `nil` when it is none of http or https.
  public init?(url: some StringProtocol) {
    let url = url.lowercased()
    guard let scheme = ["https", "http"].first(where: { url.hasPrefix("\($0)://") }) else { return nil }
    let authority = url.dropFirst(scheme.count + 3).prefix { !"/?#".contains($0) }
    guard !authority.contains("@"), let (host, port) = Self.split(authority) else { return nil }
    self.scheme = scheme
    self.host = host
    self.port = port ?? (scheme == "https" ? 443 : 80)
  }

  /// Splits `host[:port]`; `nil` when it is none.
  public static func split(_ authority: some StringProtocol) -> (host: String, port: Int?)? {
    var host = String(authority).lowercased()
    var port: Int?
    if !host.hasSuffix("]"), let colon = host.lastIndex(of: ":"),
      host.hasPrefix("[") || host.firstIndex(of: ":") == colon
    {
      guard let number = UInt16(host[host.index(after: colon)...]) else { return nil }
      port = Int(number)
      host = String(host[..<colon])
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    return host.isEmpty ? nil : (host, port)
  }

  /// Whether the host is this machine.
  public var isLocal: Bool { Self.isLocal(host: host) }

  /// Whether a host, in lower case, is this machine. libcurl asks no resolver for these names.
  public static func isLocal(host: String) -> Bool {
    if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
    // A text that only resembles an address would be looked up as a name.
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { $0.allSatisfy { ("0"..."9").contains($0) } && UInt8($0) != nil }
  }

  /// Whether what is sent there can be read on the way, as far as the URL alone says.
  public var isExposed: Bool { scheme != "https" && !isLocal }

  /// Host and port.
  public var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
