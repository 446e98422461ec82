import RPCurlBase
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

/// A call of a description through the real chain, in a random schedule, and what all parts have received.
final class DifferentialRun: ChainCaller {
  let call: CallDescription
  private var dice: Dice
  private let clock = ManualClock()
  private let thread: HelperThread?
  private let mailbox = Mailbox()
  private(set) var chain: Chain?
  /// The instances of the interceptors, also those of attempts.
  private(set) var instances: [ScriptedInterceptor] = []
  private(set) var wires: [Wire] = []
  private(set) var callerLines: [String] = []
  private(set) var outcome: Outcome?
  /// The interceptors in the order in which they finished.
  private(set) var finished: [Int] = []
  /// How many timers were left after the call had finished.
  private(set) var timerCount = 0
  private(set) var hasEnd = false
  /// Whether the caller has cancelled the call before its end.
  private(set) var isCancelled = false
  /// Whether it has cancelled the call after its end, and before the metrics.
  private(set) var isGivenUp = false
  /// The reports of attempts that the caller has received.
  private(set) var reports: [ReceivedReport] = []
  /// The metrics that the caller has received.
  private(set) var metrics: [CallMetrics] = []
  /// Whether it is not known when a second thread has injected a message.
  private(set) var isAmbiguous = false
  private var isStarted = false
  private var sentCount = 0
  private var isClosed = false

  /// What other threads schedule on the loop.
  private final class Mailbox: @unchecked Sendable {
    let lock = Lock()
    var work: [@Sendable () -> Void] = []
  }

  init(_ call: CallDescription, _ thread: HelperThread?) {
    self.call = call
    self.thread = thread
    dice = Dice(call.seed, 2)
  }

  // MARK: - The schedule

  func perform() {
    let environment = ChainEnvironment(
      clock: clock, post: { [mailbox] work in mailbox.lock.holding { mailbox.work.append(work) } },
      windowBytes: call.windowBytes)
    let facts = CallFacts(
      method: MethodName(service: "test.Echo", method: "Say"), kind: call.kind, protocolName: .grpc,
      target: "http://server", codec: call.isJSON ? .json : .proto)
    let chain = ChainBuilder(call.interceptors.map(registration)).makeChain(
      for: facts, codec: codec, environment: environment)
    self.chain = chain
    for step in 0..<80 where outcome == nil {
      if step == call.cancelStep || (hasEnd && call.cancelsAfterEnd && dice.chance(30)) { cancel() }
      switch dice.roll(10) {
      case 0..<3: stepOfCaller()
      case 3..<6: stepOfServer()
      case 6: clock.advance(by: .milliseconds(dice.roll(300)))
      case 7: turn()
      default: decideOne()
      }
    }
    for _ in 0..<300 where outcome == nil {
      if hasEnd, call.cancelsAfterEnd { cancel() }
      for _ in 0..<3 { stepOfCaller() }
      for _ in 0..<4 { stepOfServer() }
      decideOne()
      thread?.wait()
      turn()
      clock.advance(by: .milliseconds(500))
    }
    thread?.wait()
    turn()
    timerCount = clock.timerCount
    clock.advance(by: .seconds(20))
  }

  private func turn() {
    let work = mailbox.lock.holding {
      defer { mailbox.work = [] }
      return mailbox.work
    }
    for item in work { item() }
  }

  private func cancel() {
    if isStarted, !hasEnd { isCancelled = true }
    if hasEnd, outcome == nil { isGivenUp = true }
    if isStarted { chain?.cancel(RPCError(call.cancelCode, "Ctrl-C", origin: .client)) }
  }

  private func stepOfCaller() {
    guard let chain else { return }
    if !isStarted, dice.chance(70) {
      isStarted = true
      let start = RequestStart(
        method: MethodName(service: "test.Echo", method: "Say"), target: "http://server",
        codec: call.isJSON ? .json : .proto)
      return chain.start(start, caller: self) { [unowned self] chain in
        let wire = Wire(self, chain)
        wires.append(wire)
        return wire
      }
    }
    if sentCount < call.request.count {
      guard chain.wantsMoreInput || isFlooding else { return }
      sentCount += 1
      chain.send(payload(call.request[sentCount - 1]))
    } else if !isClosed || dice.chance(5) {
      isClosed = true
      chain.closeRequest()
    }
  }

  /// Whether senders ignore pauses, and everything is sent before a verdict from outside.
  fileprivate var isFlooding: Bool { call.limits.map { !$0.collects } ?? false }

  /// Whether a sender of a call that ignores pauses has more to send.
  private var hasMoreToSend: Bool {
    guard let limits = call.limits, isFlooding else { return false }
    return limits.isRequest ? !isClosed : !wires.allSatisfy(\.hasEnded) || wires.isEmpty
  }

