import RPCurlCPlugins
import RPCurlPlatform

/// The last errors of a plugin's file on each thread. Those of a thread are removed when it ends.
final class ThreadErrors: Sendable {
  /// The errors of a file on one thread.
  private struct Errors {
    /// The text from set_error.
    var reason: (callback: UInt64, text: String)?
    /// The failure of a host function.
    var noted: (callback: UInt64, failure: ABIFailure, text: rpcurl_text, memory: Arena)?
    /// The memory of the shared value that was read last.
    var lent: Arena?
  }

  /// The errors on one thread, by file.
  private final class ErrorsByFile {
    var errors: [ObjectIdentifier: Errors] = [:]
  }

  /// The key of the errors of each thread, for all files; nil if the process has no more keys: then errors have no text.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key) { errors in
      guard let errors else { return }
      Unmanaged<ErrorsByFile>.fromOpaque(errors).release()
    }
    return result == 0 ? key : nil
  }()

  /// The errors of this thread; nil if it has none.
  private static var present: ErrorsByFile? {
    key.flatMap { pthread_getspecific($0) }.map {
      Unmanaged<ErrorsByFile>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The errors of the file on this thread; nil if it has none.
  private var errors: Errors? { Self.present?.errors[ObjectIdentifier(self)] }

  /// Changes the errors of the file on this thread.
  private func change(_ body: (inout Errors) -> Void) {
    let file = ObjectIdentifier(self)
    if let present = Self.present { return body(&present.errors[file, default: Errors()]) }
    guard let key = Self.key else { return }
    let made = ErrorsByFile()
    body(&made.errors[file, default: Errors()])
    let retained = Unmanaged.passRetained(made)
    if pthread_setspecific(key, retained.toOpaque()) != 0 { retained.release() }
  }

  func setReason(_ text: String) { change { $0.reason = (plugin_guard_sequence(), text) } }

  func note(_ failure: ABIFailure) {
    let arena = Arena()
    change { $0.noted = (plugin_guard_sequence(), failure, arena.text(failure.text), arena) }
  }

  /// Copies a text, valid until the next one on this thread.
  func lend(_ text: String) -> rpcurl_text {
    let arena = Arena()
    change { $0.lent = arena }
    return arena.text(text)
  }

  /// The reason for the failure of the callback that just returned on this thread. Texts from earlier
  /// callbacks are ignored.
  func reason(_ code: Int32) -> String? {
    let callback = plugin_guard_sequence() &- 1
    let errors = errors
    if errors?.reason != nil { change { $0.reason = nil } }
    if let reason = errors?.reason, reason.callback == callback { return reason.text }
    guard let noted = errors?.noted, noted.callback == callback, noted.failure.code == code else {
      return nil
    }
    return noted.failure.text
  }

  var last: rpcurl_text { errors?.noted?.text ?? rpcurl_text(data: nil, size: 0) }
}
