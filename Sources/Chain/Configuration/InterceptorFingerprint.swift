import RPCurlBase
import RPCurlProtobuf

/// Identifies what an interceptor does to calls: a digest of its name, its settings, and the files that it is made of.
///
/// Two interceptors with the same fingerprint do the same. A cache has those of the interceptors further in in its keys.
package final class InterceptorFingerprint: Sendable {
  private enum State {
    case unknown(@Sendable () -> [String]?)
    case known(String?)
  }

  private let state: Locked<State>

  /// Makes the fingerprint of an interceptor.
  ///
  /// - Parameters:
  ///   - name: The name of the built-in interceptor, or of the plugin.
  ///   - settings: All settings of the interceptor except the common ones. Their values do not appear in the text.
  ///   - digests: Returns the digests of the files that it is made of; nil if they are not known. Called at most once, when
  ///     the fingerprint is needed.
  package init(
    _ name: String, _ settings: [InterceptorSpec.Setting], digests: @escaping @Sendable () -> [String]?
  ) {
    state = Locked(
      .unknown {
        digests().map { [name] + settings.flatMap { [$0.key, $0.value] } + ["\(settings.count)"] + $0 }
      })
  }

  /// The digest as hexadecimal digits; nil if a file of the interceptor is not known.
  package var text: String? {
    state.withLock { state in
      switch state {
      case .known(let text): return text
      case .unknown(let parts):
        // Each part ends with a byte that UTF-8 does not contain.
        let text = parts().map { SHA256.digest(of: $0.flatMap { Array($0.utf8) + [0xFF] }) }
        state = .known(text)
        return text
      }
    }
  }
}
