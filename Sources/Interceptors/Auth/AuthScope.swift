import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// The servers that may receive credentials.
final class AuthScope: Sendable {
  private let hosts: Selection<HostPattern>
  private let first = Locked<Origin?>(nil)

  /// Makes a scope.
  ///
  /// - Parameter hosts: The servers; a selection of all limits the scope to the server of the first call.
  init(_ hosts: Selection<HostPattern>) {
    self.hosts = hosts
  }

  /// Records the target that a call's caller requested.
  func note(target: String) {
    guard hosts.selectsAll else { return }
    first.withLock { $0 = $0 ?? Origin(url: target) }
  }

  /// Whether a server may receive the credentials.
  func contains(_ origin: Origin) -> Bool {
    hosts.selectsAll ? first.withLock { $0 == origin } : hosts.contains { $0.matches(origin) }
  }
}
