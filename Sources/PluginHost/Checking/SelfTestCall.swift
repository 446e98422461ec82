import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// One call of a self-test: both the caller and the server.
final class SelfTestCall: ChainCaller, ChainTransport {
  /// How the call proceeds.
  enum Course: String, CaseIterable {
    case success, error, cancellation
  }

  private let subject: SelfTestSubject
  private var kind: CallKind { subject.kind }
  let course: Course
  private let chain: Chain
  private var wireChain: Chain
  private let loop: SelfTestLoop
  private(set) var end: ResponseEnd?
  private(set) var isFinished = false
  private var hasResponded = false
  /// The interceptor that holds the call at its time limit.
  private(set) var holder: (name: String, stage: Stage)?

  init(
    _ subject: SelfTestSubject, _ course: Course, _ registrations: [InterceptorRegistration],
    loop: SelfTestLoop, network: SelfTestNetwork, log: @escaping LogSink
  ) {
    self.subject = subject
    self.course = course
    self.loop = loop
    chain = ChainBuilder(registrations).makeChain(
      for: subject.facts,
      codec: MessageCodec(
        serialize: { $0.serialized() }, parseRequest: { try Message(subject.request, serialized: $0) },
        parseResponse: { try Message(subject.response, serialized: $0) }),
      environment: ChainEnvironment(clock: loop, post: loop.post, log: log, subrequests: network))
    wireChain = chain
  }

  /// The method and the course.
  var name: String { "\(subject.title), \(course)" }

  /// Runs the whole call; `false` if it had to be canceled after the time limit. The watchdog ends a callback
  /// that does not return.
  func run(for limit: Duration) -> Bool {
    chain.start(
      RequestStart(
        method: chain.facts.method, target: chain.facts.target, headers: Headers([("x-check", "1")]),
        deadline: .now + limit),
      caller: self,
      transport: { chain in
        self.wireChain = chain
        return self
      })
    for _ in 0..<(kind.clientStreams ? 3 : 1) { chain.send(.bytes(subject.requestBytes)) }
    if course == .cancellation {
      chain.cancel(RPCError(.canceled, "this is a self-test", origin: .client))
    } else {
      chain.closeRequest()
    }
    if loop.run(for: limit, until: { isFinished }) { return true }
    holder = chain.holder
    chain.cancel(RPCError(.deadlineExceeded, "the self-test timed out", origin: .client))
    _ = loop.run(for: .seconds(1), until: { isFinished })
    return false
  }

  // MARK: - The server

  func start(_ start: RequestStart) {}
  func send(_ bytes: [UInt8]) {}

  func closeRequest() {
    // A real server responds later, not within the request's callbacks.
    let call = LoopBound(self)
    loop.post { call.value.respond() }
  }

  private func respond() {
    guard !hasResponded else { return }
    hasResponded = true
    wireChain.receive(.responseStart(ResponseStart(httpVersion: "2", headers: Headers([("x-check", "2")]))))
    let isError = course == .error
    if !isError || kind.serverStreams {
      for _ in 0..<(kind.serverStreams ? 2 : 1) {
        wireChain.receive(.responseMessage(.bytes(subject.responseBytes)))
      }
    }
    let error = RPCError(
      .notFound, "this is a self-test",
      details: [StatusDetail(typeName: "google.protobuf.Value", value: SelfTestSubject.value("x"))],
      origin: .server)
    wireChain.receive(
      .responseEnd(ResponseEnd(error: isError ? error : nil, trailers: Headers([("x-check", "3")]))))
  }

  func cancel(_ error: RPCError) {}
  func responseWanted(_ isWanted: Bool) {}
  func measure() { wireChain.receive(.metrics(CallMetrics())) }

  // MARK: - The caller

  func receive(_ event: CallEvent<Payload>) {
    if case .responseEnd(let end) = event { self.end = end }
  }
  func receive(message: RawSpan) {}
  func finished(_ outcome: Outcome) { isFinished = true }
  func inputWanted(_ isWanted: Bool) {}
}
