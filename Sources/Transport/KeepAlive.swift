import CCurl
import RPCProtocols

/// Detects a peer that no longer responds, on a connection that is silent for a time.
///
/// The peer is asked with HTTP/2's PING (RFC 9113, section 6.7). Whatever it sends within the same time again shows that
/// it is there; TCP counts that, so it does not matter whether the caller reads.
final class KeepAlive {
  private enum State {
    /// The connection has received something within `time`.
    case alive
    /// It has not for a time, and a PING was sent.
    case asked(at: MonotonicClock.Instant, after: Duration)
    case stopped
  }

  /// The first libcurl that sends a PING for a connection in use: 8.14.0.
  private static let firstVersion = OldLibcurl.firstCorrectVersion

  private let time: Duration
  private let socket: Int32
  private unowned let loop: EventLoop
  private let onDeath: (TransportError) -> Void
  private var state = State.alive
  private var timer: EventLoop.TimerID?

  /// - Parameters:
  ///   - time: How long the connection may be silent before the peer is asked, and how long it may take to respond.
  ///   - socket: The socket of the connection.
  ///   - onDeath: Called once if the peer does not respond.
  ///
  /// Returns nil where libcurl sends no PING.
  init?(
    _ time: Duration, _ socket: Int32, _ loop: EventLoop,
    onDeath: @escaping (TransportError) -> Void
  ) {
    guard let version = ccurl_version_info()?.pointee.version_num, version >= Self.firstVersion else {
      return nil
    }
    self.time = time
    self.socket = socket
    self.loop = loop
    self.onDeath = onDeath
    look(in: time)
  }

  /// Stops asking.
  func stop() {
    state = .stopped
    if let timer { loop.cancel(timer) }
  }

  private func look(in delay: Duration) {
    timer = loop.schedule(at: .now + delay) { [weak self] in self?.look() }
  }

  private func look() {
    let milliseconds = ccurl_silence(socket)
    // Not a TCP connection.
    guard milliseconds >= 0 else { return }
    let silence = Duration.milliseconds(milliseconds)
    switch state {
    case .stopped: break
    case .alive where silence < time: look(in: time - silence)
    case .alive:
      guard loop.ping() else { return }
      state = .asked(at: .now, after: silence)
      look(in: time)
    // Half of the silence before, because the kernel counts in ticks. This process may have been stopped since.
    case .asked(let then, let before) where silence < .now - then + before / 2:
      state = .alive
      look(in: max(time - silence, .zero))
    case .asked:
      onDeath(TransportError(.broken, "the server did not respond to an HTTP/2 PING within \(time)"))
    }
  }
}
