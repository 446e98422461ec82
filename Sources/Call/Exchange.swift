import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// The wire below the chain: one call's protocol on one transfer.
///
/// A request with a single message is held until it is complete. So an interceptor that fails the call before
/// then prevents it from reaching the server.
final class Exchange: ChainTransport, TransferDelegate {
  private enum State {
    case idle
    /// The start was received; the request is incomplete.
    case collecting(RequestStart)
    case open(Transfer)
    case ended
  }

  /// The maximum time to wait for the end of a response after its status.
  private static let endTime = Duration.seconds(1)

  /// The minimum number of bytes that a server accepts before flow control applies (RFC 9113, section 6.9.2).
  private static let likelyWindowBytes = 65_535

  private let prepared: PreparedRequest
  private let loop: EventLoop
  private let wire: any WireProtocol
  // Objects that have weak references are retained slowly, and these two are for each message. The chain releases the
  // exchange when it has finished.
  private let chain: Chain
  /// Nil after the end of the attempt.
  private var call: Call?
  private var state = State.idle
  private var body: [UInt8] = []
  private var measured = CallMetrics()
  private var measuredPeer: String?
  private var unsent = UnsentMessages()
  private var bodyBytes = 0
  private var hasResponse = false
  private var begin = MonotonicClock.now
  private var deadline: MonotonicClock.Instant?
  private var endTimer: EventLoop.TimerID?
  /// Ends the attempt at a deadline that is before that of the call.
  private var limitTimer: EventLoop.TimerID?
  private var hasWholeRequest = false
  private var wantsResponse = true
  private let secrets: CallSecrets

  init(_ prepared: PreparedRequest, loop: EventLoop, chain: Chain, call: Call) {
    self.prepared = prepared
    self.loop = loop
    self.chain = chain
    self.call = call
    secrets = call.secrets
    wire = prepared.makeWire(hasNoSideEffects: chain.furthestFacts.hasNoSideEffects)
    guard request.reportsSizes else { return }
    wire.onMessageSize = { [unowned self] size in self.call?.receive(wire: .responseMessage(size)) }
  }

  private var request: CallRequest { _read { yield prepared.request } }

  // MARK: From the chain

  func start(_ start: RequestStart) {
    guard case .idle = state else { return }
    begin = .now
    do throws(RPCError) {
      let limited = try prepared.limited(start, from: begin)
      state = .collecting(limited)
      deadline = limited.deadline
    } catch {
      return fail(error)
    }
    if let deadline, deadline != start.deadline { keep(deadline) }
    if isSentAsItComes { open() }
  }

