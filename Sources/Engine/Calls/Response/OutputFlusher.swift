import RPCurlProgram
import RPCurlTransport

/// Flushes standard output from the event loop, which continues while the reader is slow.
package final class OutputFlusher {
  private let loop: EventLoop
  private let output: StandardOutput
  /// Called when the reader falls behind, and when it has caught up.
  private let onChange: (_ isBehind: Bool) -> Void
  /// Whether output waits for the reader.
  package private(set) var isBehind = false

  /// Flushes before each wait of the loop.
  package init(
    _ output: StandardOutput, _ loop: EventLoop, whenBehind onChange: @escaping (_ isBehind: Bool) -> Void
  ) {
    self.output = output
    self.loop = loop
    self.onChange = onChange
    loop.beforeWait = { [weak self] in self?.pump() ?? false }
    output.whenFull = { [weak self] in _ = self?.pump() }
  }

  /// Stops. Output is then written by waiting for the reader.
  package func finish() {
    stop()
    output.flush()
  }

  /// Stops without waiting for the reader: another flusher follows, which notices by itself whether the reader is behind.
  package func handOver() {
    stop()
    if isBehind { onChange(false) }
  }

  private func stop() {
    loop.beforeWait = { false }
    output.whenFull = nil
    if isBehind { loop.unwatchWriting(output.descriptor) }
  }

  /// Flushes what the reader accepts. Returns whether it has caught up.
  private func pump() -> Bool {
    let isNowBehind = !output.flushWhatFits()
    guard isNowBehind != isBehind else { return false }
    isBehind = isNowBehind
    // While another program uses the terminal, nothing is written to it.
    if isBehind, !output.error.terminal.isLent {
      loop.watchWriting(output.descriptor) { [weak self] in _ = self?.pump() }
    } else {
      loop.unwatchWriting(output.descriptor)
    }
    onChange(isBehind)
    return !isBehind
  }
}
