import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

@Suite(.oneAtATime) struct FuzzTests {
  /// How many functions of the host are called; RPCURL_RANDOM_HOST_CALLS sets the number.
  private static let calls = number("RPCURL_RANDOM_HOST_CALLS") ?? 40_000
  /// The seed of the random numbers, from RPCURL_RANDOM_SEED. The threads make the order differ with the same seed too.
  private static let seed = number("RPCURL_RANDOM_SEED") ?? 7
  /// How many functions are called for each round of the kinds of calls.
  private static let callsInRound = 20_000

  private let log = LogCollector()

  private static func number(_ variable: String) -> Int? {
    getenv(variable).flatMap { Int(String(cString: $0)) }
  }

  /// Four threads and the callbacks of the plugin call random functions of the host.
  @Test func randomCallsOfTheHostDoNoHarm() throws {
    let settings = [("calls", Self.calls), ("seed", Self.seed)].map {
      InterceptorSpec.Setting(key: $0.0, value: String($0.1))
    }
    let plugin = try log.loader().load(InterceptorSpec(name: try Fixtures.path("fuzz"), settings: settings))
    let rounds = max(1, Self.calls / Self.callsInRound)
    for kind in (0..<rounds).flatMap({ _ in CallKind.allCases }) {
      let call = try PluginCallTest([plugin], kind)
      call.start()
      for _ in 0..<3 {
        call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
        call.clock.advance(by: .milliseconds(3))
        call.work()
      }
      call.chain.closeRequest()
      call.clock.advance(by: .milliseconds(3))
      call.work()
      call.wireChain.receive(.responseStart(ResponseStart()))
      call.wireChain.receive(.responseMessage(.bytes(PluginCallTest.bytes("Bob"))))
      call.wireChain.receive(.responseEnd(ResponseEnd()))
      for _ in 0..<10 {
        call.clock.advance(by: .milliseconds(3))
        call.work()
      }
      call.chain.cancel(RPCError(.canceled, "over", origin: .client))
      #expect(call.outcome != nil, "seed \(Self.seed)")
    }
    plugin.unload()
    #expect(log.lines.last == "\(Self.calls) calls of the host", "seed \(Self.seed)")
  }
}
