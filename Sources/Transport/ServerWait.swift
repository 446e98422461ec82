import RPCurlBase
import RPCurlProtocols

/// Waits until a server accepts connections: makes one after the other without a request, with a pause after each that fails.
package final class ServerWait {
  /// The time that the last connection may take.
  private static let lastTime = Duration.milliseconds(50)

  private let url: String
  private let options: ConnectionOptions
  private let end: MonotonicClock.Instant
  private unowned let loop: EventLoop
  private var probe: ConnectionProbe?
  private var diagnosis: ConnectionDiagnosis?
  private var timer: EventLoop.TimerID?
  private var failures = 0
  /// Whether the wait has ended.
  package private(set) var isOver = false
  /// Why the last connection failed; nil before the first one, and if no wait can help: the server is ready, or a call fails
  /// for another reason.
  package private(set) var problem: TransportError?

  /// Starts to wait.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - options: The options of its connections.
  ///   - end: When the wait ends at the latest.
  package init(
    for url: String, _ options: ConnectionOptions, until end: MonotonicClock.Instant, loop: EventLoop
  ) {
    var options = options
    options.diagnosisTime = ConnectionDiagnosis.usualTime
    (self.url, self.options, self.end, self.loop) = (url, options, end, loop)
    connect()
  }

  /// Ends the wait.
  package func cancel() {
    isOver = true
    probe?.cancel()
    probe = nil
    diagnosis?.cancel()
    if let timer { loop.cancel(timer) }
  }

  /// Whether the server sends the first bytes: a gateway that accepts connections for a server that has not started closes them.
  private var expectsFirstBytes: Bool {
    options.httpVersion.isHTTP2WithoutTLS(url)
  }

  private func connect() {
    do throws(TransportError) {
      let probe = try ConnectionProbe(
        url, options, expectsFirstBytes ? .readFirstBytes : .connect, loop: loop
      ) { [weak self] in self?.receive($0) }
      self.probe = probe
      probe.start(limit: max(min(options.connectTimeout, end - .now), Self.lastTime))
    } catch {
      // An invalid option, which the call reports.
      isOver = true
    }
  }

  private func receive(_ facts: ConnectionFacts) {
    probe = nil
    let reason = facts.reasonToWait(expectsFirstBytes: expectsFirstBytes)
    // A server that is ready also closes a connection, if it has TLS and the URL does not, or the other way round.
    diagnosis = reason?.cause.flatMap { cause in
      ConnectionDiagnosis(cause, url: url, options, requiresHTTP2: false, until: end, loop: loop) {
        [weak self] in self?.receive($0 == cause ? reason : nil)
      }
    }
    if diagnosis == nil { receive(reason) }
  }

  /// Continues the wait for a reason, or ends it without one.
  private func receive(_ reason: TransportError?) {
    // A connection that the end of the wait has cut off does not show why.
    problem = reason?.cause == nil && problem != nil && reason != nil ? problem : reason
    let left = end - MonotonicClock.now
    guard problem != nil, left > Self.lastTime else {
      isOver = true
      return
    }
    failures += 1
    let pause = Backoff.forServerStart.wait(
      beforeRepetition: failures, fraction: .random(in: 0..<1))
    timer = loop.schedule(at: .now + min(pause, left - Self.lastTime)) { [weak self] in self?.connect() }
  }
}

extension ConnectionFacts {
  /// Why the server is not ready; nil if it is, or if waiting does not help.
  ///
  /// - Parameter expectsFirstBytes: Whether a server that is ready has sent bytes.
  func reasonToWait(expectsFirstBytes: Bool) -> TransportError? {
    if let error { return error.isNotReady ? error : nil }
    guard expectsFirstBytes, firstBytes?.isEmpty != false else { return nil }
    return firstBytes == nil
      ? TransportError(.connect, "the server accepts connections, but does not respond")
      : TransportError(.broken, ConnectionCause.closed("").description, cause: .closed(""))
  }
}

extension TransportError {
  /// Whether the server may accept the same connection a moment later.
  var isNotReady: Bool { cause?.isNotReady ?? (kind == .connect || kind == .resolve) }
}
