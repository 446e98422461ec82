import Interception
import Protobuf
import RPCProtocols
import Transport

/// Hears what an exchange sends, as it does.
protocol ExchangeObserver: AnyObject {
  /// When the call is ended anyhow.
  var deadline: MonotonicClock.Instant? { get }
  /// The request goes out.
  func exchangeStarted(_ start: RequestStart, request: HTTPRequest)
  /// The message with this number, from 0 on, goes out.
  func exchangeSent(message index: Int, _ size: MessageSize)
  /// A message came, if the request asks for sizes.
  func exchangeReceived(_ size: MessageSize)
}

/// The wire below the chain: one call's protocol on one transfer.
///
/// A request with a single message is held until it is whole: until then nothing was sent, so whoever fails
/// the call fails it before the server hears of it.
final class Exchange: ChainTransport, TransferDelegate, ResponseSink {
  private enum State {
    case idle
    /// The start came; the request is not whole yet.
    case collecting(RequestStart)
    case open(Transfer)
    case ended
  }

  /// How long the end of a response is waited for after its status.
  private static let endTime = Duration.seconds(1)

  /// What a server takes at least before it can have an opinion (RFC 9113, section 6.9.2).
  private static let likelyWindowBytes = 65_535

  private let request: CallRequest
  private let loop: EventLoop
  private let wire: any WireProtocol
  private weak var chain: Chain?
  private weak var observer: (any ExchangeObserver)?
  private var state = State.idle
  private var body: [UInt8] = []
  private var measured = CallMetrics()
  /// Messages given to the transfer and not taken yet: where each ends in the body, and what it takes.
  private var untaken: [(end: Int, size: MessageSize)] = []
  private var bodyBytes = 0
  private var hasResponse = false
  private var begin = MonotonicClock.now
  private var deadline: MonotonicClock.Instant?
  private var timer: EventLoop.TimerID?
  private var endTimer: EventLoop.TimerID?
  private var hasWholeRequest = false
  private var wantsResponse = true

  init(_ request: CallRequest, loop: EventLoop, chain: Chain, observer: any ExchangeObserver) {
    self.request = request
    self.loop = loop
    self.chain = chain
    self.observer = observer
    var parameters = CallParameters(
      kind: request.method.kind, codec: request.codec, userAgent: request.userAgent,
      maxMessageBytes: request.maxMessageBytes)
    parameters.compression = request.compression
    parameters.acceptedCompressions = request.acceptedCompressions ?? Compression.readable
    parameters.usesGET = request.usesGET && request.method.hasNoSideEffects
    parameters.maxURLBytes = request.maxURLBytes
    parameters.tellsSizes = request.tellsSizes
    wire = WireProtocols.make(request.protocolName, parameters)
  }

  // MARK: From the chain

  func start(_ start: RequestStart) {
    guard case .idle = state else { return }
    begin = .now
    deadline = start.deadline
    state = .collecting(start)
    keepTime()
    if isSentAsItComes { open() }
  }

  func send(_ bytes: [UInt8]) {
    do throws(RPCError) {
      switch state {
      case .collecting:
        try wire.encode(bytes, into: &body)
        untaken.append((body.count, size(bytes.count, on: body.count - bodyBytes)))
        bodyBytes = body.count
      case .open(let transfer):
        var piece: [UInt8] = []
        try wire.encode(bytes, into: &piece)
        bodyBytes += piece.count
        untaken.append((bodyBytes, size(bytes.count, on: piece.count)))
        transfer.send(piece)
      case .idle, .ended: break
      }
    } catch {
      fail(error)
    }
  }

  private func size(_ bytes: Int, on wireBytes: Int) -> MessageSize {
    MessageSize(bytes: bytes, wireBytes: wireBytes, compression: request.compression)
  }

