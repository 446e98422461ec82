import RPCurlBase
import RPCurlCCurl
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// One HTTP exchange over libcurl, full duplex: the request's body may grow while the response is received.
///
/// `TransferStateMachine` decides each step; this type translates between it and libcurl.
package final class Transfer {
  /// How the request's body is provided.
  package enum Body {
    /// All of it, sent with its length.
    case whole([UInt8])
    /// The bytes that `send` appends until `finishSending`.
    case stream
  }

  /// The maximum time to drain an unneeded HTTP/1.1 body so that the connection can be reused.
  private static let drainTime = Duration.seconds(1)

  unowned let loop: EventLoop
  /// Until the end of the exchange.
  private var delegate: (any TransferDelegate)?
  let easy: EasyHandle
  /// Keeps the handle after the end, if another transfer can use it; nil if it has none that can.
  private var pool: EasyHandlePool?
  private var machine: TransferStateMachine
  private var drainTimer: EventLoop.TimerID?
  private var keepAlive: KeepAlive?
  /// The bytes that libcurl had sent for this transfer when it was about to send the request.
  private var requestSize = 0
  /// The sockets that libcurl opened for this transfer.
  private var sockets: [Int32] = []
  private var old: OldLibcurlExchange?

  let url: String
  /// Whether the scheme of the URL is `https`.
  let isTLS: Bool
  private let sharedOptions: SharedConnectionOptions
  /// Whether the protocol negotiated by TLS decides whether the request is sent.
  private let checksNegotiation: Bool
  /// Why HTTP/2 cannot send the request; nil if it can.
  private let headerError: TransportError?
  /// Whether the request's body is a stream.
  let isStream: Bool
  /// Whether the request has no side effects, so that it may be sent again after the server may have processed it.
  private let isSafe: Bool

  /// Bytes of the body that the delegate has processed, and that libcurl delivers again: it repeats a whole piece.
  private var repeatedBytes = 0
  /// Bytes of the response's body that were processed.
  package private(set) var receivedBytes = 0
  /// Bytes of the request's body that libcurl has read.
  package var sentBytes: Int { machine.requestBody.sentBytes }
  /// Bytes of the request's body that libcurl has not read.
  package var unsentBytes: Int { machine.requestBody.waitingBytes }

  /// Whether a status line was received, also of a `1xx` response.
  var hasStatusLine: Bool { machine.response.hasBegun }

  /// Starts an exchange. It may be called anywhere, also from a delegate's methods.
  ///
  /// - Throws: `TransportError` if the request or an option is invalid. Other errors are reported to the delegate.
  package init(
    _ request: HTTPRequest, body: Body, options shared: SharedConnectionOptions, loop: EventLoop,
    delegate: any TransferDelegate
  ) throws(TransportError) {
    try loop.admitLibcurl()
    isStream = if case .stream = body { true } else { false }
    let bodyBytes: Int? =
      if case .whole(let bytes) = body { request.method == "GET" ? 0 : bytes.count } else { nil }
    let configuration = EasyHandle.Configuration(
      url: request.url, method: request.method, options: shared, wantsTrailers: request.wantsTrailers,
      isStream: isStream, isLarge: (bodyBytes ?? 0) >= TransferHandle.leastUploadBytes)
    easy = try loop.handles.take(configuration, loop.trace)
    self.loop = loop
    isSafe = request.method == "GET"
    sharedOptions = shared
    url = request.url
    isTLS = request.url.utf8.dropFirst(4).first == UInt8(ascii: "s")
    self.delegate = delegate
    // The message of a GET request is in the URL; the request has no body, not even an empty one.
    let requestBody =
      switch body {
      case .whole(let bytes): RequestBody(whole: request.method == "GET" ? [] : bytes)
      case .stream: RequestBody()
      }
    machine = TransferStateMachine(requestBody, requiresHTTP2: request.requiresHTTP2)
    checksNegotiation = request.requiresHTTP2 && isTLS && shared.value.httpVersion != .http2PriorKnowledge
    headerError = HeaderBlock.error(request, bodyBytes: bodyBytes)
    easy.begin(self)
    try easy.set(request, bodyBytes: bodyBytes, configuration)
    if isTLS, loop.reportsCertificates { try TransferHandle(handle).set(CURLOPT_CERTINFO, 1) }
    if let headerError, shared.value.httpVersion.requiresHTTP2(request) { throw headerError }
    if let library = loop.oldLibcurl {
      old = OldLibcurlExchange(self, library, handle, url: request.url, options: shared.value)
    }
    if let old { old.start() } else { begin(.any) }
  }

  deinit {
    easy.end(keepingIn: pool)
  }

  var handle: UnsafeMutableRawPointer { easy.pointer }
  var options: ConnectionOptions { _read { yield sharedOptions.value } }

  /// Appends bytes to the request's body.
  ///
  /// - Parameter write: Appends to the bytes that it is given, which are those of the body that wait.
  /// - Returns: The number of bytes that were appended.
  /// - Throws: What `write` throws.
  package func send(_ write: (inout [UInt8]) throws(RPCError) -> Void) throws(RPCError) -> Int {
    guard !machine.isClosed else { return 0 }
    let count = try changeBody { (body) throws(RPCError) in try body.append(write) }
    perform(.bodyGrew)
    return count
  }

  /// Ends the request's body.
  package func finishSending() {
    machine.requestBody.finish()
    perform(.bodyGrew)
  }

  /// Stops receiving; the server is slowed down once its flow-control window is full.
  package func pauseReceiving() {
    perform(.pause)
  }

  /// Continues receiving.
  package func resumeReceiving() {
    keepAlive?.receivingResumed()
    perform(.resume)
  }

  /// Ends the exchange now. If it is not complete, it is reset on the wire. The delegate is not called again.
  package func close() {
    delegate = nil
    guard !machine.isClosed else { return }
    perform(.close)
    stopTimers()
  }

  /// Ends the exchange now that the response is complete. The delegate is not called again.
  package func finish() {
    delegate = nil
    guard !machine.isClosed else { return }
    keepHandle()
    perform(.finish)
    if machine.isClosed { stopTimers() }
  }

  /// Keeps the handle for another transfer, now that the response is complete.
  private func keepHandle() {
    guard options.sharesConnection, !options.closesWhenGivenUp, old == nil, machine.hasSentAll else { return }
    pool = loop.handles
  }

  /// The error of an exchange that has no connection at a time limit; nil if it has one.
  ///
  /// - Parameter limit: The time since the start.
  package func connectError(after limit: Duration) -> TransportError? {
    guard !machine.isConnected, !machine.isClosed else { return nil }
    var options = options
    options.connectTimeout = limit
    let failure = TransferFailure(
      CURLE_OPERATION_TIMEDOUT, detail: "", handle, url: url, options, isConnected: hasConnected,
      hasResponse: hasStatusLine)
    return failure.cause.map { named(TransportError($0)) }
  }

  // MARK: Actions of the state machine

  /// Passes an event to the state machine and performs the actions it returns. Returns the action for
  /// libcurl's callbacks.
  @discardableResult
  private func perform(_ event: TransferStateMachine.Event) -> TransferStateMachine.Action {
    let action = machine.handle(event)
    switch action {
    case .settleLater: loop.settleLater(self)
    case .add(let freshness): add(freshness)
    case .takeBack:
      loop.remove(handle)
      if let old { old.startAgain() } else { begin(.fresh) }
    case .release(let isAdded): release(isAdded: isAdded)
    case .unpause(let sendingStaysPaused, let receivingStaysPaused):
      _ = ccurl_easy_pause(
        handle, (sendingStaysPaused ? CURLPAUSE_SEND : 0) | (receivingStaysPaused ? CURLPAUSE_RECV : 0))
    case .limitDraining:
      drainTimer = loop.schedule(at: .now + Self.drainTime) { [weak self] in self?.close() }
    case .yieldBody: loop.resumeNextRound(self)
    case .endBody where options.httpVersion == .http3 && !ccurl_is_patched():
      loop.resumeNextRound(self)  // which sends the end
    case .receive(let head): delegate?.receive(head: withConnection(head))
    case .awaitRoundEnd: loop.awaitRoundEnd(self)
    case .receiveTrailers(let trailers, let areComplete):
      delegate?.receive(trailers: trailers, areComplete: areComplete)
    case .end(let error): end(error)
    case .none, .proceed, .abort, .sendBody, .endBody, .pauseBody, .receiveBody: break
    }
    return action
  }

  /// Starts the exchange after libcurl's callbacks have returned.
  func begin(_ freshness: TransferStateMachine.Freshness) {
    perform(.start(freshness))
  }

  /// Ends the exchange with an error.
  func fail(_ error: TransportError) {
    perform(.completed(error))
  }

  private func end(_ error: TransportError?) {
    let delegate = self.delegate
    self.delegate = nil
    stopTimers()
    loop.settleLater(self)
    delegate?.receiveEnd(error: error.map(named))
  }

  /// Whether there is or was a connection to the server, or to the proxy.
  private var hasConnected: Bool { sockets.contains(where: loop.sockets.hasConnected) }

  /// Adds the name of the proxy to an error of the proxy.
  private func named(_ error: TransportError) -> TransportError {
    var error = error
    if error.kind == .proxy { error.proxy = ProxyAddress.name(for: url, options) }
    return error
  }

  private func stopTimers() {
    if let drainTimer { loop.cancel(drainTimer) }
    keepAlive?.stop()
    old?.giveUp()
  }

  private func add(_ freshness: TransferStateMachine.Freshness) {
    do throws(TransportError) {
      let options = TransferHandle(handle)
      if case .fresh = freshness {
        easy.isForThisTransferOnly()
        try options.set(CURLOPT_FORBID_REUSE, 0)
        try options.set(CURLOPT_FRESH_CONNECT, 1)
      }
      try old?.configure()
      try loop.add(self, handle: handle)
    } catch {
      fail(error)
    }
  }

  private func release(isAdded: Bool) {
    guard isAdded else { return }
    // The connection of a complete transfer was already returned to the pool.
    if options.closesWhenGivenUp { try? TransferHandle(handle).set(CURLOPT_FORBID_REUSE, 1) }
    loop.remove(handle)
  }

  // MARK: The loop

  /// Called after the loop was released; libcurl no longer has the handle.
  func loopReleased() {
    delegate = nil
    perform(.loopReleased)
  }

  /// Called after libcurl's callbacks have returned.
  func settle() { perform(.settle) }

  /// Called at the end of a round. libcurl itself would wait for the end of the request's body before it
  /// reports the end of the response.
  func endRound() { perform(.roundEnded) }

  /// Called at the start of the round after a late one.
  func continueReceiving() { perform(.nextRound) }

  /// Checks for a response that an old libcurl has lost.
  func watchForLoss() {
    if !machine.isClosed { old?.watchForLoss() }
  }

  /// Called when libcurl has completed the transfer.
  func complete(_ code: CURLcode) {
    guard code != CURLE_OK else {
      keepHandle()
      perform(.completed(nil))
      return
    }
    let failure = TransferFailure(
      code, detail: String(cString: easy.errorBuffer), handle, url: url, options,
      isConnected: hasConnected, hasResponse: hasStatusLine)
    var error = failure.error
    if code == CURLE_HTTP2_STREAM, old?.hasLostStatus == true {
      error = OldLibcurl.loss(code, detail: failure.detail)
    }
    // Over HTTP/3, libcurl reads that the server has closed the connection when it is about to send.
    let isLost = code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR
    perform(.completed(error, isUnsent: isLost && sentSize == requestSize))
  }

  // MARK: libcurl's callbacks

  /// Whether the request may use the connection that libcurl chose. Nothing of it was sent yet.
  ///
  /// - Parameter localPort: The connection's local port; 0 if it has none.
  func mayRequest(localPort: Int32) -> Bool {
    var connection = TransferStateMachine.Connection()
    connection.connectionsMade = connectionsMade
    let isReused = connection.connectionsMade == machine.connection.connectionsMade
    // libcurl 8 may choose a connection that the server has closed.
    let isUsable =
      old?.accepts(isReused: isReused) ?? !(isReused && loop.sockets.isClosedByServer(localPort: localPort))
    connection.sharing = !isReused ? .none : loop.transferCount > 1 ? .atOnce : .earlier
    (connection.isUsable, connection.reasonToRepeat) = (isUsable, reasonToRepeat)
    let negotiated = isTLS ? self.negotiated : nil
    if checksNegotiation { connection.negotiated = negotiated }
    connection.usesHTTP2 =
      connection.reasonToRepeat != .requiredHTTP1 && options.httpVersion.isHTTP2(url, negotiated: negotiated)
    connection.error = connection.usesHTTP2 ? headerError : nil
    connection.isForwarded = isForwarded
    easy.forgetError()
    requestSize = sentSize
    guard case .proceed = perform(.connected(connection)) else {
      // libcurl would not notice the closed connection either when this transfer returns it to the pool.
      if !isUsable, isReused { try? TransferHandle(handle).set(CURLOPT_FORBID_REUSE, 1) }
      return false
    }
    keepAlive?.stop()
    // HTTP/1.1 has no PING, and a server may be silent for long. TCP's keepalive detects the loss of that connection.
    if connection.usesHTTP2 || checksNegotiation, let time = options.keepaliveTime,
      let socket = loop.sockets.socket(localPort: localPort)
    {
      keepAlive = KeepAlive(time, timeout: options.keepaliveTimeout ?? time, socket, loop) { [weak self] in
        self?.fail($0)
      }
    }
    return true
  }

  /// Why libcurl is about to send the request again; nil if it was not sent yet.
  private var reasonToRepeat: ReasonToRepeat? {
    guard machine.isConnected else { return nil }
    guard sentSize != requestSize else { return .isSafe }
    return ReasonToRepeat(
      isSafe: isSafe, overHTTP2: machine.connection.usesHTTP2, restOfError: easy.restOfError,
      byOldLibcurl: old != nil)
  }

  /// Called when a socket is opened for this transfer's connection.
  func opened(_ socket: Int32) {
    loop.sockets.opened(socket)
    sockets.append(socket)
    guard let time = options.keepaliveTime else { return }
    let timeout = options.keepaliveTimeout ?? time
    ccurl_set_user_timeout(socket, UInt32(clamping: timeout.wholeSeconds * 1000))
  }

  private func changeBody<Failure: Error>(
    _ change: (inout RequestBody) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    let wasFull = machine.requestBody.isFull
    let result = try change(&machine.requestBody)
    let isFull = machine.requestBody.isFull
    if isFull != wasFull { delegate?.transferWantsMore(!isFull) }
    return result
  }

  func fill(_ data: UnsafeMutablePointer<CChar>?, _ capacity: Int) -> Int {
    switch perform(.bodyWanted) {
    case .sendBody: break
    case .endBody: return 0
    case .pauseBody: return Int(CURL_READFUNC_PAUSE)
    default: return Int(CURL_READFUNC_ABORT)
    }
    let count = changeBody { $0.read(into: UnsafeMutableRawBufferPointer(start: data, count: capacity)) }
    delegate?.transfer(sentBytes: sentBytes)
    return count
  }

  func rewind(to offset: Int) -> Bool {
    if case .proceed = perform(.rewind(offset, reasonToRepeat)) { true } else { false }
  }

  func receive(body: UnsafeRawBufferPointer) -> Int {
    var action = perform(.body(isLate: loop.isLate))
    // The rest of the piece is delivered again, as a piece is that arrives in a late round.
    if case .receiveBody = action, !deliver(body) { action = perform(.body(isLate: true)) }
    switch action {
    case .receiveBody: return machine.isClosed ? 0 : body.count
    case .proceed: return body.count
    case .pauseBody, .yieldBody: return Int(CURL_WRITEFUNC_PAUSE)
    default: return 0
    }
  }

  /// Delivers the bytes of a piece that are new. Returns false if the delegate has not processed all of them.
  private func deliver(_ piece: UnsafeRawBufferPointer) -> Bool {
    let new = piece.bytes.extracting(droppingFirst: min(repeatedBytes, piece.count))
    let processed = new.isEmpty ? 0 : delegate?.receive(body: new) ?? new.byteCount
    receivedBytes += processed
    let isWhole = processed == new.byteCount
    repeatedBytes += isWhole ? new.byteCount - piece.count : processed
    return isWhole
  }

  func receive(line: UnsafeRawBufferPointer) -> Int {
    if old == nil {
      perform(.line(HeaderLine(line), size: line.count))
    } else {
      // It passes the lines together that arrived while the transfer was paused.
      var rest = line[...]
      while !rest.isEmpty {
        let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
        perform(
          .line(HeaderLine(UnsafeRawBufferPointer(rebasing: rest[..<end])), size: end - rest.startIndex))
        rest = rest[end...]
      }
    }
    return machine.isClosed ? 0 : line.count
  }
}
