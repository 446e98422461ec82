import Interception
import Protobuf
import RPCProtocols

/// One call of a self-test: the caller and the server in one. Messages are of the type `google.protobuf.Value`.
final class SelfTestCall: ChainCaller, ChainWire {
  /// How the call goes.
  enum Course: String, CaseIterable {
    case success, error, cancellation
  }

  let kind: CallKind
  let course: Course
  private let chain: Chain
  private var wireChain: Chain
  private let loop: SelfTestLoop
  private(set) var end: ResponseEnd?
  private(set) var isFinished = false
  private var isAnswered = false

  init(
    _ kind: CallKind, _ course: Course, _ registrations: [InterceptorRegistration], _ type: MessageType,
    loop: SelfTestLoop, log: @escaping LogSink
  ) {
    self.kind = kind
    self.course = course
    self.loop = loop
    let facts = CallFacts(
      method: MethodName(service: "rpcurl.check.Check", method: Self.method(kind)), kind: kind,
      protocolName: .grpc, target: "http://localhost", requestType: type, responseType: type)
    chain = ChainBuilder(registrations).makeChain(
      for: facts,
      codec: MessageCodec(
        serialize: { $0.serialized() }, parseRequest: { try Message(type, serialized: $0) },
        parseResponse: { try Message(type, serialized: $0) }),
      environment: ChainEnvironment(clock: loop, post: loop.post, log: log))
    wireChain = chain
  }

  private static func method(_ kind: CallKind) -> String {
    switch kind {
    case .unary: "Unary"
    case .clientStreaming: "ClientStreaming"
    case .serverStreaming: "ServerStreaming"
    case .bidiStreaming: "BidiStreaming"
    }
  }

  /// The kind and the course, in words.
  var name: String { "\(Self.method(kind)), \(course)" }

  /// Makes the whole call; `false` when it does not end in time, and has to be canceled.
  func run(for limit: Duration) -> Bool {
    chain.start(
      RequestStart(
        method: chain.facts.method, target: chain.facts.target, headers: Headers([("x-check", "1")])),
      caller: self,
      wire: { chain in
        self.wireChain = chain
        return self
      })
    for text in kind.clientStreams ? ["one", "two", "three"] : ["one"] {
      chain.send(.bytes(Self.message(text)))
    }
    if course == .cancellation {
      chain.cancel(RPCError(.canceled, "this is a self-test", origin: .client))
    } else {
      chain.closeRequest()
    }
    if loop.run(for: limit, until: { isFinished }) { return true }
    chain.cancel(RPCError(.deadlineExceeded, "the self-test does not wait longer", origin: .client))
    _ = loop.run(for: .seconds(1), until: { isFinished })
    return false
  }

  /// Who holds the call, if it does not end.
  var holder: String? { chain.holder.map { "\($0.name) at \($0.stage)" } }

  /// A serialized `Value` of a text.
  private static func message(_ text: String) -> [UInt8] {
    [0x1a, UInt8(text.utf8.count)] + Array(text.utf8)
  }

  // MARK: - The server

  func start(_ start: RequestStart) {}
  func send(_ bytes: [UInt8]) {}

  func closeRequest() {
    // A server answers later, and not within what it is told.
    let box = Box(self)
    loop.post { box.call.answer() }
  }

  private struct Box: @unchecked Sendable {
    let call: SelfTestCall
    init(_ call: SelfTestCall) { self.call = call }
  }

  private func answer() {
    guard !isAnswered else { return }
    isAnswered = true
    wireChain.received(ResponseStart(httpVersion: "2", headers: Headers([("x-check", "2")])))
    let isError = course == .error
    if !isError || kind.serverStreams {
      for text in kind.serverStreams ? ["four", "five"] : ["four"] {
        wireChain.received(.bytes(Self.message(text)))
      }
    }
    let error = RPCError(
      .notFound, "this is a self-test",
      details: [StatusDetail(typeName: "google.protobuf.Value", value: Self.message("x"))], origin: .server)
    wireChain.received(ResponseEnd(error: isError ? error : nil, trailers: Headers([("x-check", "3")])))
  }

  func cancel(_ error: RPCError) {}
  func responseWanted(_ isWanted: Bool) {}
  func measure() { wireChain.measured(CallMetrics()) }

  // MARK: - The caller

  func responseStarted(_ start: ResponseStart) {}
  func responseReceived(_ message: Payload) {}
  func responseReceived(_ message: RawSpan) {}
  func responseEnded(_ end: ResponseEnd) { self.end = end }
  func measured(_ metrics: CallMetrics) {}
  func finished(_ outcome: Outcome) { isFinished = true }
  func inputWanted(_ isWanted: Bool) {}
}
