import RPCProtocols

/// Finds the cause of a failed transfer by further connections to its server.
///
/// libcurl's error alone does not distinguish a server that uses TLS from one with HTTP/1.1 only, and does not name what a
/// certificate contains.
package final class ConnectionDiagnosis {
  /// The maximum time of each connection.
  private static let limit = Duration.seconds(2)

  private let error: TransportError
  private let url: String
  private let options: ConnectionOptions
  private let requiresHTTP2: Bool
  private unowned let loop: EventLoop
  private var completion: ((TransportError) -> Void)?
  private var probe: ConnectionProbe?

  /// Makes a diagnosis, which starts at once. Returns nil if the options exclude it, or the error has a complete
  /// cause.
  ///
  /// - Parameter completion: Called once with the error, unless the diagnosis is canceled.
  package init?(
    _ error: TransportError, url: String, _ options: ConnectionOptions, requiresHTTP2: Bool, loop: EventLoop,
    completion: @escaping (TransportError) -> Void
  ) {
    guard options.diagnosesFailures, error.cause?.isIncomplete == true, options.httpVersion != .http3 else {
      return nil
    }
    self.error = error
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
      let mayLackTLS = error.cause == .handshakeCut && facts.tlsVersion == nil
      guard url.hasPrefix("http:") || mayLackTLS else { return finish(facts) }
      if facts.tlsVersion != nil { return finish(.serverWithTLS) }
      probe(.readFirstBytes, finish)
    }
  }

  private func probe(_ purpose: ConnectionProbe.Purpose, _ next: @escaping (ConnectionFacts) -> Void) {
    do throws(TransportError) {
      let probe = try ConnectionProbe(url, options, purpose, loop: loop, completion: next)
      self.probe = probe
      probe.start(limit: min(Self.limit, options.connectTimeout))
    } catch {
      loop.schedule(at: .now) { [self] in finish(error.cause) }
    }
  }

  private func finish(_ facts: ConnectionFacts) {
    let cause = error.cause?.refined(
      by: facts, hasCertificate: options.certificate != nil, requiresHTTP2: requiresHTTP2)
    // The server is able to respond, so libcurl is suspected first.
    if case .closed(let reason)? = cause, loop.oldLibcurl != nil, facts.supportsHTTP2 {
      return finish(.lost(reason, library: OldLibcurl.name))
    }
    finish(cause)
  }

  private func finish(_ cause: ConnectionCause?) {
    probe = nil
    let completion = self.completion
    self.completion = nil
    completion?(cause.map { error.with($0) } ?? error)
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
