import RPCurlBase
/// Keeps the end of what is written to it, in memory.
package final class OutputCapture: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    /// Whether earlier bytes were removed.
    var isCut = false
  }

  private let state = Locked(State())
  private let limitBytes: Int

  /// Creates a capture that is empty.
  ///
  /// - Parameter limitBytes: The most that is kept.
  package init(limitBytes: Int = 64 << 10) {
    self.limitBytes = limitBytes
  }

  /// Appends bytes.
  func append(_ bytes: UnsafeRawBufferPointer) {
    state.withLock { state in
      state.bytes += bytes.suffix(limitBytes)
      state.isCut = state.isCut || bytes.count > limitBytes
      // Twice the limit, so that the end is moved only once for as many bytes as it has.
      if state.bytes.count > 2 * limitBytes { Self.cut(&state, to: limitBytes) }
    }
  }

  /// The end of what was written since the last call of this function, after `…` if that was more.
  package func take() -> String {
    state.withLock { state in
      Self.cut(&state, to: limitBytes)
      defer { state = State() }
      let text = String(decoding: state.bytes, as: UTF8.self)
      return state.isCut ? "…\(text)" : text
    }
  }

  private static func cut(_ state: inout State, to limit: Int) {
    guard state.bytes.count > limit else { return }
    state.bytes.removeFirst(state.bytes.count - limit)
    state.isCut = true
  }
}