  func closeRequest() {
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

  /// The bytes of the body that were sent, and those that came.
  var traffic: (sent: Int, received: Int) {
    guard case .open(let transfer) = state else { return (measured.sentBytes, measured.receivedBytes) }
    return (transfer.sentBytes, transfer.receivedBytes)
  }

  func measure() {
    var metrics = measured
    if case .open(let transfer) = state { transfer.measure(into: &metrics) }
    chain?.measured(metrics)
  }

  /// An attempt may have less time than the call, and then fails alone.
  private func keepTime() {
    guard let deadline, observer?.deadline.map({ deadline < $0 }) ?? true else { return }
    let limit = (deadline - begin).inMilliseconds
    timer = loop.schedule(at: deadline) { [weak self] in
      self?.fail(RPCError(.deadlineExceeded, "the attempt took longer than \(limit)", origin: .client))
    }
  }

  private var isSentAsItComes: Bool { request.method.kind.clientStreams && !request.isHeldUntilWhole }

  private func open() {
    guard case .collecting(let start) = state else { return }
    do {
      let timeout = start.deadline.map { $0 - .now }
      let httpRequest = try wire.makeRequest(start, timeout: timeout)
      try request.route.check(start)
      if httpRequest.method == "GET" {
        // The message travels in the URL, and takes no byte of the body.
        body = []
        for index in untaken.indices {
          untaken[index].end = 0
          untaken[index].size.wireBytes = nil
        }
      }
      let transfer = try Transfer(
        httpRequest, body: isSentAsItComes ? .stream : .whole(body),
        options: request.connection, loop: loop, delegate: self)
      body = []
      state = .open(transfer)
      if !wantsResponse { transfer.pauseReceiving() }
      observer?.exchangeStarted(start, request: httpRequest)
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

  /// - Parameter isComplete: Whether the response came to its end, rather than the call being given up.
  private func end(isComplete: Bool = false) {
    if case .open(let transfer) = state {
      transfer.measure(into: &measured)
      if isComplete { transfer.finish() } else { transfer.close() }
    }
    state = .ended
    for timer in [timer, endTimer].compactMap({ $0 }) { loop.cancel(timer) }
    timer = nil
    endTimer = nil
  }

  // MARK: From the transfer

  func transfer(received head: ResponseStart) {
    hasResponse = true
    // A message that takes no byte of the body was sent by the time of an answer.
    transfer(sentBytes: 0)
    measured.firstByte = .now - begin
    wire.receive(head: head, self)
    awaitEnd()
  }

  func transfer(received body: RawSpan) {
    wire.receive(body: body, self)
    awaitEnd()
  }

  /// Waits for the end of a response with a known status, because more may follow that the status does not allow.
  private func awaitEnd() {
    guard wire.awaitsEnd, endTimer == nil, case .open(let transfer) = state else { return }
    // libcurl may not report the end of a response before that of the request.
    guard hasWholeRequest, transfer.unsentBytes == 0 else { return wire.receiveEnd(self) }
    endTimer = loop.schedule(at: .now + Self.endTime) { [weak self] in
      guard let self else { return }
      wire.receiveEnd(self)
    }
  }

  func transfer(received trailers: Headers) {
    wire.receive(trailers: trailers, self)
  }

  func transfer(sentBytes: Int) {
    while let next = untaken.first, next.end <= sentBytes {
      untaken.removeFirst()
      observer?.exchangeSent(message: measured.sentMessages, next.size)
      measured.sentMessages += 1
    }
  }

  func transferWantsMore(_ isWanted: Bool) {
    chain?.transportWants(input: isWanted)
  }

  func transferEnded(error: TransportError?) {
    if let error {
      wire.receive(failure: explained(RPCError(error)), self)
    } else {
      wire.receiveEnd(self)
    }
  }

  /// What lies behind an error of the transport, where more is known than it says.
  private func explained(_ error: RPCError) -> RPCError {
    var error = error
    // The server's clock may say a moment before ours that the time is up.
    if error.code == .canceled, let deadline, deadline - .now < .milliseconds(100) {
      return RPCError(.deadlineExceeded, "the server canceled the call at its deadline", origin: .server)
    }
    // libcurl 7.88 loses an answer that comes while it sends, if the server then resets the stream.
    let isCut = error.origin == .violation || error.message.contains("HTTP/2")
    if isCut, !hasResponse, bodyBytes > Self.likelyWindowBytes {
      error.message += "; the server did not read the whole request: is it too large for it?"
    }
    return error
  }

  // MARK: From the protocol

  func receive(start: ResponseStart) {
    chain?.received(start)
  }

  func receive(size: MessageSize) {
    observer?.exchangeReceived(size)
  }

  func receive(message: RawSpan) {
    measured.receivedMessages += 1
    chain?.received(message)
  }

  func receive(end: ResponseEnd) {
    if case .ended = state { return }
    self.end(isComplete: end.error == nil || end.error?.origin == .server)
    chain?.received(end)
  }
}
