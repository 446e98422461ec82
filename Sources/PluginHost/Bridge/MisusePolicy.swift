import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// Fails calls after a plugin violates the ABI. `[any thread]`
///
/// A violation in a callback fails the callback's call. Another violation belongs to no call, so every call
/// of the plugin fails.
final class MisusePolicy: Sendable {
  private struct State {
    var calls: [UInt64: CallHandle] = [:]
    /// The thread that runs a callback of the plugin.
    var callbackThread: UInt?
    var fault: String?
  }

  private let state = Locked(State())

  func add(_ call: UInt64, _ handle: CallHandle) {
    state.withLock { $0.calls[call] = handle }
  }

  func remove(_ call: UInt64) {
    state.withLock { $0.calls[call] = nil }
  }

  /// Runs a callback; returns the violation in it.
  func watch(_ body: () -> Void) -> String? {
    state.withLock {
      $0.callbackThread = currentThreadIdentity()
      $0.fault = nil
    }
    body()
    return state.withLock {
      $0.callbackThread = nil
      return $0.fault
    }
  }

  func note(_ what: String) {
    let ended: [CallHandle] = state.withLock {
      guard $0.callbackThread == currentThreadIdentity() else { return Array($0.calls.values) }
      $0.fault = $0.fault ?? what
      return []
    }
    for handle in ended {
      handle.fail(RPCError(.internal, "the plugin misbehaves: \(what)", origin: .interceptor(handle.name)))
    }
  }
}
