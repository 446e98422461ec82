import RPCurlBase
import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport
import RPCurlTransportSupport
import Testing

@testable import RPCurlCall

/// Whole calls over a libcurl without a network.
struct CallTests {
  private let fake = FakeLibcurl()
  private let client: LoopClient
  private let observer = CallRecorder()

  init() throws {
    client = try Self.client()
  }

  /// A client whose rounds are never late: the libcurl of the tests does not deliver again what such a round refuses.
  private static func client() throws -> LoopClient {
    let client = try LoopClient()
    client.loop.roundTime = .seconds(60)
    return client
  }

  private func request(_ method: String = "pkg.S/M", _ kind: CallKind = .unary) throws -> CallRequest {
    let name = try #require(MethodName(method))
    return CallRequest(
      method: try OpaqueMethod.descriptor(of: name, kind), target: "http://h", userAgent: "test")
  }

  /// Starts a unary call with the message 7 8.
  private func start(_ request: CallRequest, _ observer: CallRecorder? = nil) -> Call {
    let call = client.makeCall(request, observer: observer ?? self.observer)
    call.start()
    call.send(.bytes([7, 8]))
    call.finishSending()
    return call
  }

  private static let envelope: [UInt8] = [0, 0, 0, 0, 2, 7, 8]

  /// Makes the server send a complete response.
  private func respond(_ handle: UnsafeMutableRawPointer?, status: Int = 0) {
    fake.send(handle, "HTTP/2 200", "content-type: application/grpc+proto", "")
    send(handle, Self.envelope)
    fake.send(handle, "grpc-status: \(status)", "grpc-message: words")
  }

  @discardableResult
  private func send(_ handle: UnsafeMutableRawPointer?, _ bytes: [UInt8]) -> Int {
    let characters = bytes.map { CChar(bitPattern: $0) }
    return fake_body(handle, characters, characters.count)
  }

  @Test func unaryCallSendsItsMessageAndEndsOnce() throws {
    let call = start(try request())
    try fake.run(
      client.loop,
      {
        #expect(fake.read(fake.handle()) == Self.envelope)
        respond(fake.handle())
      })
    #expect(observer.events == ["start", "message 2", "end ok"])
    #expect(call.isFinished)
    try fake.run(client.loop)
    #expect(fake.handle() == nil)
    #expect(fake_violations() == 0)
  }

  /// A small piece may hold large messages, when they are compressed.
  @Test func pausedCallReceivesRestOfAPieceLater() throws {
    var request = try request("pkg.S/M", .serverStreaming)
    // Each message is a part of the piece.
    request.reportsSizes = true
    let call = start(request)
    observer.onMessage = { call.wantResponse(false) }
    var accepted: [Int] = []
    try fake.run(
      client.loop,
      {
        fake.send(fake.handle(), "HTTP/2 200", "content-type: application/grpc+proto", "")
        accepted.append(send(fake.handle(), Self.envelope + Self.envelope))
      })
    #expect(observer.events == ["start", "message 2"])
    call.wantResponse(true)
    try fake.run(client.loop, { accepted.append(send(fake.handle(), Self.envelope + Self.envelope)) })
    #expect(observer.events == ["start", "message 2", "message 2"])
    #expect(accepted == [Int(CURL_WRITEFUNC_PAUSE), 2 * Self.envelope.count])
  }

  /// Takes two messages at a time. After some it pauses the response, or ends the call.
  final class PairObserver: CallObserver {
    enum Reaction { case none, refuse, cancel, pause }
    var events: [String] = []
    var call: Call?
    let reaction: Reaction
    init(_ reaction: Reaction) { self.reaction = reaction }
    func receive(_ event: CallEvent<Payload>) throws(RPCError) {
      if case .responseEnd(let end) = event { events.append("end \(end.code.name)") }
    }
    func receive(messages places: Span<Range<Int>>, of piece: RawSpan) throws(RPCError) -> Int {
      let isSecond = events.count == 1
      if isSecond, reaction == .refuse { throw RPCError(.dataLoss, "refused", origin: .client) }
      events.append("\(min(2, places.count)) of \(places.count)")
      if isSecond, reaction == .cancel { call?.cancel("enough") }
      if isSecond, reaction == .pause { call?.wantResponse(false) }
      return min(2, places.count)
    }
  }