  /// Schedules the end of the attempt. The call itself ends only at its own deadline.
  private func keep(_ deadline: MonotonicClock.Instant) {
    let limit = (deadline - begin).roundedToMilliseconds
    limitTimer = loop.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      limitTimer = nil
      fail(
        connectError(after: limit)
          ?? RPCError(.deadlineExceeded, "the call took longer than \(limit.inSeconds)", origin: .client))
    }
  }

  func send(_ bytes: [UInt8]) {
    do throws(RPCError) {
      switch state {
      case .collecting:
        try wire.encode(bytes, into: &body)
        unsent.append(end: body.count, size(bytes.count, on: body.count - bodyBytes), reported(bytes))
        bodyBytes = body.count
      case .open(let transfer):
        let count = try transfer.send { (body) throws(RPCError) in try wire.encode(bytes, into: &body) }
        bodyBytes += count
        unsent.append(end: bodyBytes, size(bytes.count, on: count), reported(bytes))
      case .idle, .ended: break
      }
    } catch {
      fail(error)
    }
  }

  private func reported(_ message: [UInt8]) -> [UInt8]? { request.reportsMessages ? message : nil }

  private func size(_ bytes: Int, on wireBytes: Int) -> MessageSize {
    MessageSize(bytes: bytes, wireBytes: wireBytes, compression: request.wire.compression)
  }

  func closeRequest() {
    guard !hasWholeRequest else { return }
    hasWholeRequest = true
    open()
    if case .open(let transfer) = state { transfer.finishSending() }
  }

  func cancel(_ error: RPCError) {
    end()
  }

  func responseWanted(_ isWanted: Bool) {
    wantsResponse = isWanted
    guard case .open(let transfer) = state else { return }
    if isWanted { transfer.resumeReceiving() } else { transfer.pauseReceiving() }
  }

  /// The error of a call that has no connection at a time limit; nil if it has one, or needs none yet.
  ///
  /// - Parameter limit: The time since the start of the call.
  func connectError(after limit: Duration) -> RPCError? {
    guard case .open(let transfer) = state, let error = transfer.connectError(after: limit) else {
      return nil
    }
    var status = RPCError(error)
    // Otherwise the limit for connecting ends at this time too.
    guard limit < request.connection.connectTimeout else { return status }
    if case .proxy(let proxy) = status.origin { status.message = "proxy \(proxy): \(status.message)" }
    (status.code, status.origin) = (.deadlineExceeded, .client)
    return status
  }

  /// The bytes of the bodies sent and received.
  var traffic: (sent: Int, received: Int) {
    guard case .open(let transfer) = state else { return (measured.sentBytes, measured.receivedBytes) }
    return (transfer.sentBytes, transfer.receivedBytes)
  }

  var hasMessage: Bool { wire.hasMessage }

  var peer: String? {
    if case .open(let transfer) = state { transfer.peer } else { measuredPeer }
  }

  func measure() {
    var metrics = measured
    if case .open(let transfer) = state { transfer.measure(into: &metrics) }
    metrics.receivedMessages = wire.receivedMessages
    metrics.receivedMessageBytes = wire.receivedMessageBytes
    chain.receive(.metrics(metrics))
  }

  private var isSentAsItComes: Bool { request.method.kind.clientStreams && !request.isHeldUntilWhole }

  private func open() {
    guard case .collecting(let start) = state else { return }
    if let deadline, deadline <= .now { return fail(Call.late) }
    do {
      let httpRequest = try prepared.httpRequest(start, wire)
      if httpRequest.method == "GET" {
        // The message is in the URL, and the body is empty.
        body = []
        unsent.moveIntoURL()
      }
      let transfer = try Transfer(
        httpRequest, body: isSentAsItComes ? .stream : .whole(body),
        options: prepared.connection, loop: loop, delegate: self)
      body = []
      state = .open(transfer)
      secrets.add(httpRequest.headers, start.credentials)
      if !wantsResponse { transfer.pauseReceiving() }
      call?.isSent(start, httpRequest)
    } catch let error as RPCError {
      fail(error)
    } catch let error as TransportError {
      fail(RPCError(error))
    } catch {
      fail(RPCError(.internal, "\(error)", origin: .client))
    }
  }

  private func fail(_ error: RPCError) {
    receive(end: ResponseEnd(error: error))
  }

  /// Releases the transfer, and gives the end of the call to the chain; nil is no end.
  private func receive(end: ResponseEnd?) {
    guard var end else { return }
    if case .ended = state { return }
    end.error?.explain(hiding: secrets.mask)
    self.end(isComplete: end.error == nil || end.error?.origin == .server)
    chain.receive(.responseEnd(end))
  }

  /// - Parameter isComplete: Whether the response is complete; false cancels it.
  private func end(isComplete: Bool = false) {
    if case .open(let transfer) = state {
      transfer.measure(into: &measured)
      if measuredPeer == nil { measuredPeer = transfer.peer }
      if isComplete { transfer.finish() } else { transfer.close() }
    }
    state = .ended
    call = nil
    for timer in [endTimer, limitTimer].compactMap(\.self) { loop.cancel(timer) }
    (endTimer, limitTimer) = (nil, nil)
  }

  // MARK: From the transfer

  func receive(head: ResponseStart) {
    hasResponse = true
    call?.responds(self)
    // A message without bytes in the body was sent before the response.
    transfer(sentBytes: 0)
    measured.firstByte = .now - begin
    if !head.peer.isEmpty { measuredPeer = head.peer }
    receive(end: wire.receive(head: head, chain))
    awaitEnd()
  }

  func receive(body: RawSpan) -> Int {
    var offset = 0
    repeat {
      receive(end: wire.receive(body: body, from: &offset, chain))
    } while offset < body.byteCount && takesMore
    awaitEnd()
    return offset
  }

  /// Whether the rest of a piece is received at once: neither timers nor signals are due, the output is not full, and
  /// the call was not canceled.
  private var takesMore: Bool {
    guard wantsResponse, case .open = state else { return false }
    return !loop.isLate
  }

  /// Waits for the end of a response with a known status, to receive the trailers that follow the status, and to detect data
  /// that may not follow it.
  private func awaitEnd() {
    guard endTimer == nil, case .open(let transfer) = state, let awaited = wire.awaited else { return }
    switch awaited {
    case .text: break
    case .trailers: endRequest(transfer)
    case .end:
      // libcurl may not report the end of a response before the end of the request.
      guard hasWholeRequest, transfer.unsentBytes == 0 else { return receiveEnd(failure: nil) }
    case .messages:
      guard !hasWholeRequest || transfer.unsentBytes > 0 else { return }
      endRequest(transfer)
      // Unless the server does not even take what waits, or an old libcurl loses that end.
      guard transfer.unsentBytes > 0 || loop.losesEarlyEnds else { return }
    }
    // The status is that of the call, and not that its deadline passes while its end is awaited.
    let time = deadline.map { min(Self.endTime, ($0 - .now) / 2) } ?? Self.endTime
    endTimer = loop.schedule(at: .now + time) { [weak self] in
      guard let self else { return }
      endTimer = nil
      // What followed a status in the headers may have replaced it.
      if wire.awaited != nil { receiveEnd(failure: nil) }
    }
  }

  /// Ends the request, which the server reads no further, so that libcurl reports the end of the response.
  private func endRequest(_ transfer: Transfer) {
    guard !hasWholeRequest else { return }
    hasWholeRequest = true
    transfer.finishSending()
  }

  func receive(trailers: Headers, areComplete: Bool) {
    receive(end: wire.receive(trailers: trailers, areComplete: areComplete, chain))
    awaitEnd()
  }

  private func receiveEnd(failure: RPCError?) {
    receive(end: wire.receiveEnd(failure: failure, chain))
  }

  func transfer(sentBytes: Int) {
    while let size = unsent.popFirst(sentBytes: sentBytes) {
      call?.isSent(message: measured.sentMessages, size, unsent.takeMessage())
      measured.sentMessages += 1
      measured.sentMessageBytes += size.bytes
    }
  }

  func transferWantsMore(_ isWanted: Bool) {
    chain.transportWants(input: isWanted)
  }

  func receiveEnd(error: TransportError?) {
    receiveEnd(failure: error.map(explained))
  }

  /// How much before its deadline a server may cancel a request that had this time left at its start.
  static func clockTolerance(_ time: Duration) -> Duration { min(.milliseconds(100), time / 10) }

  /// The status of a call whose transfer failed, with the probable cause.
  private func explained(_ failure: TransportError) -> RPCError {
    var error = RPCError(failure)
    // The server's clock may reach the deadline slightly before this one.
    if error.code == .canceled, let deadline, deadline - .now < Self.clockTolerance(deadline - begin) {
      return RPCError(.deadlineExceeded, "the server canceled the call at its deadline", origin: .server)
    }
    // libcurl 7.88 loses a response received while it sends, if the server then resets the stream.
    if failure.isStreamCut, !hasResponse, bodyBytes > Self.likelyWindowBytes {
      error.message += "; the server did not read the whole request, which may be too large"
    }
    return error
  }
}
