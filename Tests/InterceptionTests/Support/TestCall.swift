import Protobuf
import RPCProtocols
import Synchronization

@testable import Interception

/// A call without a network: both ends of a chain, and the journal of what came to them.
final class TestCall: ChainCaller, ChainWire {
  let journal: Journal
  let chain: Chain
  let wakes = Wakes()
  var request = RequestStart(method: MethodName(service: "test.Echo", method: "Say"), target: "http://server")
  var sentStart: RequestStart?
  var sent: [[UInt8]] = []
  var receivedStart: ResponseStart?
  var received: [Payload] = []
  var end: ResponseEnd?
  var outcome: Outcome?
  /// Whether metrics are given as soon as the end is there.
  var measuresAtOnce = true

  final class Wakes: Sendable {
    let count = Atomic(0)
  }

  init(
    _ kind: CallKind = .bidiStreaming, _ journal: Journal = Journal(), _ probes: [Probe],
    windowBytes: Int = Chain.defaultWindowBytes
  ) {
    self.journal = journal
    let wakes = wakes
    chain = Chain(
      facts: TestCall.facts(kind), links: probes.map { Link(name: $0.name, interceptor: $0) },
      codec: TestMessages.codec, windowBytes: windowBytes,
      mailbox: Mailbox { wakes.count.add(1, ordering: .relaxed) })
  }

  init(_ chain: Chain, _ journal: Journal = Journal()) {
    self.chain = chain
    self.journal = journal
  }

  static func facts(_ kind: CallKind) -> CallFacts {
    CallFacts(
      method: MethodName(service: "test.Echo", method: "Say"), kind: kind, protocolName: .grpc,
      target: "http://server")
  }

  func start() { chain.start(request, caller: self, wire: self) }
  func send(_ text: String) { chain.send(.bytes(TestMessages.bytes(text))) }
  func close() { chain.closeRequest() }
  func receiveHeaders() { chain.received(ResponseStart(headers: Headers([("from", "server")]))) }
  func receive(_ text: String) { chain.received(TestMessages.bytes(text)) }
  func receiveEnd(_ error: RPCError? = nil) { chain.received(ResponseEnd(error: error)) }

  /// A whole call with one message each way.
  func run() {
    start()
    send("ping")
    close()
    receiveHeaders()
    receive("pong")
    receiveEnd()
  }

  /// What came to the wire, and to the caller.
  var wireLines: [String] { journal.lines(of: "wire") }
  var callerLines: [String] { journal.lines(of: "caller") }

  // MARK: Wire

  func start(_ start: RequestStart) {
    sentStart = start
    journal.note("wire start")
  }
  func send(_ bytes: [UInt8]) {
    sent.append(bytes)
    journal.note("wire \(TestMessages.text(bytes))")
  }
  func closeRequest() { journal.note("wire half-close") }
  func cancel(_ error: RPCError) { journal.note("wire cancel") }
  func responseWanted(_ isWanted: Bool) { journal.note("wire \(isWanted ? "go on" : "pause")") }

  // MARK: Caller

  func responseStarted(_ start: ResponseStart) {
    receivedStart = start
    journal.note("caller headers")
  }
  func responseReceived(_ message: Payload) {
    received.append(message)
    switch message {
    case .typed(let message): journal.note("caller typed \(TestMessages.text(message))")
    case .bytes(let bytes): journal.note("caller \(TestMessages.text(bytes))")
    }
  }
  func responseEnded(_ end: ResponseEnd) {
    self.end = end
    journal.note("caller end \(end.code.name)")
    var metrics = CallMetrics()
    metrics.sentBytes = 7
    if measuresAtOnce { chain.measured(metrics) }
  }
  func measured(_ metrics: CallMetrics) { journal.note("caller metrics \(metrics.sentBytes)") }
  func finished(_ outcome: Outcome) {
    self.outcome = outcome
    journal.note("caller finished")
  }
  func inputWanted(_ isWanted: Bool) { journal.note("caller \(isWanted ? "go on" : "pause")") }
}

let refused = RPCError(.permissionDenied, "refused", origin: .interceptor("B"))
