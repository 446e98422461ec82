import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

/// The result of `retry`, which states why a call is not retried.
@Suite(.oneAtATime) struct RetryResultTests {
  private let log = LogCollector()

  /// Makes a call that the plugin retries at its end, and returns it after the end of the response.
  private func call(
    _ method: String, _ message: String = "Ada", deadline: MonotonicClock.Instant? = nil
  ) throws -> PluginCallTest {
    let plugin = try log.loader().load(InterceptorSpec(name: try Fixtures.path("retrying")))
    let call = try PluginCallTest([plugin], method: method)
    call.start(deadline: deadline)
    call.chain.send(.bytes(PluginCallTest.bytes(message)))
    call.chain.closeRequest()
    call.wireChain.receive(.responseStart(ResponseStart()))
    call.wireChain.receive(.responseEnd(ResponseEnd(error: RPCError(.unavailable, "busy", origin: .server))))
    call.work()
    return call
  }

  @Test(arguments: [
    ("Late", "Ada", nil, "-14 the call cannot be retried: the response is under way"),
    ("Unkept", "Ada", nil, "-15 the call cannot be retried: the interceptor declared no replay limit"),
    (
      "Kept", "more than the limit", nil,
      "-15 the call cannot be retried: the request was too large to be kept"
    ),
    (
      "Kept", "Ada", Duration.milliseconds(900),
      "-16 the call cannot be retried: the deadline is before the next attempt"
    ),
  ])
  func statesWhyCallIsNotRetried(
    _ method: String, _ message: String, _ timeout: Duration?, _ result: String
  ) throws {
    let start = ManualClock().now
    let call = try call(method, message, deadline: timeout.map { start + $0 })
    #expect(log.lines.contains("retry: \(result)"))
    // The value was forwarded, and to return the code is no misuse.
    #expect(call.end?.error?.message == "busy" && log.warnings.isEmpty)
  }

  @Test func resultIsOkForRetry() throws {
    let call = try call("Kept")
    #expect(log.lines.count == 1 && log.lines.first?.hasPrefix("retry: 0") == true)
    #expect(call.end == nil && call.sent.count == 1)
    call.clock.advance(by: .seconds(1))
    call.work()
    #expect(call.sent.count == 2)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test(arguments: ["Thread", "Thread late"]) func loopDecidesForOtherThreads(_ course: String) throws {
    let timeout: Duration? = course == "Thread" ? nil : .milliseconds(900)
    let call = try call("Thread", deadline: timeout.map { ManualClock().now + $0 })
    #expect(log.lines.first == "retry: 1")
    call.clock.advance(by: .seconds(1))
    call.work()
    #expect(call.sent.count == (timeout == nil ? 2 : 1))
    #expect((call.end == nil) == (timeout == nil))
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }
}
