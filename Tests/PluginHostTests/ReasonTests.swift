import RPCurlBase
import RPCurlChain
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

/// The host's reports when a plugin fails, or requests something invalid.
///
/// Serialized, because the plugin stores the host of its last load.
@Suite(.oneAtATime) struct ReasonTests {
  private let log = LogCollector()

  private func call(_ method: String) throws -> PluginCallTest {
    let plugin = try log.loader().load(InterceptorSpec(name: try Fixtures.path("reasons")))
    return try PluginCallTest([plugin], .bidiStreaming, method: method)
  }

  @Test func returnedCodeHasReasonOfHostFunction() throws {
    let call = try call("Idiom")
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    #expect(
      call.end?.error?.message
        == "google.protobuf.Value has no field string_valu; did you mean string_value?")
  }

  @Test(arguments: ["Stale", "Other"])
  func reasonBelongsToFailedCallback(_ method: String) throws {
    let call = try call(method)
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    #expect(call.end?.error?.message == "RPCURL_EFAILED (no reason given by the plugin)")
  }

  @Test func rejectsHeadersOfTheHost() throws {
    let call = try call("Headers")
    call.start()
    #expect(
      log.lines == [
        "connection: -1", "Content-Length: -1", "te: -1", "host: -1", "content-type: -1",
        "grpc-timeout: -1", "grpc-status: -1", "x-bin: -1", "y-bin: 0", "x-static: 0",
      ])
    #expect(call.sentStart?.headers.first("y-bin") == "AQI=")
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  /// The processor time of this thread so far.
  private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  @Test func addsManyHeadersInLinearTime() throws {
    let call = try call("Many")
    let begin = processorTime()
    call.start()
    #expect(log.lines.contains("fields: 20002"))
    // In quadratic time it took 6 s of the processor in a release build; now 0.1 s.
    #expect(processorTime() - begin < .seconds(4))
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test(.enabled(if: getenv("TSAN_OPTIONS") == nil, "ThreadSanitizer takes minutes, for one thread"))
  func limitsInjectedMessagesPerCallback() throws {
    let call = try call("Flood")
    call.start()
    #expect(log.lines == ["injected: 65536", "then: -12"])
    call.work()
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func limitsLoggedMisuse() throws {
    let call = try call("Misuse")
    call.start()
    #expect(log.warnings.count == 101)
    #expect(log.warnings.last == "plugin misbehaving: more than 100 times; the rest is not logged")
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func rejectsClearingBeyondTheEnd() throws {
    let call = try call("Clear")
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    #expect(
      log.lines == ["clear [2]: -6", "clear [-1]: 0", "clear [1]: -6", "length: 1", "clear a key: 0"])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func rejectsUseOfEndedCall() throws {
    let call = try call("Say")
    call.start()
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    #expect(log.lines == ["cancel in close: -4", "after in close: -1"])
  }

  /// A new thread may have the identifier of one that has ended.
  @Test func errorsOfThreadEndWithIt() {
    let errors = ThreadErrors()
    for _ in 0..<10 {
      onOtherThread { #expect(errors.last.size == 0) }
      onOtherThread {
        errors.note(ABIFailure(-1, "failed"))
        errors.setReason("because")
        #expect(errors.last.lossyString == "failed")
      }
    }
    #expect(errors.last.size == 0)
  }

  /// In a process of its own: other tests may read the environment meanwhile, on other threads.
  @Test func invalidResultsAreFailures() async throws {
    let path = try Fixtures.path("reasons")
    await #expect(processExitsWith: .success) { [path = path as String] in
      setenv("REASONS_READY", "1", 1)
      let error = #expect(throws: PluginError.self) {
        try LogCollector().loader().load(InterceptorSpec(name: path))
      }
      unsetenv("REASONS_READY")
      #expect(
        error?.description
          == "plugin reasons: ready failed: ready returned 77, which is not a valid result")
      setenv("REASONS_NEEDS", "1", 1)
      let plugin = try LogCollector().loader().load(InterceptorSpec(name: path))
      let call = try PluginCallTest([plugin], .bidiStreaming, method: "Say")
      call.start()
      #expect(call.end?.error?.message == "needs returned 44, which is not a valid result")
    }
  }

  @Test func rejectsPluginWithUnknownFlag() throws {
    let path = try Fixtures.path("flags")
    let error = #expect(throws: PluginError.self) { try log.loader().load(InterceptorSpec(name: path)) }
    #expect(
      error?.description
        == "plugin \(path): it requires a feature that this rpcurl lacks (flags 0x80000000)")
  }

  @Test func rejectsUnprintableName() throws {
    let path = try Fixtures.path("bad_name")
    let error = #expect(throws: PluginError.self) { try log.loader().load(InterceptorSpec(name: path)) }
    #expect(error?.description.hasSuffix("not printable UTF-8 on one line") == true)
  }
}
