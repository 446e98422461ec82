import Output
import Transport

/// Writes standard output from the event loop, which goes on while the reader takes nothing.
package final class OutputFlusher {
  private let loop: EventLoop
  /// Called when the reader is behind, and when all was taken.
  private let tell: (_ isBehind: Bool) -> Void
  /// Whether the reader has not taken what was written.
  package private(set) var isBehind = false

  /// Takes over the loop's moment to flush.
  package init(_ loop: EventLoop, whenBehind tell: @escaping (_ isBehind: Bool) -> Void) {
    self.loop = loop
    self.tell = tell
    loop.beforeWait = { [weak self] in self?.pump() ?? false }
    StandardOutput.whenFull = { [weak self] in _ = self?.pump() }
  }

  /// Gives output back, to be written by waiting for the reader.
  package func finish() {
    loop.beforeWait = { false }
    StandardOutput.whenFull = nil
    if isBehind { loop.unwatchWriting(StandardOutput.descriptor) }
    StandardOutput.flush()
  }

  /// Returns whether the reader has caught up, so that what waited for it may go on.
  private func pump() -> Bool {
    let isNowBehind = !StandardOutput.flushWhatFits()
    guard isNowBehind != isBehind else { return false }
    isBehind = isNowBehind
    // Nobody would take it while the terminal is lent, however ready that is.
    if isBehind, !TerminalMultiplexer.isLent {
      loop.watchWriting(StandardOutput.descriptor) { [weak self] in _ = self?.pump() }
    } else {
      loop.unwatchWriting(StandardOutput.descriptor)
    }
    tell(isBehind)
    return !isBehind
  }
}
