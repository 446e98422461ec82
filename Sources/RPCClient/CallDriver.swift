import Interception
import Protobuf
import RPCProtocols
import Transport

/// The caller above the chain: reports what leaves the chain to the observer, enforces the deadline, and
/// measures time.
final class CallDriver: ChainCaller, ExchangeObserver {
  /// The maximum time that interceptors may hold the metrics after the end.
  private static let reportTime = Duration.seconds(5)

  private let request: CallRequest
  private let chain: Chain
  /// The network for the interceptors' own calls.
  private let subrequests: ClientSubrequestTransport
  private let loop: EventLoop
  private let observer: any CallObserver
  private let liveCalls: LiveCalls
  private var begin = MonotonicClock.now
  private var timer: EventLoop.TimerID?
  /// The deadline of the call.
  private(set) var deadline: MonotonicClock.Instant?
  /// The start from the caller, before interceptors.
  private var given: RequestStart?
  private var hasReportedStart = false
  /// The number of sent messages that were reported; later attempts send them again.
  private var sent = 0
  private var received = 0
  /// The latest attempt.
  private weak var exchange: Exchange?

  /// The bytes of the bodies so far, in the latest attempt.
  var traffic: (sent: Int, received: Int) { exchange?.traffic ?? (0, 0) }

  init(
    _ request: CallRequest, chain: Chain, subrequests: ClientSubrequestTransport, loop: EventLoop,
    liveCalls: LiveCalls,
    observer: any CallObserver
  ) {
    self.request = request
    self.chain = chain
    self.subrequests = subrequests
    self.loop = loop
    self.liveCalls = liveCalls
    self.observer = observer
  }

  /// Starts the call, which retains this object until it has finished.
  func start() {
    guard given == nil, !chain.isFinished else { return }
    liveCalls.add(self)
    begin = .now
    let start = RequestStart(
      method: request.name, target: request.target, headers: request.headers,
      deadline: request.timeout.map { begin + $0 }, codec: request.codec)
    given = start
    if let limit = request.timeout { keep(deadline: start.deadline, limit) }
    chain.start(start, caller: self) { [request, loop] chain in
      let exchange = Exchange(request, loop: loop, chain: chain, observer: self)
      self.exchange = exchange
      return exchange
    }
  }

  /// Ends the call, started or not.
  func cancel(_ error: RPCError) {
    let isFirst = given == nil && !chain.isFinished
    chain.cancel(error)
    guard isFirst else { return }
    observer.callEnded(ResponseEnd(error: error))
    observer.callMeasured(CallMetrics())
  }

  /// Ends the call, without waiting for anything that follows its end.
  func end(_ error: RPCError) {
    chain.cancel(error)
    // The first cancellation may have been the call's end, and an interceptor holds the metrics.
    if !chain.isFinished { chain.cancel(error) }
  }

  // MARK: From the exchange

  func exchangeStarted(_ start: RequestStart, request: HTTPRequest) {
    guard !hasReportedStart else { return }
    hasReportedStart = true
    observer.callStarted(start, request: request)
  }

  func exchangeSent(message index: Int, _ size: MessageSize) {
    guard index == sent else { return }
    sent += 1
    observer.callSent(size)
  }

  func exchangeReceived(_ size: MessageSize) {
    reportStart()
    observer.callReceived(size)
  }

  // MARK: From the chain

  func deadlineChanged(to deadline: MonotonicClock.Instant?) {
    keep(deadline: deadline, deadline.map { ($0 - begin).roundedToMilliseconds } ?? .zero)
  }

  func responseStarted(_ start: ResponseStart) {
    reportStart()
    observer.callReceived(start)
  }

  func responseReceived(_ message: Payload) {
    switch message {
    case .bytes(let bytes): responseReceived(bytes.span.bytes)
    case .typed(let message): deliver { () throws(RPCError) in try observer.callReceived(message) }
    }
  }

  func responseReceived(_ message: RawSpan) {
    deliver { () throws(RPCError) in try observer.callReceived(message) }
  }

  func responseEnded(_ end: ResponseEnd) {
    reportStart()
    if end.error == nil, received == 0, !request.method.kind.serverStreams {
      // Only an interceptor can end a unary call without a message: it means an empty message.
      responseReceived((request.codec == .json ? Array("{}".utf8) : []).span.bytes)
    }
    observer.callEnded(end)
    keepTime(until: .now + Self.reportTime) {
      RPCError(.canceled, "interceptors held the metrics for longer than \(Self.reportTime)", origin: .client)
    }
  }

  func measured(_ metrics: CallMetrics) {
    observer.callMeasured(metrics)
  }

  func finished(_ outcome: Outcome) {
    liveCalls.remove(self)
    if let timer { loop.cancel(timer) }
    subrequests.end()
  }

  func inputWanted(_ isWanted: Bool) {
    observer.callWantsInput(isWanted)
  }

  /// Delivers a message to the observer. Fails a second message of a non-streaming response: the protocols
  /// check this for servers, this method for interceptors.
  private func deliver(_ tell: () throws(RPCError) -> Void) {
    reportStart()
    received += 1
    guard received == 1 || request.method.kind.serverStreams else {
      let words = "interceptors returned more than one message for a response that has one"
      return chain.cancel(RPCError(.internal, words, origin: .client))
    }
    do throws(RPCError) {
      try tell()
    } catch {
      chain.cancel(error)
    }
  }

  private func keep(deadline: MonotonicClock.Instant?, _ limit: Duration) {
    self.deadline = deadline
    keepTime(until: deadline) {
      RPCError(.deadlineExceeded, "the call took longer than \(limit)", origin: .client)
    }
  }

  /// Schedules the end of the call with an error at `instant`, unless it ends earlier or the deadline
  /// changes.
  private func keepTime(until instant: MonotonicClock.Instant?, _ error: @escaping () -> RPCError) {
    if let timer { loop.cancel(timer) }
    timer = instant.map { loop.schedule(at: $0) { [chain] in chain.cancel(error()) } }
  }

  /// Reports the start first, also for a call that never reached the wire.
  private func reportStart() {
    guard !hasReportedStart, let start = given else { return }
    hasReportedStart = true
    observer.callStarted(start, request: nil)
  }
}
