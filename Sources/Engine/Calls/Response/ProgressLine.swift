import RPCurlBase
import RPCurlProgram
import RPCurlProtocols
import RPCurlTransport

/// A line on the terminal that shows the traffic of a long call that prints nothing.
package final class ProgressLine {
  /// The messages and bytes transferred so far.
  package struct Traffic {
    package var sentMessages = 0
    package var receivedMessages = 0
    package var sentBytes = 0
    package var receivedBytes = 0

    package init(
      sentMessages: Int = 0, receivedMessages: Int = 0, sentBytes: Int = 0, receivedBytes: Int = 0
    ) {
      self.sentMessages = sentMessages
      self.receivedMessages = receivedMessages
      self.sentBytes = sentBytes
      self.receivedBytes = receivedBytes
    }
  }

  /// A call that ends sooner shows no progress.
  private static let delay = Duration.seconds(1)
  private static let interval = Duration.milliseconds(200)

  private let loop: EventLoop
  private let error: StandardError
  private let traffic: () -> Traffic
  private let begin = MonotonicClock.now
  private var timer: EventLoop.TimerID?
  /// The traffic of the last second, for the rate.
  private var samples: [(time: MonotonicClock.Instant, bytes: Int)] = []

  /// Creates the line; returns nil if standard error is not a terminal or messages are printed on it.
  package init?(_ console: Console, _ loop: EventLoop, traffic: @escaping () -> Traffic) {
    error = console.error
    guard error.isTerminal, !console.output.isTerminal, error.diagnostics.showsRemarks else { return nil }
    self.loop = loop
    self.traffic = traffic
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
    let traffic = traffic()
    let bytes = traffic.sentBytes + traffic.receivedBytes
    let past = samples.first ?? (begin, 0)
    samples.append((now, bytes))
    if samples.count > 5 { samples.removeFirst() }
    let rate = Double(max(bytes - past.bytes, 0)) / ((now - past.time) / .seconds(1))
    let line = Self.text(traffic, rate: rate, elapsed: now - begin)
    // A wrapped line could not be removed.
    error.show(progress: String(line.prefix(error.columns - 1)))
    timer = loop.schedule(at: now + Self.interval) { [weak self] in self?.draw() }
  }

  /// The text of the line, for example `sent 1 message, 17 B; received 3 messages, 1.2 MiB; 340.0 KiB/s; 0:05`.
  ///
  /// - Parameters:
  ///   - traffic: The traffic so far.
  ///   - rate: The transfer rate in bytes per second.
  ///   - elapsed: The time since the start of the call.
  package static func text(_ traffic: Traffic, rate: Double, elapsed: Duration) -> String {
    func count(_ messages: Int) -> String { "\(messages) message\(messages == 1 ? "" : "s")" }
    let seconds = elapsed.components.seconds
    let parts = [
      "sent \(count(traffic.sentMessages)), \(size(Double(traffic.sentBytes)))",
      "received \(count(traffic.receivedMessages)), \(size(Double(traffic.receivedBytes)))",
      "\(size(rate))/s", "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)",
    ]
    return parts.joined(separator: "; ")
  }

  /// A size with its unit; from KiB, with one decimal digit.
  private static func size(_ bytes: Double) -> String {
    var number = bytes
    var units = ["B", "KiB", "MiB", "GiB", "TiB"][...]
    while number >= 1024, units.count > 1 {
      number /= 1024
      units.removeFirst()
    }
    guard let unit = units.first, unit != "B" else { return "\(Int(number)) B" }
    let tenths = Int(number * 10)
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }
}
