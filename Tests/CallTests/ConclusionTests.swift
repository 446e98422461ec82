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

/// What factories of interceptors do after calls, over a libcurl without a network.
struct ConclusionTests {
  /// Sends a request after each call, and ends when the response to each has arrived.
  private final class Reporter: InterceptorFactory {
    struct State {
      var sent = 0
      var statuses: [Int] = []
      var failures = 0
      var completion: (@Sendable () -> Void)?
    }

    let state = Locked(State())

    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? { nil }

    func callFinished(_ network: FactoryNetwork) {
      state.withLock { $0.sent += 1 }
      network.fetch(HTTPFetch(method: "POST", url: "http://collector/x", body: [1])) { [self] result in
        state.withLock { state in
          switch result {
          case .success(let response): state.statuses.append(response.status)
          case .failure: state.failures += 1
          }
        }
        endIfDone()
      }
    }

    func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
      state.withLock { $0.completion = completion }
      endIfDone()
    }

    private func endIfDone() {
      let completion = state.withLock { state in
        state.statuses.count + state.failures == state.sent ? state.completion.take() : nil
      }
      completion?()
    }
  }

  private final class Observer: CallObserver {
    func receive(_ event: CallEvent<Payload>) {}
  }

  private let fake = FakeLibcurl()
  private let reporter = Reporter()
  private var registration: InterceptorRegistration {
    InterceptorRegistration(name: "report", factory: reporter)
  }

  /// Makes a call, which ends, and returns when the factory has sent its request.
  private func runCall(_ client: LoopClient) throws {
    let name = try #require(MethodName("pkg.S/M"))
    var request = CallRequest(
      method: try OpaqueMethod.descriptor(of: name), target: "http://h", userAgent: "test")
    request.interceptors = [registration]
    let call = client.makeCall(request, observer: Observer())
    call.start()
    call.send(.bytes([7, 8]))
    call.finishSending()
    try fake.run(
      client.loop,
      {
        fake.send(
          fake.handle(), "HTTP/2 200", "content-type: application/grpc+proto", "grpc-status: 5", "")
      })
    try client.loop.run { call.isFinished && reporter.state.withLock { $0.sent } == 1 }
  }

  @Test func requestOfAFactoryOutlivesTheCall() throws {
    let client = try LoopClient()
    try runCall(client)
    let areDone = client.conclude([registration], log: { _ in })
    #expect(!areDone())
    try fake.run(
      client.loop,
      {
        fake.send(fake.handle(), "HTTP/1.1 202 Accepted", "")
        fake_complete(fake.handle(), CURLE_OK, nil)
      })
    try client.loop.run(until: areDone)
    #expect(reporter.state.withLock { $0.statuses } == [202])
    #expect(fake_violations() == 0)
  }

  // MARK: - Outside of calls

  /// Uses the network that it is attached to.
  private final class Outside: InterceptorFactory {
    let events = Locked<[String]>([])

    func note(_ event: String) { events.withLock { $0.append(event) } }
    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
      note("make \(call.method.method)")
      return nil
    }
    func attach(_ network: FactoryNetwork) {
      note("attach")
      network.post { [self] in note("post") }
      network.after(.milliseconds(1)) { [self] in note("after") }
      let never = network.after(.milliseconds(1)) { [self] in note("never") }
      network.cancel(never)
      let call = Subrequest(method: MethodName(service: "pkg.S", method: "Own"), message: [1])
      network.call(call) { [self] answer in note("call \(answer.end.code)") }
    }
  }

  @Test func factoryIsAttachedOnceAndCallsWithoutItself() throws {
    let client = try LoopClient()
    let (outside, other) = (Outside(), Outside())
    let name = try #require(MethodName("pkg.S/M"))
    var request = CallRequest(
      method: try OpaqueMethod.descriptor(of: name), target: "http://h", userAgent: "test")
    request.interceptors = [InterceptorRegistration(name: "outside", factory: outside)]
    _ = client.prepare(request)
    request.interceptors.append(InterceptorRegistration(name: "other", factory: other))
    _ = client.prepare(request)
    #expect(outside.events.withLock { $0 } == ["attach"])
    try fake.run(
      client.loop,
      {
        fake.send(
          fake.handle(), "HTTP/2 200", "content-type: application/grpc+proto", "grpc-status: 5", "")
      })
    try client.loop.run { outside.events.withLock { $0.contains { $0.hasPrefix("call") } } }
    client.endCalls(RPCError(.canceled, "", origin: .client))
    let events = outside.events.withLock { $0 }
    #expect(events.filter { $0 == "attach" }.count == 1 && !events.contains("never"))
    #expect(events.contains("post"))
    // The own call of the other one passes through it, and its own does not.
    #expect(events.filter { $0 == "make Own" }.count == 1)
    _ = client.prepare(request)
    #expect(outside.events.withLock { $0 }.filter { $0 == "attach" }.count == 1)
  }

  @Test func conclusionWithoutWorkIsDoneAtOnce() throws {
    let client = try LoopClient()
    #expect(client.conclude([], log: { _ in })())
    #expect(client.conclude([registration], log: { _ in })())
  }

  @Test func releasedClientCancelsRequestsOfFactories() throws {
    func callAndRelease() throws {
      let client = try LoopClient()
      try runCall(client)
      #expect(fake.handle() != nil)
    }
    try callAndRelease()
    #expect(fake.handle() == nil)
    #expect(fake_violations() == 0)
  }
}
