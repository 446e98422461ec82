import Interception
import Protobuf
import RPCProtocols
import Transport

/// The caller above the chain: tells the observer what leaves the chain, keeps the deadline, and takes the time.
final class CallDriver: ChainCaller, ExchangeObserver {
  /// How long interceptors may hold the metrics after the end.
  private static let reportTime = Duration.seconds(5)

  private let request: CallRequest
  private let chain: Chain
  /// Where the interceptors' subrequests are.
  private let subrequests: ClientSubrequestTransport
  private let loop: EventLoop
  private let observer: any CallObserver
  private let liveCalls: LiveCalls
  private var begin = MonotonicClock.now
  private var timer: EventLoop.TimerID?
  /// When the call is to have ended.
  private(set) var deadline: MonotonicClock.Instant?
  /// The start as the caller gave it.
  private var given: RequestStart?
  private var hasToldStart = false
  /// How many messages the observer was told were sent; attempts after the first send them again.
  private var sent = 0
  private var received = 0
  /// The latest attempt.
  private weak var exchange: Exchange?

  /// The bytes of the bodies so far, of the latest attempt.
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

  /// Starts the call, which keeps this object until it has finished.
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

  /// Ends the call, also one that was not started.
  func cancel(_ error: RPCError) {
    let isFirst = given == nil && !chain.isFinished
    chain.cancel(error)
    guard isFirst else { return }
    observer.callEnded(ResponseEnd(error: error))
    observer.callMeasured(CallMetrics())
  }

  /// Ends the call with everything that follows its end, which nothing is waited for any more.
  func end(_ error: RPCError) {
    chain.cancel(error)
    // The first may have been the call's end, and an interceptor holds the metrics.
    if !chain.isFinished { chain.cancel(error) }
  }

  // MARK: From the exchange

  func exchangeStarted(_ start: RequestStart, request: HTTPRequest) {
    guard !hasToldStart else { return }
    hasToldStart = true
    observer.callStarted(start, request: request)
  }

  func exchangeSent(message index: Int, _ size: MessageSize) {
    guard index == sent else { return }
    sent += 1
    observer.callSent(size)
  }

  func exchangeReceived(_ size: MessageSize) {
    tellStart()
    observer.callReceived(size)
  }

  // MARK: From the chain

  func deadlineChanged(to deadline: MonotonicClock.Instant?) {
    keep(deadline: deadline, deadline.map { ($0 - begin).inMilliseconds } ?? .zero)
  }

  func responseStarted(_ start: ResponseStart) {
    tellStart()
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
    tellStart()
    if end.error == nil, received == 0, !request.method.kind.serverStreams {
      // Only an interceptor can end a unary call so: it answered with an empty message.
      responseReceived((request.codec == .json ? Array("{}".utf8) : []).span.bytes)
    }
    observer.callEnded(end)
    keepTime(until: .now + Self.reportTime) {
      RPCError(.canceled, "the metrics were held for longer than \(Self.reportTime)", origin: .client)
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

  /// Gives the observer a message, of which a method that is no stream has one: the protocols see to that for a
  /// server, this does for interceptors.
  private func deliver(_ tell: () throws(RPCError) -> Void) {
    tellStart()
    received += 1
    guard received == 1 || request.method.kind.serverStreams else {
      let words = "interceptors made more than one message of an answer that has one"
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

  /// Ends the call with an error at `instant`, unless it has ended or another time is kept by then.
  private func keepTime(until instant: MonotonicClock.Instant?, _ error: @escaping () -> RPCError) {
    if let timer { loop.cancel(timer) }
    timer = instant.map { loop.schedule(at: $0) { [chain] in chain.cancel(error()) } }
  }

  /// An observer hears of the start first, also of a call that never reached the wire.
  private func tellStart() {
    guard !hasToldStart, let start = given else { return }
    hasToldStart = true
    observer.callStarted(start, request: nil)
  }
}

extension Duration {
  /// The duration rounded to what people care for.
  var inMilliseconds: Duration {
    let (seconds, attoseconds) = components
    let milliseconds =
      (attoseconds + (attoseconds < 0 ? -1 : 1) * 500_000_000_000_000) / 1_000_000_000_000_000
    return .seconds(seconds) + .milliseconds(milliseconds)
  }
}