  @Test(arguments: [
    (PairObserver.Reaction.none, ["2 of 5", "2 of 3", "1 of 1", "end ok"]),
    (.pause, ["2 of 5", "2 of 3", "1 of 1", "end ok"]), (.refuse, ["2 of 5", "end data_loss"]),
    (.cancel, ["2 of 5", "2 of 3", "end canceled"]),
  ])
  func messagesOfAPieceAreGivenAgainUntilTheCallEnds(
    reaction: PairObserver.Reaction, events: [String]
  ) throws {
    let request = try request("pkg.S/M", .serverStreaming)
    let observer = PairObserver(reaction)
    let call = client.makeCall(request, observer: observer)
    observer.call = call
    call.start()
    call.send(.bytes([7, 8]))
    call.finishSending()
    try fake.run(
      client.loop,
      {
        fake.send(fake.handle(), "HTTP/2 200", "content-type: application/grpc+proto", "")
        send(fake.handle(), Self.envelope + Self.envelope + Self.envelope + Self.envelope + Self.envelope)
        fake.send(fake.handle(), "grpc-status: 0")
      })
    #expect(observer.events == events)
  }

  @Test func errorOfTheObserverEndsTheCall() throws {
    observer.refusal = RPCError(.dataLoss, "refused", origin: .client)
    let call = start(try request())
    try fake.run(client.loop, { respond(fake.handle()) })
    #expect(observer.events == ["start", "end data_loss"])
    #expect(observer.measures == 1)
    #expect(call.isFinished)
    #expect(fake_violations() == 0)
  }

  @Test func statusOfTheServerEndsTheCall() throws {
    let call = start(try request())
    try fake.run(client.loop, { respond(fake.handle(), status: 9) })
    #expect(observer.error?.code == .failedPrecondition)
    #expect(observer.error?.message == "words")
    #expect(observer.error?.origin == .server)
    #expect(call.isFinished)
  }

  @Test(arguments: [Duration.zero, .seconds(-5)]) func callPastItsDeadlineIsNotSent(_ timeout: Duration)
    throws
  {
    var request = try request()
    request.timeout = timeout
    let call = start(request)
    #expect(fake.handle() == nil)
    #expect(observer.error == Call.late)
    #expect(call.isFinished)
  }

  @Test func cancelOfTheServerNearTheDeadlineMeansTheDeadline() {
    #expect(Exchange.clockTolerance(.milliseconds(50)) == .milliseconds(5))
    #expect(Exchange.clockTolerance(.seconds(60)) == .milliseconds(100))
  }

  @Test func invalidTargetOfAnInterceptorFailsTheCall() throws {
    var request = try request()
    request.interceptors = [
      InterceptorRegistration(name: "divert", factory: DivertFactory(target: "http://u:secret@other"))
    ]
    let call = start(request)
    try client.loop.run { call.isFinished }
    #expect(fake.handle() == nil)
    #expect(observer.error?.code == .invalidArgument)
    #expect(observer.error?.message.contains("secret") == false)
  }

  @Test func rejectsResponseOverHTTP1() throws {
    _ = start(try request())
    try fake.run(
      client.loop,
      { fake.send(fake.handle(), "HTTP/1.1 200 OK", "content-type: application/grpc", "grpc-status: 0", "") })
    #expect(observer.error?.origin == .violation)
    #expect(observer.error?.cause == .onlyHTTP1(negotiated: nil))
  }

  @Test func rejectsSecondStartOfResponse() throws {
    _ = start(try request())
    try fake.run(
      client.loop,
      {
        fake.send(fake.handle(), "HTTP/2 200", "content-type: application/grpc", "")
        send(fake.handle(), Self.envelope)
        #expect(fake_connect(fake.handle()) != CURL_PREREQFUNC_OK)
        fake.send(fake.handle(), "HTTP/1.1 200 OK", "content-type: application/grpc", "")
        send(fake.handle(), Self.envelope)
        fake_complete(fake.handle(), CURLE_ABORTED_BY_CALLBACK, nil)
      })
    #expect(observer.events.filter { $0.hasPrefix("message") }.count <= 1)
    #expect(observer.events.last == "end unavailable")
    #expect(observer.error?.origin == .connection)
  }

  @Test func startsCallWithinEndOfAnother() throws {
    let next = CallRecorder()
    var second: Call?
    let request = try request()
    observer.onEnd = { second = start(request, next) }
    _ = start(request)
    try fake.run(client.loop, { respond(fake.handle()) })
    #expect(second != nil)
    try fake.run(client.loop, { respond(fake.handle()) })
    #expect(next.events == ["start", "message 2", "end ok"])
    #expect(fake_violations() == 0)
  }

