import RPCurlProtocols

/// Servers by name: `HOST` or `HOST:PORT`; `*.` before it matches the subdomains instead.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
  private let host: String
  /// The port; nil is any.
  private let port: Int?
  private let isDomain: Bool

  /// Parses a pattern; returns nil if it is invalid.
  ///
  /// - Parameter text: The pattern, as in the setting `hosts`.
  public init?(_ text: some StringProtocol) {
    isDomain = text.hasPrefix("*.")
    guard let (host, port) = Origin.split(isDomain ? text.dropFirst(2) : text[...]), !host.contains("*"),
      !host.contains("/")
    else { return nil }
    self.host = host
    self.port = port
  }

  /// Whether the pattern matches a server.
  package func matches(_ origin: Origin) -> Bool {
    (isDomain ? origin.host.hasSuffix(".\(host)") : origin.host == host)
      && (port ?? origin.port) == origin.port
  }

  /// The pattern as text.
  public var description: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return (isDomain ? "*." : "") + name + (port.map { ":\($0)" } ?? "")
  }
}
