import RPCProtocols
import Synchronization

/// The servers that may receive credentials.
final class AuthScope: Sendable {
  /// A host with or without a port; `*.` before it matches its subdomains.
  private struct Pattern {
    let host: String
    let port: Int?
    let isDomain: Bool

    init?(_ text: Substring) {
      isDomain = text.hasPrefix("*.")
      guard let (host, port) = Origin.split(isDomain ? text.dropFirst(2) : text), !host.contains("*"),
        !host.contains("/")
      else { return nil }
      self.host = host
      self.port = port
    }

    func matches(_ origin: Origin) -> Bool {
      (isDomain ? origin.host.hasSuffix(".\(host)") : origin.host == host)
        && (port ?? origin.port) == origin.port
    }
  }

  private let patterns: [Pattern]
  private let first = Mutex<Origin?>(nil)

  /// Makes a scope from a list of hosts; `nil` if one is invalid.
  ///
  /// - Parameter hosts: The hosts; `nil` limits the scope to the server of the first call.
  init?(_ hosts: String?) {
    var patterns: [Pattern] = []
    for word in hosts?.split(whereSeparator: { "+, ".contains($0) }) ?? [] {
      guard let pattern = Pattern(word) else { return nil }
      patterns.append(pattern)
    }
    if hosts != nil, patterns.isEmpty { return nil }
    self.patterns = patterns
  }

  /// Records the target that a call's caller requested.
  func note(target: String) {
    guard patterns.isEmpty else { return }
    first.withLock { $0 = $0 ?? Origin(url: target) }
  }

  /// Whether a server may receive the credentials.
  func contains(_ origin: Origin) -> Bool {
    patterns.isEmpty ? first.withLock { $0 == origin } : patterns.contains { $0.matches(origin) }
  }
}
