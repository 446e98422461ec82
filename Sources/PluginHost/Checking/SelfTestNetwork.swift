import RPCurlChain
import RPCurlProtocols

/// The network of a check: what the plugin requests of it fails, and is recorded.
final class SelfTestNetwork: SubrequestTransport {
  private let loop: SelfTestLoop
  private let coverage: SelfTestCoverage
  private static let error = RPCError(.unavailable, "a self-test has no network", origin: .connection)

  init(_ loop: SelfTestLoop, _ coverage: SelfTestCoverage) {
    self.loop = loop
    self.coverage = coverage
  }

  func call(
    _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    completion: @escaping (SubrequestResponse) -> Void
  ) {
    fail("call of \(call.method)") { completion(SubrequestResponse(end: ResponseEnd(error: Self.error))) }
  }

  func open(
    _ call: Subrequest, _ kind: CallKind, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    receive: @escaping (SubrequestEvent) -> Void
  ) -> (any SubrequestStream)? {
    fail("stream of \(call.method)") { receive(.end(ResponseEnd(error: Self.error))) }
    return Stream()
  }

  func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    fail("HTTP request") { completion(.failure(Self.error)) }
  }

  /// What the plugin may request outside of calls.
  func outside(_ facts: CallFacts, log: @escaping LogSink) -> FactoryNetwork {
    FactoryNetwork(
      log: log, clock: loop, post: loop.post, watch: { [loop] in loop.watch($0, $1, $2) }, facts: { facts },
      call: { [self] call, completion in
        self.call(call, for: facts, excluding: [], completion: completion)
      }, fetch: { [self] in fetch($0, completion: $1) })
  }

  private func fail(_ name: String, _ end: @escaping () -> Void) {
    coverage.note(request: name)
    let end = LoopBound(end)
    loop.post { end.value() }
  }

  private final class Stream: SubrequestStream {
    func send(_ message: [UInt8]) {}
    func finishSending() {}
    func wantResponse(_ isWanted: Bool) {}
    func cancel(_ reason: String) {}
  }
}
