import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols
import Synchronization

import RPCurlChain

/// A call without a network: both ends of a chain, and a journal of what reached them.
package final class TestCall: ChainCaller {
  package let journal: Journal
  package let chain: Chain
  /// The chain right above the transport: that of the last attempt.
  package lazy var wireChain = chain
  /// The chains right above the transport, of all attempts.
  package private(set) var wireChains: [Chain] = []
  /// The numbers of the attempts that were cancelled on the wire, from 1.
  package private(set) var cancelledAttempts: [Int] = []
  package let clock: ManualClock
  package let wakes = Wakes()
  private let log = Log()
  package var request = RequestStart(
    method: MethodName(service: "test.Echo", method: "Say"), target: "http://server")
  package var sentStart: RequestStart?
  /// How many attempts reached the wire.
  package private(set) var wireStarts = 0
  package var sent: [[UInt8]] = []
  /// The deadlines that interceptors have set.
  package var deadlines: [MonotonicClock.Instant?] = []
  /// The attempts that were reported.
  package var attempts: [AttemptReport] = []
  /// The address that the transport reports.
  package var peer: String? = "192.0.2.1:443"
  /// Whether a message of the response has arrived, also one that was not delivered.
  package var hasMessage = false
  package var receivedStart: ResponseStart?
  package var received: [Payload] = []
  package var end: ResponseEnd?
  package var outcome: Outcome?
  /// Whether the transport measures the call as soon as it is asked to.
  package var measuresAtOnce = true
  private var measuring: [Chain] = []
  /// The metrics of the transport.
  package var metrics = CallMetrics()

  package final class Wakes: @unchecked Sendable {
    package let count = Atomic(0)
    /// An element after work was scheduled; those that are not awaited count as one.
    package let arrivals: AsyncStream<Void>
    let arrive: AsyncStream<Void>.Continuation
    let work = Lock()
    var waiting: [@Sendable () -> Void] = []

    init() { (arrivals, arrive) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }
  }

  private final class Log: @unchecked Sendable {
    let lock = Lock()
    var records: [LogRecord] = []
    var findings: [Finding] = []
  }

  /// A call through these probes, used for the first attempt.
  package convenience init(
    _ kind: CallKind = .bidiStreaming, _ journal: Journal = Journal(), _ probes: [Probe],
    windowBytes: Int = Chain.defaultWindowBytes
  ) {
    self.init(kind, journal, probes.map(TestCall.registration), windowBytes: windowBytes)
  }

  package init(
    _ kind: CallKind = .bidiStreaming, _ journal: Journal = Journal(),
    _ registrations: some Sequence<InterceptorRegistration>, windowBytes: Int = Chain.defaultWindowBytes,
    network: (any SubrequestTransport)? = nil, excluded: Set<RegistrationID> = [],
    typed: Bool = false, isIdempotent: Bool = false, hasNoSideEffects: Bool = false,
    lifetime: CallLifetime = .untilItsEnd, protocolName: ProtocolName = .grpc,
    clock: ManualClock = ManualClock()
  ) {
    self.journal = journal
    self.clock = clock
    let wakes = wakes
    let log = log
    var environment = ChainEnvironment(
      clock: clock,
      post: { work in
        wakes.count.add(1, ordering: .relaxed)
        wakes.work.holding { wakes.waiting.append(work) }
        wakes.arrive.yield()
      },
      log: { record in log.lock.holding { log.records.append(record) } }, subrequests: network,
      windowBytes: windowBytes)
    environment.onFinding = { finding in log.lock.holding { log.findings.append(finding) } }
    environment.excluded = excluded
    var facts = TestCall.facts(kind, protocolName, typed: typed)
    facts.isIdempotent = isIdempotent
    facts.hasNoSideEffects = hasNoSideEffects
    facts.lifetime = lifetime
    chain = ChainBuilder(Array(registrations)).makeChain(
      for: facts, headers: request.headers, codec: TestMessages.codec, environment: environment)
  }

  package static func registration(
    _ name: String, _ make: @escaping (CallFacts, CallContext) throws -> (any StagedInterceptor)?
  ) -> InterceptorRegistration {
    nonisolated(unsafe) let make = make
    return InterceptorRegistration(
      name: name, factory: ClosureFactory { facts, context in try make(facts, context) })
  }

  package static func registration(_ probe: Probe) -> InterceptorRegistration {
    registration(probe.name) { _, context in
      probe.context = context
      return probe
    }
  }

  /// What interceptors and the chain logged.
  package var logged: [LogRecord] { log.lock.holding { log.records } }

  /// What interceptors reported.
  package var found: [Finding] { log.lock.holding { log.findings } }

  /// Runs the work that other threads have scheduled on the loop.
  package func work() {
    let waiting = wakes.work.holding {
      defer { wakes.waiting = [] }
      return wakes.waiting
    }
    for item in waiting { item() }
  }

  /// The facts of the call; `typed` if its schema is known.
  package static func facts(
    _ kind: CallKind, _ protocolName: ProtocolName = .grpc, typed: Bool = false
  ) -> CallFacts {
    CallFacts(
      method: MethodName(service: "test.Echo", method: "Say"), kind: kind, protocolName: protocolName,
      target: "http://server", requestType: typed ? TestMessages.type : nil,
      responseType: typed ? TestMessages.type : nil)
  }

  package func start() { start(caller: self) }
  package func start(caller: any ChainCaller) {
    chain.start(request, caller: caller) { chain in
      self.wireChain = chain
      self.wireChains.append(chain)
      return Wire(self, chain)
    }
  }
  package func send(_ text: String) { chain.send(.bytes(TestMessages.bytes(text))) }
  package func close() { chain.closeRequest() }
  package func receiveHeaders() {
    wireChain.receive(.responseStart(ResponseStart(headers: Headers([("from", "server")]))))
  }
  package func receive(_ text: String) {
    wireChain.receive(.responseMessage(.bytes(TestMessages.bytes(text))))
  }
  /// A message as the protocols deliver it: the bytes are valid during this call only.
  package func receive(span text: String) { wireChain.receive(message: TestMessages.bytes(text).span.bytes) }
  package func receiveEnd(_ error: RPCError? = nil) {
    wireChain.receive(.responseEnd(ResponseEnd(error: error)))
  }

  /// A whole call with one message each way.
  package func run() {
    start()
    send("ping")
    close()
    receiveHeaders()
    receive("pong")
    receiveEnd()
  }

  /// What reached the transport, and the caller.
  package var wireLines: [String] { journal.lines(of: "wire") }
  package var callerLines: [String] { journal.lines(of: "caller") }

  // MARK: Wire

  /// The transport of one attempt.
  private final class Wire: ChainTransport {
    let call: TestCall
    weak var chain: Chain?
    let number: Int
    private var isRequestClosed = false
    init(_ call: TestCall, _ chain: Chain) {
      self.call = call
      self.chain = chain
      number = call.wireChains.count
    }
    func start(_ start: RequestStart) {
      call.sentStart = start
      call.wireStarts += 1
      call.journal.note("wire start")
    }
    func send(_ bytes: [UInt8]) {
      call.sent.append(bytes)
      call.journal.note("wire \(TestMessages.text(bytes))")
    }
    func closeRequest() {
      precondition(!isRequestClosed, "the chain half-closed a request twice")
      isRequestClosed = true
      call.journal.note("wire half-close")
    }
    func cancel(_ error: RPCError) {
      call.cancelledAttempts.append(number)
      call.journal.note("wire cancel")
    }
    func responseWanted(_ isWanted: Bool) { call.journal.note("wire \(isWanted ? "go on" : "pause")") }
    var peer: String? { call.peer }
    var hasMessage: Bool { call.hasMessage }
    func measure() {
      if let chain { call.measuring.append(chain) }
      if call.measuresAtOnce { call.giveMetrics() }
    }
  }

  /// Gives metrics to the chains that have asked for them.
  package func giveMetrics() {
    metrics.sentBytes = 7
    let chains = measuring
    measuring = []
    for chain in chains { chain.receive(.metrics(metrics)) }
  }

  // MARK: Caller

  package func attemptEnded(_ report: AttemptReport) { attempts.append(report) }
  package func deadlineChanged(to deadline: MonotonicClock.Instant?) { deadlines.append(deadline) }
  package func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start):
      receivedStart = start
      journal.note("caller headers")
    case .responseMessage(let message):
      received.append(message)
      switch message {
      case .typed(let message): journal.note("caller typed \(TestMessages.text(message))")
      case .bytes(let bytes): journal.note("caller \(TestMessages.text(bytes))")
      }
    case .responseEnd(let end):
      self.end = end
      journal.note("caller end \(end.code.name)")
    case .metrics(let metrics): journal.note("caller metrics \(metrics.sentBytes)")
    case .requestStart, .requestMessage, .requestEnd: journal.note("caller \(event)")
    }
  }
  package func receive(message: RawSpan) {
    let bytes = message.copyBytes()
    received.append(.bytes(bytes))
    journal.note("caller span \(TestMessages.text(bytes))")
  }
  package func finished(_ outcome: Outcome) {
    self.outcome = outcome
    journal.note("caller finished")
  }
  package func inputWanted(_ isWanted: Bool) { journal.note("caller \(isWanted ? "go on" : "pause")") }
}

package let refused = RPCError(.permissionDenied, "refused", origin: .interceptor("B"))