  @Test func deadlineEndsFloodedCall() throws {
    var request = try request()
    request.timeout = .milliseconds(5)
    let call = start(request)
    try client.loop.run { call.isFinished }
    #expect(observer.error?.code == .deadlineExceeded)
    try fake.run(client.loop)
    #expect(fake.handle() == nil)
  }

  @Test func cancelBeforeTheRoundSendsNothing() throws {
    let call = start(try request())
    call.cancel("enough")
    try fake.run(client.loop)
    #expect(fake.handle() == nil)
    #expect(observer.events == ["end canceled"])
  }

  @Test func brokenConnectionEndsTheCall() throws {
    _ = start(try request())
    try fake.run(client.loop, { fake_complete(fake.handle(), CURLE_RECV_ERROR, "Recv failure") })
    #expect(observer.error?.code == .unavailable)
    #expect(
      observer.error?.message
        == "the server closed the connection without a response (Recv failure)")
  }

  /// The server may refuse a large request before it has read it all; what it violates has nothing to do with that.
  @Test(arguments: [
    (CURLE_HTTP2_STREAM, "HTTP/2 stream 1 reset by server (error 0x8 CANCEL)", true),
    (CURLE_HTTP2, "HTTP/2 stream 1 was not closed cleanly before end of the underlying stream", true),
    (CURLE_HTTP2, "nghttp2 shuts down connection with error 6: FRAME_SIZE_ERROR", false),
    (CURLE_HTTP2, "HTTP/2 connection shut down", false), (CURLE_RECV_ERROR, "Recv failure", false),
  ])
  func onlyAStreamThatIsCutMeansThatTheRequestMayBeTooLarge(_ code: CURLcode, _ words: String, _ isCut: Bool)
    throws
  {
    let call = client.makeCall(try request(), observer: observer)
    call.start()
    call.send(.bytes([UInt8](repeating: 7, count: 70_000)))
    call.finishSending()
    try fake.run(client.loop, { fake_complete(fake.handle(), code, words) })
    #expect(
      observer.error?.message.hasSuffix("; the server did not read the whole request, which may be too large")
        == isCut)
  }

  @Test(arguments: [false, true])
  func releasedClientEndsItsCallsOnce(_ isAfterTheEnd: Bool) throws {
    let watcher = Watcher(holdsMetrics: isAfterTheEnd)
    weak let released: Watcher? = watcher
    func callAndRelease(_ watcher: Watcher) throws {
      let client = try Self.client()
      nonisolated(unsafe) let made = watcher
      var request = try request()
      request.interceptors = [InterceptorRegistration(name: "watch", factory: WatcherFactory { made })]
      request.timeout = .seconds(100)
      let call = client.makeCall(request, observer: observer)
      call.start()
      call.send(.bytes([7, 8]))
      call.finishSending()
      try fake.run(client.loop, { if isAfterTheEnd { respond(fake.handle()) } })
      #expect(watcher.finishes == 0)
    }
    try callAndRelease(watcher)
    #expect(watcher.finishes == 1)
    #expect(observer.events.filter { $0.hasPrefix("end") } == [isAfterTheEnd ? "end ok" : "end canceled"])
    #expect(observer.measures == 1)
    _ = consume watcher
    #expect(released == nil)
  }

  @Test func callCanceledBeforeStartEndsOnce() throws {
    let call = client.makeCall(try request(), observer: observer)
    call.cancel("enough")
    call.cancel("enough")
    call.start()
    try fake.run(client.loop)
    #expect(observer.events == ["end canceled"])
    #expect(observer.measures == 1)
    #expect(call.isFinished)
  }

  @Test func sendsMessageQueuedBeforeStart() throws {
    let call = client.makeCall(try request(), observer: observer)
    call.send(.bytes([7, 8]))
    call.finishSending()
    call.start()
    try fake.run(client.loop, { #expect(fake.read(fake.handle()) == Self.envelope) })
    call.cancel("the test ends")
  }

  @Test func secondHalfCloseDoesNothing() throws {
    let counts = Locked(0)
    var request = try request("pkg.S/M", .clientStreaming)
    request.interceptors = [
      InterceptorRegistration(name: "count", factory: ClosureFactory { _, _ in HalfCloses(counts) })
    ]
    let call = client.makeCall(request, observer: observer)
    call.start()
    call.send(.bytes([7, 8]))
    for _ in 1...3 { call.finishSending() }
    call.send(.bytes([9]))
    try fake.run(client.loop, { #expect(fake.read(fake.handle()) == Self.envelope) })
    try fake.run(client.loop, { #expect(fake.read(fake.handle()) == []) })
    #expect(counts.withLock { $0 } == 1)
    call.cancel("the test ends")
  }

  /// For every order of events from libcurl, each call ends once and releases everything.
  @Test func anyOrderOfEventsEndsEachCallOnce() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var recorders: [CallRecorder] = []
      var calls: [Call] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        recorders.append(CallRecorder())
        calls.append(start(try request(), recorders[recorders.count - 1]))
      }
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        try fake.run(client.loop, { act(calls, &random) })
      }
      for call in calls { call.cancel("the test ends") }
      try client.loop.run { calls.allSatisfy(\.isFinished) }
      try fake.run(client.loop)
      for recorder in recorders {
        #expect(recorder.events.filter { $0.hasPrefix("end") }.count == 1, "\(recorder.events)")
        #expect(recorder.events.last?.hasPrefix("end") == true, "\(recorder.events)")
      }
      #expect(fake.handle() == nil)
      #expect(fake_violations() == 0)
    }
  }

  private func act(_ calls: [Call], _ random: inout SystemRandomNumberGenerator) {
    let handle = fake.handle(Int.random(in: 0..<calls.count, using: &random))
    switch Int.random(in: 0..<8, using: &random) {
    case 0: calls.randomElement(using: &random)?.cancel("random")
    case _ where handle == nil: break
    case 1: _ = fake_connect(handle)
    case 2: _ = fake.read(handle)
    case 3: fake.send(handle, "HTTP/2 200", "content-type: application/grpc", "")
    case 4: send(handle, Self.envelope)
    case 5: fake.send(handle, "grpc-status: 0")
    case 6: respond(handle, status: Int.random(in: 0...17, using: &random))
    default: fake_complete(handle, Bool.random(using: &random) ? CURLE_OK : CURLE_RECV_ERROR, "broken")
    }
  }
}

/// Sends the request to another server.
private final class Divert: StagedInterceptor {
  let stages: Stages = [.requestStart]
  private let target: String

  init(_ target: String) { self.target = target }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    var start = start
    start.target = target
    token.proceed(start)
  }
}

