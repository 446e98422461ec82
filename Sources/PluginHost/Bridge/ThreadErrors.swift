import CPluginABI
import CPluginGuard
import Glibc

/// The last errors of a plugin's file on each thread. Those of a thread are removed when it ends.
final class ThreadErrors: Sendable {
  /// The text from set_error.
  private struct Reason {
    let callback: UInt64
    let text: String
  }

  /// The failure of a host function.
  private struct Noted {
    let callback: UInt64
    let failure: ABIFailure
    let arena: Arena
    let text: rpcurl_text
  }

  /// The errors of a thread.
  private final class Errors {
    var reasons: [ObjectIdentifier: Reason] = [:]
    var noted: [ObjectIdentifier: Noted] = [:]
    /// The memory of the shared values that were read last.
    var lent: [ObjectIdentifier: Arena] = [:]
  }

  /// The key of the errors of each thread, for all files; nil if the process has no more keys: then errors have no text.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key) { errors in
      guard let errors else { return }
      Unmanaged<Errors>.fromOpaque(errors).release()
    }
    return result == 0 ? key : nil
  }()

  /// The errors of this thread; nil if it has none.
  private static var present: Errors? {
    key.flatMap { pthread_getspecific($0) }.map { Unmanaged<Errors>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Changes the errors of this thread.
  private static func change(_ body: (Errors) -> Void) {
    if let present { return body(present) }
    guard let key else { return }
    let made = Errors()
    body(made)
    let retained = Unmanaged.passRetained(made)
    if pthread_setspecific(key, retained.toOpaque()) != 0 { retained.release() }
  }

  func setReason(_ text: String) {
    Self.change { $0.reasons[ObjectIdentifier(self)] = Reason(callback: plugin_guard_sequence(), text: text) }
  }

  func note(_ failure: ABIFailure) {
    let arena = Arena()
    let noted = Noted(
      callback: plugin_guard_sequence(), failure: failure, arena: arena, text: arena.text(failure.text))
    Self.change { $0.noted[ObjectIdentifier(self)] = noted }
  }

  /// Copies a text, valid until the next one on this thread.
  func lend(_ text: String) -> rpcurl_text {
    let arena = Arena()
    Self.change { $0.lent[ObjectIdentifier(self)] = arena }
    return arena.text(text)
  }

  /// The reason for the failure of the callback that just returned on this thread. Texts from earlier
  /// callbacks are ignored.
  func reason(_ code: Int32) -> String? {
    let callback = plugin_guard_sequence() &- 1
    let reason = Self.present?.reasons.removeValue(forKey: ObjectIdentifier(self))
    if let reason, reason.callback == callback { return reason.text }
    guard let noted = Self.present?.noted[ObjectIdentifier(self)], noted.callback == callback,
      noted.failure.code == code
    else { return nil }
    return noted.failure.text
  }

  var last: rpcurl_text {
    Self.present?.noted[ObjectIdentifier(self)]?.text ?? rpcurl_text(data: nil, size: 0)
  }
}
