import Interception
import RPCProtocols
import Testing

@testable import PluginHost

@Suite(.oneAtATime) struct FuzzTests {
  private let log = LogCollector()

  /// Four threads and the callbacks of the plugin call random functions of the host.
  @Test func randomCallsOfTheHostDoNoHarm() throws {
    let settings = [("calls", "40000"), ("seed", "7")].map { InterceptorSpec.Setting(key: $0.0, value: $0.1) }
    let plugin = try log.loader().load(InterceptorSpec(name: try Fixtures.path("fuzz"), settings: settings))
    for kind in CallKind.allCases + CallKind.allCases {
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
      #expect(call.outcome != nil)
    }
    plugin.unload()
    #expect(log.lines.last == "40000 calls of the host")
  }
}
