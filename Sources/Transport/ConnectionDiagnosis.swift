import RPCurlBase
import RPCurlProtocols

/// Finds more of the cause of a failed transfer by further connections to its server.
///
/// libcurl's error alone does not distinguish a server that uses TLS from one with HTTP/1.1 only, and does not name what a
/// certificate contains.
package final class ConnectionDiagnosis {
  /// How long a diagnosis may take.
  package static let usualTime = Duration.milliseconds(300)

  private let cause: ConnectionCause
  private let url: String
  private let options: ConnectionOptions
  private let requiresHTTP2: Bool
  private let deadline: MonotonicClock.Instant
  private unowned let loop: EventLoop
  private var completion: ((ConnectionCause) -> Void)?
  private var probe: ConnectionProbe?

  /// Makes a diagnosis, which starts at once. Returns nil if the options exclude it, the cause is complete, or no time is
  /// left.
  ///
  /// - Parameters:
  ///   - cause: The cause, as far as libcurl reports it.
  ///   - url: The URL of the request.
  ///   - options: The options of its connection.
  ///   - requiresHTTP2: Whether the request cannot be sent over HTTP/1.1.
  ///   - deadline: When it ends at the latest; it also ends after the time of the options.
  ///   - loop: The loop that runs the connections.
  ///   - completion: Called once with the cause, unless the diagnosis is canceled.
  package init?(
    _ cause: ConnectionCause, url: String, _ options: ConnectionOptions, requiresHTTP2: Bool,
    until deadline: MonotonicClock.Instant?, loop: EventLoop, completion: @escaping (ConnectionCause) -> Void
  ) {
    let end = MonotonicClock.now + options.diagnosisTime
    self.deadline = min(deadline ?? end, end)
    guard cause.isIncomplete, options.httpVersion != .http3, self.deadline > .now
    else { return nil }
    self.cause = cause
    self.url = url
    self.options = options
    self.requiresHTTP2 = requiresHTTP2
    self.loop = loop
    self.completion = completion
    inspect()
  }

  /// Ends the diagnosis without a result.
  package func cancel() {
    completion = nil
    probe?.cancel()
    probe = nil
  }

  private func inspect() {
    probe(.inspectTLS) { [self] facts in
      // Servers for HTTP/2 without TLS close the connection in the handshake.
      let mayLackTLS = cause == .handshakeCut && facts.tlsVersion == nil
      guard url.hasPrefix("http:") || mayLackTLS else { return finish(facts) }
      if facts.tlsVersion != nil { return finish(.serverWithTLS) }
      probe(.readFirstBytes, finish)
    }
  }

  private func probe(_ purpose: ConnectionProbe.Purpose, _ next: @escaping (ConnectionFacts) -> Void) {
    do throws(TransportError) {
      let probe = try ConnectionProbe(url, options, purpose, loop: loop, completion: next)
      self.probe = probe
      probe.start(limit: min(deadline - .now, options.connectTimeout))
    } catch {
      loop.schedule(at: .now) { [self] in finish(cause) }
    }
  }

  private func finish(_ facts: ConnectionFacts) {
    let refined = cause.refined(
      by: facts, hasCertificate: options.certificate != nil, requiresHTTP2: requiresHTTP2,
      usesHTTP2: options.httpVersion == .http2 || options.httpVersion == .http2PriorKnowledge)
    // The server is able to respond, so libcurl is suspected first.
    if case .closed(let reason) = refined, loop.oldLibcurl != nil, facts.supportsHTTP2 {
      return finish(.lost(reason, library: OldLibcurl.name))
    }
    finish(refined)
  }

  private func finish(_ cause: ConnectionCause) {
    probe = nil
    let completion = self.completion
    self.completion = nil
    completion?(cause)
  }
}

extension ConnectionCause {
  /// Whether further connections may show more of the cause.
  var isIncomplete: Bool {
    switch self {
    case .expired(nil), .notYetValid(nil), .unknownAuthority(nil), .closed, .handshakeCut, .handshakeRefused:
      true
    case .wrongName(_, let names): names.isEmpty
    default: false
    }
  }
}
