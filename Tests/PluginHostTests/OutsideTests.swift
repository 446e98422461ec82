import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

/// What plugins do outside of calls.
@Suite(.oneAtATime) struct OutsideTests {
  private let log = LogCollector()
  private let shared = SharedValues()

  /// The client of a plugin.
  private final class Client {
    let clock = ManualClock()
    let posted = Locked<[@Sendable () -> Void]>([])
    var calls: [(Subrequest, (SubrequestResponse) -> Void)] = []
    var fetches: [(HTTPFetch, (Result<HTTPFetchResponse, RPCError>) -> Void)] = []
    let isConcluded = Locked(false)

    func network(_ type: MessageType) -> FactoryNetwork {
      let facts = CallFacts(
        method: MethodName(service: "shop.Shop", method: "Get"), kind: .unary, protocolName: .grpc,
        target: "http://server", requestType: type, responseType: type)
      let posted = posted
      return FactoryNetwork(
        log: { _ in }, clock: clock, post: { body in posted.withLock { $0.append(body) } }, facts: { facts },
        call: { self.calls.append(($0, $1)) }, fetch: { self.fetches.append(($0, $1)) })
    }

    func work() {
      for body in posted.withLock({ bodies in
        defer { bodies = [] }
        return bodies
      }) { body() }
    }
  }

  private func load() throws -> LoadedPlugin {
    try PluginLoader(
      searchPath: PluginSearchPath([]), hostVersion: "9.9", shared: shared, log: log.sink
    ).load(InterceptorSpec(name: try Fixtures.path("outside")))
  }

  private func type() throws -> MessageType {
    let pool = try Fixtures.pool(
      "shop.proto",
      """
      syntax = "proto3"; package shop; message Item { string name = 1; }
      service Shop { rpc Get(Item) returns (Item); }
      """)
    return try #require(try pool.messageType(named: "shop.Item"))
  }

  private let loaded = [
    "share_get: -6 no shared value token", "shared: ", "share_set: 0",
    "no name: -1 a shared value has a name of 1 to 65536 bytes, and at most 65536 bytes", "metric_add: 0",
    "name: -1 the name of a counter must be up to 256 of the characters a-z, A-Z, 0-9, _ and :, not first a digit",
    "negative: -1 -1.0 cannot be added to a counter", "post: 0", "after: 0", "after: 0", "after: 0",
    "cancel: 0", "cancel again: -6 there is no such timer", "fetch: 0", "call: 0", "bad message: 0",
    #"bad method: -1 "Get" is not of the form pkg.Service/Method"#,
    "plugin misbehaving: open_stream with a call that it never received", "stream: -3 unknown call",
  ]

  @Test func requestsBeforeALoopRunsWaitForIt() throws {
    let plugin = try load()
    #expect(log.lines == loaded)
    let client = Client()
    plugin.registration.factory.attach(client.network(try type()))
    #expect(client.calls.map(\.0.message) == [[0x0a, 3] + Array("Ada".utf8)])
    #expect(client.fetches.map(\.0.url) == ["https://tokens/t"])
    client.work()
    client.clock.advance(by: .seconds(1))
    client.fetches.first?.1(.success(HTTPFetchResponse(status: 200, body: Array("key".utf8))))
    client.calls.first?.1(
      SubrequestResponse(message: [0x0a, 3] + Array("Bob".utf8), end: ResponseEnd()))
    let lines = log.lines.dropFirst(loaded.count)
    #expect(lines.first?.hasPrefix("bad message ended: 3 ") == true)
    #expect(
      lines.dropFirst() == [
        "runs: posted", "runs: after 1 s", "fetched: 0 200 key", #"call ended: 0 {"name":"Bob"}, fields 0"#,
      ])
    plugin.unload()
  }

  @Test func endOfClientWaitsForWhatIsPending() throws {
    let plugin = try load()
    let client = Client()
    let network = client.network(try type())
    plugin.registration.factory.attach(network)
    plugin.registration.factory.conclude(network) { [isConcluded = client.isConcluded] in
      isConcluded.withLock { $0 = true }
    }
    #expect(client.fetches.map(\.0.url) == ["https://tokens/t", "https://export/"])
    for fetch in client.fetches { fetch.1(.success(HTTPFetchResponse(status: 200))) }
    client.calls.first?.1(SubrequestResponse(end: ResponseEnd()))
    client.work()
    #expect(!client.isConcluded.withLock { $0 })
    // The timer after 1 s is waited for, and the one after an hour is not.
    client.clock.advance(by: .milliseconds(999))
    #expect(!client.isConcluded.withLock { $0 })
    client.clock.advance(by: .milliseconds(1))
    #expect(client.isConcluded.withLock { $0 })
    #expect(log.lines.contains { $0.hasPrefix("bad message: -10 ") })
    plugin.unload()
  }

  @Test func endOfClientWaitsOneSecondAtMost() throws {
    let plugin = try load()
    let client = Client()
    let network = client.network(try type())
    plugin.registration.factory.attach(network)
    client.clock.advance(by: .seconds(1))
    plugin.registration.factory.conclude(network) { [isConcluded = client.isConcluded] in
      isConcluded.withLock { $0 = true }
    }
    client.clock.advance(by: .milliseconds(999))
    #expect(!client.isConcluded.withLock { $0 })
    client.clock.advance(by: .milliseconds(1))
    #expect(client.isConcluded.withLock { $0 })
    plugin.unload()
    #expect(
      log.lines.suffix(5) == [
        "fetched: 1 0 ", "call ended: 1 the plugin is unloaded, fields 0", "fetched: 1 0 ",
        "unload, after: -4 the plugin is unloaded", "post: -4 the plugin is unloaded",
      ])
  }

  @Test func withoutACallNothingIsConcluded() throws {
    let plugin = try load()
    let client = Client()
    plugin.registration.factory.conclude(client.network(try type())) { [isConcluded = client.isConcluded] in
      isConcluded.withLock { $0 = true }
    }
    #expect(client.isConcluded.withLock { $0 })
    #expect(client.fetches.isEmpty)
    plugin.unload()
  }

  @Test func sharedValuesAndCountersAreLimited() throws {
    for number in 0..<SharedValues.limit {
      try shared.set("\(number)", "")
      try shared.add(1, to: "a\(number)")
    }
    try shared.set("0", String(repeating: "x", count: SharedValues.maxBytes))
    try shared.add(1, to: "a0")
    #expect(throws: InvalidValue.self) { try shared.set("one more", "") }
    #expect(throws: InvalidValue.self) { try shared.add(1, to: "b") }
    #expect(throws: InvalidValue.self) {
      try shared.set("0", String(repeating: "x", count: SharedValues.maxBytes + 1))
    }
    for name in ["", "1a", "a b", "a-b", "\u{e9}", String(repeating: "a", count: 257)] {
      #expect(throws: InvalidValue.self) { try shared.add(1, to: name) }
    }
    for number in [-1, .nan, .infinity] as [Double] {
      #expect(throws: InvalidValue.self) { try shared.add(number, to: "a0") }
    }
    #expect(shared.counters.first?.value == 2)
  }

  @Test func pluginsShareValuesAndCounters() throws {
    let plugins = [try load(), try load()]
    #expect(log.lines.contains("shared: abc"))
    #expect(shared.counters.map(\.name) == ["jobs_total"] && shared.counters.map(\.value) == [5])
    for plugin in plugins { plugin.unload() }
  }
}