/// Counts half-closes.
private final class HalfCloses: StagedInterceptor {
  let stages: Stages = [.requestEnd]
  private let counts: Locked<Int>

  init(_ counts: Locked<Int>) { self.counts = counts }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    counts.withLock { $0 += 1 }
    token.proceed()
  }
}

private struct DivertFactory: InterceptorFactory {
  let target: String
  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? { Divert(target) }
}

/// Counts how often it finishes.
private final class Watcher: StagedInterceptor {
  let stages: Stages = [.requestStart, .metrics]
  private let holdsMetrics: Bool
  private var held: HeldToken<CallMetrics, Report>?
  private(set) var finishes = 0

  init(holdsMetrics: Bool) { self.holdsMetrics = holdsMetrics }

  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
    if holdsMetrics { held = HeldToken(token) } else { token.proceed(metrics) }
  }
  func finish(_ outcome: Outcome) { finishes += 1 }
}

private struct WatcherFactory: InterceptorFactory {
  let make: @Sendable () -> Watcher
  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? { make() }
}

/// Records what a call reports.
private final class CallRecorder: CallObserver {
  var events: [String] = []
  var error: RPCError?
  var onEnd: () -> Void = {}
  var onMessage: () -> Void = {}
  /// The error to throw at a message.
  var refusal: RPCError?
  private(set) var measures = 0

  func receive(_ event: CallEvent<Payload>) throws(RPCError) {
    if case .responseMessage = event, let refusal { throw refusal }
    defer { if case .responseMessage = event { onMessage() } }
    switch event {
    case .responseStart: events.append("start")
    case .responseMessage(.bytes(let bytes)): events.append("message \(bytes.count)")
    case .responseMessage: events.append("message")
    case .responseEnd(let end):
      error = end.error
      events.append("end \(end.code.name)")
      onEnd()
    case .metrics: measures += 1
    case .requestStart, .requestMessage, .requestEnd: break
    }
  }
}
