import RPCurlBase
import RPCurlCCurl
import RPCurlProtocols

/// Detects a peer that stopped responding on a silent connection of HTTP/2.
///
/// It sends an HTTP/2 PING (RFC 9113, section 6.7). Any byte received within a time limit counts as a response; TCP counts bytes, so the caller need not read them. While bytes are unread, the peer may have no room to
/// send more, and its silence has no meaning.
final class KeepAlive {
  private enum State {
    /// The connection received data within `time`.
    case alive
    /// It did not for a time, and a PING was sent.
    case asked(at: MonotonicClock.Instant, after: Duration)
    case stopped
  }

  /// The first libcurl that sends a PING on a connection in use: 8.14.0.
  private static let firstVersion = OldLibcurl.firstCorrectVersion

  private let time: Duration
  private let timeout: Duration
  private let socket: Int32
  private unowned let loop: EventLoop
  private let onDeath: (TransportError) -> Void
  private var state = State.alive
  private var timer: EventLoop.TimerID?

  /// Starts watching. Returns nil if libcurl cannot send a PING.
  ///
  /// - Parameters:
  ///   - time: The silence after which a PING is sent.
  ///   - timeout: The time that the peer may take to respond.
  ///   - socket: The socket of the connection.
  ///   - onDeath: Called once if the peer does not respond.
  init?(
    _ time: Duration, timeout: Duration, _ socket: Int32, _ loop: EventLoop,
    onDeath: @escaping (TransportError) -> Void
  ) {
    guard let version = ccurl_version_info()?.pointee.version_num, version >= Self.firstVersion else {
      return nil
    }
    self.time = time
    self.timeout = timeout
    self.socket = socket
    self.loop = loop
    self.onDeath = onDeath
    look(in: time)
  }

  /// Stops watching.
  func stop() {
    state = .stopped
    if let timer { loop.cancel(timer) }
  }

  /// Waits for a response to another PING: the peer may have had no room to respond before the caller read again.
  func receivingResumed() {
    if case .asked = state { state = .alive }
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
      look(in: timeout)
    // Compares with half of the earlier silence, because the kernel counts in ticks and this process may have
    // been stopped.
    case .asked(let then, let before) where silence < .now - then + before / 2:
      state = .alive
      look(in: max(time - silence, .zero))
    case .asked:
      onDeath(
        TransportError(.broken, "the server did not respond to an HTTP/2 PING within \(timeout.inSeconds)"))
    }
  }
}
