import RPCurlProtocols

/// The states of one HTTP exchange and what follows from each event. It does no I/O: `Transfer` carries out the
/// actions with libcurl.
///
/// ```
///            start          settle                completed, close            settle
///   created ───────▶ adding ───────▶ performing ───────────────────▶ ending ───────▶ ended
///      ▲                               │    │ finish (HTTP/1.1)        ▲
///      └──────── restarting ◀──────────┘    └──────▶ draining ─────────┘
///      completed            connected, unusable or too often refused
/// ```
///
/// libcurl allows most of its functions only outside of its callbacks. So requests of the owner take effect
/// at `settle`, an event that the loop sends after libcurl has returned.
struct TransferStateMachine {
  private enum State {
    case created
    case adding(Freshness)
    case performing
    /// libcurl was asked to end the exchange, which then starts again.
    case restarting
    /// The owner needs no more; the rest of the body is read so that the connection can be reused.
    case draining
    case ending(isAdded: Bool)
    case ended
  }

  private enum Sending {
    case flowing
    /// libcurl waits for more of the body.
    case paused
    /// More of the body is available; `settle` notifies libcurl.
    case resuming
  }

  private enum Receiving {
    case flowing
    /// The owner wants a pause, which starts with the next bytes.
    case pausing
    /// libcurl buffers received bytes.
    case paused
    /// libcurl buffers received bytes until the next round.
    case yielding
    /// The owner wants bytes again; `settle` notifies libcurl.
    case resuming

    /// Whether the owner wants a pause.
    var isPausing: Bool {
      switch self {
      case .pausing, .paused: true
      case .flowing, .yielding, .resuming: false
      }
    }
  }

  /// The body of the request.
  var requestBody: RequestBody
  /// The header fields and trailers of the response.
  private(set) var response = ResponseReader()

  /// How often a request is refused over connections that it shares, before it has one of its own. libcurl itself would send
  /// it six times, each time over another connection.
  private static let maximumSharedSends = 3

  private let requiresHTTP2: Bool
  private var state = State.created
  /// How often the server has refused the request.
  private var refusals = 0
  /// The connection of the request.
  private(set) var connection = Connection()
  private var sending = Sending.flowing
  private var receiving = Receiving.flowing

  /// - Parameter requiresHTTP2: Whether the request must not be sent over HTTP/1.1.
  init(_ body: RequestBody, requiresHTTP2: Bool) {
    requestBody = body
    self.requiresHTTP2 = requiresHTTP2
  }

  /// Whether the owner has closed the exchange, or was notified of its end.
  var isClosed: Bool {
    switch state {
    case .ending, .ended: true
    default: false
    }
  }

  /// Whether there is a connection for the request.
  private(set) var isConnected = false

  /// Whether libcurl has read the whole body of the request, and is not paused.
  var hasSentAll: Bool {
    guard requestBody.isFinished, requestBody.waitingBytes == 0, case .flowing = sending,
      case .flowing = receiving
    else { return false }
    return true
  }

  /// Whether libcurl has the handle.
  var isAdded: Bool {
    switch state {
    case .performing, .restarting, .draining, .ending(isAdded: true): true
    default: false
    }
  }

  /// Moves to the next state.
  mutating func handle(_ event: Event) -> Action {
    switch event {
    case .start(let freshness): start(freshness)
    case .bodyGrew: bodyGrew()
    case .pause: pause()
    case .resume: resume()
    case .finish: finish()
    case .close: close()
    case .connected(let connection): connected(connection)
    case .bodyWanted: bodyWanted()
    case .rewind(let offset, let reason): rewind(offset, reason)
    case .line(let line, let size): read(line, size)
    case .body(let isLate): body(isLate)
    case .completed(let error, let isUnsent): completed(error, isUnsent)
    case .settle: settle()
    case .roundEnded: roundEnded()
    case .nextRound: nextRound()
    case .loopReleased: release()
    }
  }

  // MARK: The owner

  private mutating func start(_ freshness: Freshness) -> Action {
    guard case .created = state else { return .none }
    state = .adding(freshness)
    return .settleLater
  }

  private mutating func bodyGrew() -> Action {
    guard case .paused = sending else { return .none }
    sending = .resuming
    return .settleLater
  }

  private mutating func pause() -> Action {
    switch receiving {
    case .flowing: receiving = .pausing
    case .resuming, .yielding: receiving = .paused
    case .pausing, .paused: break
    }
    return .none
  }

  private mutating func resume() -> Action {
    switch receiving {
    case .pausing: receiving = .flowing
    case .paused:
      receiving = .resuming
      return .settleLater
    case .flowing, .yielding, .resuming: break
    }
    return .none
  }

  /// Over HTTP/1.1, drains the rest of the body so that the connection can be reused.
  private mutating func finish() -> Action {
    guard case .performing = state, response.httpVersion?.hasPrefix("1") == true, requestBody.isFinished,
      requestBody.waitingBytes == 0
    else { return close() }
    state = .draining
    return .limitDraining
  }

  private mutating func close() -> Action {
    guard !isClosed else { return .none }
    state = .ending(isAdded: isAdded)
    return .settleLater
  }

  // MARK: libcurl

