import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlPlatform
import RPCurlPluginHost
import RPCurlProtobuf
import RPCurlProtocols

/// Collects log lines from any thread.
final class LogCollector: Sendable {
  private let records = Locked<[LogRecord]>([])
  var sink: LogSink { { record in self.records.withLock { $0.append(record) } } }
  var lines: [String] { records.withLock { $0.map(\.text).filter { !isOfSlowCallback($0) } } }
  var warnings: [String] {
    records.withLock { $0.filter { $0.level == .warning }.map(\.text).filter { !isOfSlowCallback($0) } }
  }
  /// The reports of callbacks that take long. On a loaded machine any callback may have one, so `lines` and `warnings`
  /// are without them.
  var slowCallbacks: [String] { records.withLock { $0.map(\.text).filter(isOfSlowCallback) } }

  private func isOfSlowCallback(_ text: String) -> Bool { text.contains("which blocks all calls") }

  func loader(_ directories: [String] = []) -> PluginLoader {
    PluginLoader(searchPath: PluginSearchPath(directories), hostVersion: "9.9", log: sink)
  }
}

/// A call through plugins, without a network. By default its messages are of the type
/// `google.protobuf.Value`.
final class PluginCallTest: ChainCaller, ChainTransport {
  let chain: Chain
  let clock = ManualClock()
  var sentStart: RequestStart?
  var sent: [[UInt8]] = []
  var isRequestClosed = false
  var receivedStart: ResponseStart?
  var received: [Payload] = []
  var end: ResponseEnd?
  var outcome: Outcome?

  static func messageType() throws -> MessageType {
    let pool = DescriptorPool()
    try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    guard let type = try pool.messageType(named: "google.protobuf.Value") else {
      throw Fixtures.Failure(text: "the well-known types have no Value")
    }
    return type
  }

  private final class Waker: Sendable {
    let waiting = Locked<[@Sendable () -> Void]>([])
    let findings = Locked<[Finding]>([])
  }
  private let waker: Waker

  /// What the plugins reported.
  var findings: [Finding] { waker.findings.withLock { $0 } }

  /// The chain directly above the wire, of the last attempt.
  lazy var wireChain = chain

  init(
    _ plugins: [LoadedPlugin], _ kind: CallKind = .unary, method: String = "Say",
    type: MessageType? = nil, service: String = "test.Echo", codec: CodecName = .proto,
    isOpaque: Bool = false, network: (any SubrequestTransport)? = nil
  ) throws {
    let type = try type ?? Self.messageType()
    let waker = Waker()
    var environment = ChainEnvironment(
      clock: clock, post: { work in waker.waiting.withLock { $0.append(work) } }, subrequests: network)
    environment.onFinding = { finding in waker.findings.withLock { $0.append(finding) } }
    self.waker = waker
    let parse = { (bytes: [UInt8]) in
      codec == .json ? try Message(type, json: bytes) : try Message(type, serialized: bytes)
    }
    var facts = CallFacts(
      method: MethodName(service: service, method: method), kind: kind, protocolName: .grpc,
      target: "http://server", codec: codec, requestType: type, responseType: type)
    facts.isOpaque = isOpaque
    chain = ChainBuilder(plugins.map(\.registration)).makeChain(
      for: facts,
      codec: MessageCodec(
        serialize: { codec == .json ? try $0.json() : $0.serialized() }, parseRequest: parse,
        parseResponse: parse),
      environment: environment)
  }

  func start(deadline: MonotonicClock.Instant? = nil, headers: Headers = Headers([("a", "1"), ("b", "2")])) {
    chain.start(
      RequestStart(
        method: chain.facts.method, target: "http://server",
        headers: headers, deadline: deadline),
      caller: self,
      transport: { chain in
        self.wireChain = chain
        return self
      })
    clock.advance(by: .microseconds(1500))
  }

  /// Runs a whole call, which the server ends with an error.
  func run(deadline: MonotonicClock.Instant? = nil) {
    start(deadline: deadline)
    chain.send(.bytes(Self.bytes("Ada")))
    chain.closeRequest()
    var start = ResponseStart(httpVersion: "2")
    start.peer = "[::1]:80"
    start.tlsVersion = "TLSv1.3"
    wireChain.receive(.responseStart(start))
    let details = [StatusDetail(typeName: "x", value: [1])]
    wireChain.receive(
      .responseEnd(ResponseEnd(error: RPCError(.notFound, "gone", details: details, origin: .server))))
  }

  /// Runs the scheduled work of the loop.
  func work() {
    let waiting = waker.waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for item in waiting { item() }
    chain.processCommands()
  }

  /// Runs work from other threads until a condition holds, for up to five seconds.
  func wait(until condition: () -> Bool) {
    for _ in 0..<5000 where !condition() {
      work()
      usleep(1000)
    }
  }

  /// The serialized `Value` of a short text.
  static func bytes(_ text: String) -> [UInt8] { [0x1a, UInt8(text.utf8.count)] + Array(text.utf8) }

  var receivedTexts: [String] {
    received.map { payload in
      switch payload {
      case .bytes(let bytes): String(decoding: bytes.dropFirst(2), as: UTF8.self)
      case .typed(let message): String(decoding: message.serialized().dropFirst(2), as: UTF8.self)
      }
    }
  }

  // MARK: Wire

  func start(_ start: RequestStart) {
    sentStart = start
    isRequestClosed = false
  }
  func send(_ bytes: [UInt8]) { sent.append(bytes) }
  func closeRequest() {
    precondition(!isRequestClosed, "the chain half-closed a request twice")
    isRequestClosed = true
  }
  func cancel(_ error: RPCError) {}
  func responseWanted(_ isWanted: Bool) {}
  func measure() {
    var metrics = CallMetrics()
    metrics.sentBytes = 7
    // The chain that asks: below a plugin that may retry, that of the attempt.
    wireChain.receive(.metrics(metrics))
  }

  // MARK: Caller

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start): receivedStart = start
    case .responseMessage(let message): received.append(message)
    case .responseEnd(let end): self.end = end
    case .requestStart, .requestMessage, .requestEnd, .metrics: break
    }
  }
  func receive(message: RawSpan) { receive(.responseMessage(.bytes(message.copyBytes()))) }
  func finished(_ outcome: Outcome) { self.outcome = outcome }
  func inputWanted(_ isWanted: Bool) {}
}
