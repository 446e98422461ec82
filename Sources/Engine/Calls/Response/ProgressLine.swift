import RPCurlBase
import RPCurlProgram
import RPCurlReports
import RPCurlTransport

/// A line on the terminal that shows the progress of a command that takes long and prints nothing meanwhile.
package final class ProgressLine {
  /// A command that ends sooner shows no progress.
  private static let delay = Duration.seconds(1)
  private static let interval = Duration.milliseconds(200)

  private let loop: EventLoop
  private let error: StandardError
  private let progress: () -> Progress
  private let begin = MonotonicClock.now
  private var timer: EventLoop.TimerID?
  /// The calls and bytes of the last second, for the rates.
  private var samples: [(time: MonotonicClock.Instant, calls: Int, bytes: Int)]

  /// Whether messages are printed on a terminal meanwhile, and the bytes that are sent until the line is shown there: what
  /// is typed is less.
  private let sharesTerminal: Bool
  private static let sharingBytes = 1 << 20

  /// Creates the line; returns nil if standard error is not a terminal.
  ///
  /// - Parameters:
  ///   - console: Where the command prints.
  ///   - loop: Its loop.
  ///   - printsMessages: Whether messages are printed on standard output meanwhile.
  ///   - progress: Returns what has been done so far.
  package init?(
    _ console: Console, _ loop: EventLoop, printsMessages: Bool = true, progress: @escaping () -> Progress
  ) {
    error = console.error
    guard error.isTerminal, error.diagnostics.showsRemarks else { return nil }
    sharesTerminal = printsMessages && console.output.isTerminal
    self.loop = loop
    self.progress = progress
    samples = [(begin, 0, 0)]
    timer = loop.schedule(at: begin + Self.delay) { [weak self] in self?.draw() }
  }

  /// Removes the line for good.
  package func finish() {
    if let timer { loop.cancel(timer) }
    timer = nil
    error.show(progress: nil)
  }

  private func draw() {
    let now = MonotonicClock.now
    let progress = progress()
    if sharesTerminal, progress.receivedMessages > 0 { return finish() }
    let calls = progress.calls?.ended ?? 0
    let past = samples[0]
    samples.append((now, calls, progress.bytes))
    if samples.count > 5 { samples.removeFirst() }
    let seconds = (now - past.time) / .seconds(1)
    let rates = (
      Double(max(calls - past.calls, 0)) / seconds, Double(max(progress.bytes - past.bytes, 0)) / seconds
    )
    timer = loop.schedule(at: now + Self.interval) { [weak self] in self?.draw() }
    if sharesTerminal, progress.sentBytes < Self.sharingBytes { return }
    // A wrapped line could not be removed.
    error.show(progress: String(progress.text(rates: rates, elapsed: now - begin).prefix(error.columns - 1)))
  }
}
