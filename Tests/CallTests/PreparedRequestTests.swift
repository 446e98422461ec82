import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlChain
import RPCurlProtocols
import RPCurlTransport
import RPCurlTransportSupport
import Testing

@testable import RPCurlCall

/// Calls of one request, over a libcurl without a network.
struct PreparedRequestTests {
  private let fake = FakeLibcurl()
  private let client: LoopClient

  init() throws {
    client = try LoopClient()
    // The libcurl of the tests does not deliver again what a round that is late refuses.
    client.loop.roundTime = .seconds(60)
  }

  private func request() throws -> CallRequest {
    let name = MethodName(service: "pkg.S", method: "M")
    var request = CallRequest(
      method: try OpaqueMethod.descriptor(of: name), target: "http://h", userAgent: "test")
    request.connection.sharesConnection = true
    return request
  }

  /// Makes a call with the message 7 8, and lets the server act once.
  private func call(
    _ request: PreparedRequest, _ own: OwnParameters? = nil,
    _ server: @escaping (UnsafeMutableRawPointer?, Call) -> Void
  ) throws -> EndRecorder {
    let observer = EndRecorder()
    let call = client.makeCall(request, own, observer: observer)
    call.start()
    call.send(.bytes([7, 8]))
    call.finishSending()
    try fake.run(client.loop, { server(fake.handle(), call) })
    call.cancel("the test ends")
    try fake.run(client.loop)
    #expect(call.isFinished)
    return observer
  }

  @Test func callsShareAHandleAndAreIndependent() throws {
    let prepared = client.prepare(try request())
    var handles: [UnsafeMutableRawPointer?] = []
    for status in [0, 5, 0] {
      let observer = try call(prepared) { handle, _ in
        handles.append(handle)
        #expect(fake.read(handle) == [0, 0, 0, 0, 2, 7, 8])
        fake.send(handle, "HTTP/2 200", "content-type: application/grpc", "")
        let body: [CChar] = [0, 0, 0, 0, 1, CChar(status)]
        _ = fake_body(handle, body, body.count)
        fake.send(handle, "grpc-status: \(status)")
      }
      #expect(observer.ends == [status == 0 ? "ok 00" : "not_found"])
      #expect(observer.measures == 1)
    }
    #expect(Set(handles).count == 1)
    #expect(fake_live_handles() == 1)
    #expect(fake_violations() == 0)
  }

  @Test func eachCallHasAllOfItsTime() throws {
    var request = try request()
    request.timeout = .seconds(100)
    let prepared = client.prepare(request)
    for _ in 0..<2 {
      _ = try call(prepared) { handle, call in
        #expect(fake_list_contains(handle, CURLOPT_HTTPHEADER, "user-agent: test"))
        let timeout = call.httpRequest?.headers.first("grpc-timeout") ?? ""
        // All of 100 s, in any unit, except for less than a second.
        #expect(timeout.hasPrefix("99") || timeout.hasPrefix("100"))
      }
    }
  }

  @Test func callsHaveHeadersAndTimeoutsOfTheirOwn() throws {
    var request = try request()
    request.headers.add("x", "of the request")
    let prepared = client.prepare(request)
    for (value, timeout) in [("1", Duration.seconds(100)), ("2", nil)] {
      var own = OwnParameters(prepared)
      (own.headers, own.timeout) = (Headers([("x", value)]), timeout)
      _ = try call(prepared, own) { _, call in
        #expect(call.httpRequest?.headers.values("x") == [value])
        #expect((call.httpRequest?.headers.first("grpc-timeout") == nil) == (timeout == nil))
      }
    }
    _ = try call(prepared) { _, call in
      #expect(call.httpRequest?.headers.values("x") == ["of the request"])
    }
  }

  /// A request whose headers an interceptor changes.
  private func request(adding name: String, _ value: String) throws -> CallRequest {
    var request = try request()
    request.interceptors = [
      InterceptorRegistration(
        name: "add", factory: ClosureFactory { _, _ in HeaderAdder(name: name, value: value) })
    ]
    return request
  }

  @Test(arguments: [("100S", 50, "49"), ("100S", 200, "99"), ("100S", nil, "99")])
  func timeoutOfAnInterceptorLimitsTheCall(value: String, limit: Int64?, digits: String) throws {
    var request = try request(adding: "grpc-timeout", value)
    request.timeout = limit.map { .seconds($0) }
    _ = try call(client.prepare(request)) { _, call in
      let values = call.httpRequest?.headers.values("grpc-timeout") ?? []
      #expect(values.count == 1)
      // All of the shorter limit except for less than a second.
      #expect(values.first?.hasPrefix(digits) == true, "\(values)")
    }
  }

  @Test func callEndsAtTheTimeoutOfAnInterceptor() throws {
    let observer = EndRecorder()
    let call = client.makeCall(client.prepare(try request(adding: "grpc-timeout", "1n")), observer: observer)
    call.start()
    call.send(.bytes([7, 8]))
    call.finishSending()
    try fake.run(client.loop)
    #expect(observer.ends == ["deadline_exceeded"])
    #expect(call.isFinished)
  }

  @Test func invalidTimeoutOfAnInterceptorEndsTheCall() throws {
    let observer = try call(client.prepare(try request(adding: "grpc-timeout", "zz"))) { _, call in
      #expect(call.httpRequest == nil)
    }
    #expect(observer.ends == ["invalid_argument"])
  }

  @Test func headersOfInterceptorsAreThoseOfEachCall() throws {
    var request = try request()
    let counter = Counter()
    request.interceptors = [
      InterceptorRegistration(name: "count", factory: ClosureFactory { _, _ in counter.next() })
    ]
    let prepared = client.prepare(request)
    for expected in ["x-count: 1", "x-count: 2"] {
      _ = try call(prepared) { handle, _ in
        #expect(fake_list_contains(handle, CURLOPT_HTTPHEADER, expected))
      }
    }
  }

  @Test func findingsGoToTheReceiverOfTheCall() throws {
    var request = try request()
    request.interceptors = [
      InterceptorRegistration(
        name: "find",
        factory: ClosureFactory { _, context in
          context.report(.failure, "found")
          return nil
        })
    ]
    request.onFinding = { _ in Issue.record("it is the receiver of another call") }
    let prepared = client.prepare(request)
    let found = Counter()
    var own = OwnParameters(prepared)
    own.onFinding = { _ in found.add() }
    let call = client.makeCall(prepared, own, observer: EndRecorder())
    call.start()
    call.cancel("the test ends")
    try fake.run(client.loop)
    #expect(found.value == 1)
  }
}

/// Sets a header.
private final class HeaderAdder: StagedInterceptor {
  let stages: Stages = [.requestStart]
  private let name: String
  private let value: String

  init(name: String, value: String) { (self.name, self.value) = (name, value) }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    var start = start
    start.headers.set(name, value)
    token.proceed(start)
  }
}

/// Counts, on one thread.
private final class Counter: Sendable {
  nonisolated(unsafe) private(set) var value = 0

  func add() { value += 1 }

  func next() -> HeaderAdder {
    value += 1
    return HeaderAdder(name: "x-count", value: "\(value)")
  }
}

/// Records the ends of a call, with its messages.
private final class EndRecorder: CallObserver {
  private var message = ""
  private(set) var ends: [String] = []
  private(set) var measures = 0

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseMessage(.bytes(let bytes)): message = " " + bytes.map { "0\($0)" }.joined()
    case .responseEnd(let end): ends.append(end.code.name + (end.error == nil ? message : ""))
    case .metrics: measures += 1
    case .requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage: break
    }
  }
}