  private mutating func connected(_ connection: Connection) -> Action {
    guard case .performing = state else { return .abort }
    guard !response.hasBegun else {
      return fail(.broken, "the server asked for the request again after it had begun its response")
    }
    // No call is made twice (RFC 9110, section 9.2.2). The body starts again, also where libcurl does not ask for that.
    if case .loss(let detail)? = connection.reasonToRepeat {
      return end(TransportError(.broken, "").with(.closed(detail)))
    }
    if connection.reasonToRepeat == .refusal {
      refusals += 1
      // It is repeated once (gRFC A6, "Transparent Retries"). If others were in progress on the connection, it may have exceeded
      // a limit that the server has not announced, and is repeated until it is the first one of a connection.
      if refusals > 1 && self.connection.sharing != .atOnce {
        return end(refused(refusals == 2 ? "it was sent twice" : "it was sent \(refusals) times"))
      }
    }
    guard !isConnected || requestBody.rewind() else { return end(unrepeatable(connection.reasonToRepeat)) }
    if requiresHTTP2, connection.reasonToRepeat == .requiredHTTP1 {
      return end(TransportError(.onlyHTTP1(negotiated: nil)))
    }
    guard connection.isUsable, refusals < Self.maximumSharedSends || connection.sharing != .atOnce else {
      state = .restarting
      return .abort
    }
    if requiresHTTP2, let negotiated = connection.negotiated, !["h2", "h3"].contains(negotiated) {
      return end(TransportError(.onlyHTTP1(negotiated: negotiated)))
    }
    if let error = connection.error { return end(error) }
    self.connection = connection
    isConnected = true
    return .proceed
  }

  private mutating func bodyWanted() -> Action {
    guard case .performing = state else { return .abort }
    if requestBody.waitingBytes > 0 { return .sendBody }
    if requestBody.isFinished { return .endBody }
    sending = .paused
    return .pauseBody
  }

  private mutating func rewind(_ offset: Int, _ reason: ReasonToRepeat?) -> Action {
    if requestBody.rewind(to: offset) { return .proceed }
    guard case .performing = state else { return .abort }
    return end(unrepeatable(reason))
  }

  /// The error of a request that cannot be sent again, because a part of its stream was sent.
  private func unrepeatable(_ reason: ReasonToRepeat?) -> TransportError {
    switch reason {
    case .requiredHTTP1 where requiresHTTP2: TransportError(.onlyHTTP1(negotiated: nil))
    case .refusal, .requiredHTTP1: refused("a stream that was partly sent cannot be repeated")
    case .loss(let detail): TransportError(.broken, "").with(.closed(detail))
    case .isSafe, nil: TransportError(.broken, "").with(.closed(""))
    }
  }

  private func refused(_ whyNotRepeated: String) -> TransportError {
    TransportError(.broken, "").with(.refusedRequest(whyNotRepeated))
  }

  private mutating func read(_ line: HeaderLine, _ size: Int) -> Action {
    switch state {
    case .draining: return .proceed
    case .performing: break
    default: return .abort
    }
    switch response.read(line, size: size) {
    case .none: return .proceed
    case .head(let head) where head.httpStatus == 407 && connection.isForwarded:
      return end(TransportError(.proxyRequiresCredentials))
    case .head(let head): return .receive(head)
    case .trailersBegan: return .awaitRoundEnd
    case .invalid(let error): return end(error)
    }
  }

  private mutating func body(_ isLate: Bool) -> Action {
    switch state {
    case .draining: return .proceed
    case .performing: break
    default: return .abort
    }
    switch receiving {
    case .pausing, .paused:
      receiving = .paused
      return .pauseBody
    case .yielding, .flowing, .resuming:
      guard isLate else {
        receiving = .flowing
        return .receiveBody
      }
      receiving = .yielding
      return .yieldBody
    }
  }

  private mutating func completed(_ error: TransportError?, _ isUnsent: Bool) -> Action {
    switch state {
    case .restarting: return takeBack()
    // The server closed a reused connection just before this request.
    case .performing
    where isUnsent && connection.sharing != .none && !response.hasBegun && requestBody.rewind():
      return takeBack()
    case .performing: return end(error)
    case .draining: return close()
    default: return .none
    }
  }

  private mutating func takeBack() -> Action {
    state = .created
    connection = Connection()
    isConnected = false
    (sending, receiving) = (.flowing, receiving.isPausing ? .pausing : .flowing)
    return .takeBack
  }

  private mutating func fail(_ kind: TransportError.Kind, _ message: String) -> Action {
    end(TransportError(kind, message))
  }

  private mutating func end(_ error: TransportError?) -> Action {
    state = .ending(isAdded: isAdded)
    return .end(error)
  }

  // MARK: The loop

  private mutating func settle() -> Action {
    switch state {
    case .adding(let freshness):
      state = .performing
      return .add(freshness)
    case .ending(let isAdded):
      state = .ended
      return .release(isAdded: isAdded)
    case .performing, .draining: return unpause()
    case .created, .restarting, .ended: return .none
    }
  }

  private mutating func roundEnded() -> Action {
    guard !isClosed, let trailers = response.takeTrailers() else { return .none }
    // libcurl delivers those of HTTP/2 together at the end of the stream, and those of HTTP/3 as they arrive.
    return .receiveTrailers(trailers, areComplete: response.httpVersion != "3")
  }

  private mutating func nextRound() -> Action {
    guard case .yielding = receiving else { return .none }
    receiving = .resuming
    return isAdded && !isClosed ? unpause() : .none
  }

  private mutating func release() -> Action {
    state = .ended
    return .none
  }

  private mutating func unpause() -> Action {
    var isResuming = false
    if case .resuming = sending {
      sending = .flowing
      isResuming = true
    }
    if case .resuming = receiving {
      receiving = .flowing
      isResuming = true
    }
    guard isResuming else { return .none }
    let sendingStaysPaused = if case .paused = sending { true } else { false }
    let receivingStaysPaused =
      switch receiving {
      case .paused, .yielding: true
      case .flowing, .pausing, .resuming: false
      }
    return .unpause(sendingStaysPaused: sendingStaysPaused, receivingStaysPaused: receivingStaysPaused)
  }
}