  private func stepOfServer() {
    let open = wires.filter { $0.canRespond }
    guard !open.isEmpty else { return }
    open[dice.roll(open.count)].respond(dice.roll(3))
  }

  private func decideOne() {
    if hasMoreToSend, !hasEnd { return }
    let holders = instances.filter { $0.heldCount > 0 }
    guard !holders.isEmpty else { return }
    let (holder, choice) = (holders[dice.roll(holders.count)], dice.roll(100))
    if let thread, dice.chance(40) {
      nonisolated(unsafe) let holder = holder
      thread.run { holder.decideOne(choice) }
      thread.wait()
    } else {
      holder.decideOne(choice)
    }
    turn()
  }

  func onThread(_ body: @escaping @Sendable () -> Void) {
    if let thread { thread.run(body) } else { body() }
  }

  func noteAmbiguity() { isAmbiguous = true }

  func noteFinish(of instance: ScriptedInterceptor) { finished.append(instance.interceptor.index) }

  /// Releases everything.
  ///
  /// - Returns: Whether something still retains an interceptor.
  func release() -> Bool {
    struct Weak { weak var instance: ScriptedInterceptor? }
    for instance in instances { instance.clear() }
    let references = instances.map { Weak(instance: $0) }
    instances = []
    wires = []
    chain = nil
    return references.contains { $0.instance != nil }
  }

  // MARK: - The chain

  private func registration(
    _ interceptor: CallDescription.InterceptorDescription
  ) -> InterceptorRegistration {
    nonisolated(unsafe) unowned let run = self
    return InterceptorRegistration(
      name: interceptor.name,
      factory: ClosureFactory { _, context in
        if interceptor.isDeclining { return nil }
        if run.call.makeThrows(interceptor.index) {
          throw RPCError(.aborted, "ended", origin: .interceptor(interceptor.name))
        }
        let instance = ScriptedInterceptor(run.call, interceptor, context, run)
        run.instances.append(instance)
        instance.injectAtMake()
        return instance
      })
  }

  private var codec: MessageCodec {
    let isJSON = call.isJSON
    let parse = { (bytes: [UInt8]) throws -> Message in
      isJSON ? try Message(TestMessages.type, json: bytes) : try Message(TestMessages.type, serialized: bytes)
    }
    return MessageCodec(
      serialize: { isJSON ? try $0.json() : $0.serialized() }, parseRequest: parse, parseResponse: parse)
  }

  // MARK: - Messages

  func payload(_ message: MessageModel) -> Payload {
    guard let encoding = message.encoding else { return .typed(TestMessages.make(message.text)) }
    return .bytes(call.bytes(message.text, encoding))
  }

  /// The text of a message, also of one that cannot be parsed.
  func text(_ value: MessageValue) -> String {
    if let message = value.typedForm { return TestMessages.text(message) }
    let bytes = value.bytesForm ?? []
    if call.isJSON {
      return String(decoding: bytes.filter { !" \"{".utf8.contains($0) }, as: UTF8.self)
    }
    return String(decoding: bytes.dropFirst(bytes.first == 0x0a ? 2 : 5), as: UTF8.self)
  }

  func changed(
    _ value: MessageValue, _ change: CallDescription.Action.Change,
    _ interceptor: CallDescription.InterceptorDescription
  ) -> MessageValue {
    var value = value
    let text = text(value) + "\(interceptor.index)"
    do {
      switch change {
      case .same:
        if value.access.isTyped { try value.setTyped(value.typed) } else { try value.setBytes(value.bytes) }
      case .typed where value.access == .readBytes: return MessageValue(typed: TestMessages.make(text))
      case .typed: try value.setTyped(TestMessages.make(text))
      case .bytes(let encoding): try value.setBytes(call.bytes(text, encoding))
      case .none, .drop, .tag, .flip: break
      }
    } catch { preconditionFailure("\(error)") }
    return value
  }

  func localResponse(_ interceptor: CallDescription.InterceptorDescription) -> LocalResponse {
    LocalResponse(
      headers: Headers([("tag", interceptor.name)]),
      messages: [payload(call.localMessage(interceptor.index))],
      trailers: Headers([("tag", interceptor.name)]))
  }

  /// The attempt that a start belongs to, from the headers that interceptors add which retry and hedge.
  func path(of start: RequestStart) -> String {
    call.interceptors.compactMap { interceptor in
      interceptor.isPlain
        ? nil : start.headers.first("path-\(interceptor.index)").map { "\(interceptor.index)\($0)" }
    }.joined()
  }

