import Glibc
import Interception
import RPCProtocols

/// Lets the misuse of its interface by a plugin fail calls. `[any thread]`
///
/// Misuse in a callback fails the call that the callback is for. Misuse elsewhere cannot be assigned to a call, so
/// every call that the plugin takes part in fails.
final class MisusePolicy: @unchecked Sendable {
  private let lock = Lock()
  private var calls: [UInt64: CallContext] = [:]
  /// The thread that is in a callback of the plugin.
  private var callbackThread: pthread_t?
  private var fault: String?

  func add(_ call: UInt64, _ context: CallContext) {
    lock.holding { calls[call] = context }
  }

  func remove(_ call: UInt64) {
    lock.holding { calls[call] = nil }
  }

  /// Runs a callback; gives what the plugin did wrong in it.
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
