import RPCProtocols
import Synchronization

/// The servers that credentials are for: no other gets them.
final class AuthScope: Sendable {
  /// A host, with a port or for all of them; `*.` before it stands for the hosts below it.
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

  /// Makes a scope of the hosts that a user wrote; `nil` when one of them is none.
  ///
  /// - Parameter hosts: The hosts. Without any, the scope is the server that the first call is made to.
  init?(_ hosts: String?) {
    var patterns: [Pattern] = []
    for word in hosts?.split(whereSeparator: { "+, ".contains($0) }) ?? [] {
      guard let pattern = Pattern(word) else { return nil }
      patterns.append(pattern)
    }
    if hosts != nil, patterns.isEmpty { return nil }
    self.patterns = patterns
  }

  /// Notes where a call is made to, as its caller asked for it.
  func note(target: String) {
    guard patterns.isEmpty else { return }
    first.withLock { $0 = $0 ?? Origin(url: target) }
  }

  /// Whether a server may have the credentials.
  func contains(_ origin: Origin) -> Bool {
    patterns.isEmpty ? first.withLock { $0 == origin } : patterns.contains { $0.matches(origin) }
  }
}