  // MARK: - The caller

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start): callerLines.append(Lines.headers(start.headers))
    case .responseMessage(let message): callerLines.append(Lines.content(message))
    case .responseEnd(let end):
      hasEnd = true
      callerLines.append(Lines.end(end))
    case .metrics(let metrics): self.metrics.append(metrics)
    case .requestStart, .requestMessage, .requestEnd: callerLines.append("?")
    }
  }
  func attemptEnded(_ report: AttemptReport) {
    reports.append(ReceivedReport(report, isAfterEnd: hasEnd, isAfterMetrics: !metrics.isEmpty))
  }
  func receive(message: RawSpan) { callerLines.append(Lines.bytes(message.copyBytes())) }
  func finished(_ outcome: Outcome) { self.outcome = outcome }
  func inputWanted(_ isWanted: Bool) {}

  // MARK: - The server

  /// One attempt on the wire.
  final class Wire: ChainTransport {
    private unowned let run: DifferentialRun
    private weak var chain: Chain?
    private(set) var path = ""
    private(set) var lines: [String] = []
    private(set) var isCancelled = false
    private(set) var measureCount = 0
    private var server: CallDescription.Server?
    private var step = 0
    private var isClosed = false
    private var isWanted = true
    /// Whether the server has ended the response.
    private(set) var hasEnded = false

    init(_ run: DifferentialRun, _ chain: Chain) {
      self.run = run
      self.chain = chain
    }

    func start(_ start: RequestStart) {
      path = run.path(of: start)
      server = run.call.server(path)
      lines.append(Lines.start(start.headers))
    }
    func send(_ bytes: [UInt8]) { lines.append(Lines.bytes(bytes)) }
    func closeRequest() {
      isClosed = true
      lines.append("half-close")
    }
    func cancel(_ error: RPCError) {
      isCancelled = true
      lines.append("cancel")
    }
    func responseWanted(_ isWanted: Bool) { self.isWanted = isWanted }
    func measure() {
      measureCount += 1
      var metrics = CallMetrics()
      metrics.receivedBytes = Self.measuredBytes
      chain?.receive(.metrics(metrics))
    }
    /// The bytes that each attempt measures.
    static let measuredBytes = 1000

    var canRespond: Bool {
      guard let server, !isCancelled, !hasEnded, isWanted || run.isFlooding else { return false }
      return isClosed || !server.waitsForRequest
    }

    /// Gives the next part of the response; `form` chooses how a message is given.
    func respond(_ form: Int) {
      guard let server, let chain else { return }
      defer { step += 1 }
      if step == 0, server.hasStart {
        return chain.receive(.responseStart(ResponseStart(headers: Headers([("tag", "server")]))))
      }
      let number = step - (server.hasStart ? 1 : 0)
      guard number < server.messages.count else {
        hasEnded = true
        let error = server.isError ? RPCError(.unavailable, "none", origin: .server) : nil
        return chain.receive(.responseEnd(ResponseEnd(error: error, trailers: Headers([("tag", "server")]))))
      }
      if form == 2 { return respond(Array(server.messages[number...]), chain) }
      let message = server.messages[number]
      let bytes = run.call.bytes(message.text, message.encoding ?? .canonical)
      switch form {
      case 0: chain.receive(message: bytes.span.bytes)
      default: chain.receive(.responseMessage(.bytes(bytes)))
      }
    }

    /// Gives messages in one piece, of which the chain takes some.
    private func respond(_ messages: [MessageModel], _ chain: Chain) {
      var (piece, places): ([UInt8], [Range<Int>]) = ([], [])
      for message in messages {
        let begin = piece.count
        piece += run.call.bytes(message.text, message.encoding ?? .canonical)
        places.append(begin..<piece.count)
      }
      step += chain.receive(messages: places.span, of: piece.span.bytes) - 1
    }
  }
}

extension CallDescription {
  /// The message of a local response of an interceptor.
  func localMessage(_ index: Int) -> MessageModel {
    MessageModel("L\(index)", seed % 2 == 0 ? nil : .unusual)
  }

  /// The messages of the response that an interceptor starts before it responds.
  func streamMessages(_ index: Int) -> [MessageModel] {
    kind.serverStreams ? [MessageModel("S\(index)0", .canonical), MessageModel("S\(index)1", nil)] : []
  }

  /// The code with which the caller cancels the call.
  var cancelCode: StatusCode { seed % 3 == 0 ? .deadlineExceeded : .canceled }

  /// Whether the factory of an interceptor throws.
  func makeThrows(_ index: Int) -> Bool {
    endings.contains { $0.kind == .makeThrows && $0.interceptor == index }
  }
}
