import Glibc
import Interception
import RPCProtocols

/// Fails calls after a plugin violates the ABI. `[any thread]`
///
/// A violation in a callback fails the callback's call. Another violation belongs to no call, so every call
/// of the plugin fails.
final class MisusePolicy: @unchecked Sendable {
  private let lock = Lock()
  private var calls: [UInt64: CallContext] = [:]
  /// The thread that runs a callback of the plugin.
  private var callbackThread: pthread_t?
  private var fault: String?

  func add(_ call: UInt64, _ context: CallContext) {
    lock.holding { calls[call] = context }
  }

  func remove(_ call: UInt64) {
    lock.holding { calls[call] = nil }
  }

  /// Runs a callback; returns the violation in it.
  func watch(_ body: () -> Void) -> String? {
    lock.holding {
      callbackThread = pthread_self()
      fault = nil
    }
    body()
    return lock.holding {
      callbackThread = nil
      return fault
    }
  }

  func note(_ what: String) {
    let ended: [CallContext] = lock.holding {
      guard callbackThread == pthread_self() else { return Array(calls.values) }
      fault = fault ?? what
      return []
    }
    for context in ended {
      context.fail(
        RPCError(.internal, "the plugin misbehaves: \(what)", origin: .interceptor(context.name)))
    }
  }
}
