import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

/// Crashes and blocking within one process; the end-to-end tests cover every stage.
@Suite(.oneAtATime) struct GuardTests {
  @Test func reportsCrashInCallbackAndEndsProcess() async throws {
    let path = try Fixtures.path("crash")
    let result = await #expect(
      processExitsWith: .exitCode(7), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      setenv("CRASH_AT", "request_message", 1)
      let plugin = try LogCollector().loader().load(InterceptorSpec(name: path))
      try PluginCallTest([plugin]).run()
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      words.hasPrefix(
        "rpcurl: plugin crash: crashed (SIGSEGV) in request_message, in the call test.Echo/Say\nhint: "))
  }

  @Test(arguments: ["exit", "quick_exit"])
  func reportsPluginThatEndsTheProcess(_ how: String) async throws {
    let path = try Fixtures.path("crash")
    let result = await #expect(
      processExitsWith: .exitCode(7), observing: [\.standardErrorContent]
    ) { [path = path as String, how = how as String] in
      setenv("CRASH_AT", "request_message", 1)
      setenv("CRASH_HOW", how, 1)
      let plugin = try LogCollector().loader().load(InterceptorSpec(name: path))
      try PluginCallTest([plugin]).run()
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      words.hasPrefix(
        "rpcurl: plugin crash: ended the process in request_message, in the call test.Echo/Say\nhint: "))
  }

  @Test func reportsPluginThatEndsTheProcessOnItsOwnThread() async throws {
    let path = try Fixtures.path("crash")
    let result = await #expect(
      processExitsWith: .exitCode(7), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      setenv("CRASH_AT", "thread", 1)
      setenv("CRASH_HOW", "exit", 1)
      let plugin = try LogCollector().loader().load(InterceptorSpec(name: path))
      try PluginCallTest([plugin]).run()
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.hasPrefix("rpcurl: plugin crash: ended the process in a thread of its own\nhint: "))
  }

  /// Further up on the stack of a thread are values that other functions have left.
  @Test func threadOfTheHostMayEndTheProcess() async throws {
    let path = try Fixtures.path("crash")
    await #expect(processExitsWith: .exitCode(0)) { [path = path as String] in
      let loader = LogCollector().loader()
      _ = try loader.load(InterceptorSpec(name: path))
      let address = UInt(bitPattern: try loader.describe(path).address)
      let left = [UInt](repeating: 0, count: 64) + [UInt](repeating: address, count: 60)
      try SystemThread {
        withUnsafeTemporaryAllocation(of: UInt.self, capacity: left.count) { words in
          _ = words.initialize(from: left)
          exit(0)
        }
      }.join()
    }
  }

  @Test(arguments: [("quick_exit", 3), ("abort", -SIGABRT)])
  func childProcessOfPluginEndsByItself(_ how: String, _ status: Int32) async throws {
    let path = try Fixtures.path("crash")
    await #expect(processExitsWith: .exitCode(0)) {
      [path = path as String, how = how as String, status = status as Int32] in
      setenv("CRASH_AT", "request_message", 1)
      setenv("CRASH_HOW", how, 1)
      setenv("CRASH_IN", "child", 1)
      let log = LogCollector()
      let plugin = try log.loader().load(InterceptorSpec(name: path))
      try PluginCallTest([plugin]).run()
      exit(log.lines == ["child: \(status)"] ? 0 : 1)
    }
  }

  @Test func endsProcessIfCallbackExceedsDeadline() async throws {
    let path = try Fixtures.path("crash")
    let result = await #expect(
      processExitsWith: .exitCode(7), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      setenv("CRASH_AT", "response_end", 1)
      setenv("CRASH_HOW", "hang", 1)
      let plugin = try LogCollector().loader().load(InterceptorSpec(name: path))
      try PluginCallTest([plugin]).run(deadline: .now + .milliseconds(20))
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      words.hasPrefix(
        "rpcurl: plugin crash: did not return after the deadline, in response_end, in the call test.Echo/Say\nhint: "
      ))
  }

  @Test func endsProcessIfCallbackContinuesAfterSignal() async throws {
    let path = try Fixtures.path("crash")
    let result = await #expect(
      processExitsWith: .exitCode(7), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      setenv("CRASH_AT", "open", 1)
      setenv("CRASH_HOW", "hang", 1)
      var ends: [Int32] = [-1, -1]
      pipe(&ends)
      Interrupts.watch(ends[0])
      write(ends[1], "x", 1)
      let plugin = try LogCollector().loader().load(InterceptorSpec(name: path))
      try PluginCallTest([plugin]).run()
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      words.hasPrefix("rpcurl: plugin crash: did not return after the signal to end, in open, in the call "))
  }

  @Test(
    .enabled(
      if: getenv("ASAN_OPTIONS") == nil && getenv("TSAN_OPTIONS") == nil,
      "the allocators of sanitizers end the process otherwise"))
  func reportsPluginThatFreesBytesOfTheHost() async throws {
    let path = try Fixtures.path("crash")
    let result = await #expect(
      processExitsWith: .exitCode(7), observing: [\.standardErrorContent]
    ) { [path = path as String] in
      setenv("CRASH_AT", "request_start", 1)
      setenv("CRASH_HOW", "free", 1)
      let plugin = try LogCollector().loader().load(InterceptorSpec(name: path))
      try PluginCallTest([plugin]).run()
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      words.contains("rpcurl: plugin crash: crashed (SIGABRT) in request_start, in the call test.Echo/Say\n"))
  }

  @Test func passesCrashOfHostToPreviousHandler() async throws {
    let path = try Fixtures.path("crash")
    await #expect(processExitsWith: .exitCode(99)) { [path = path as String] in
      signal(SIGABRT) { _ in _exit(99) }
      _ = try LogCollector().loader().load(InterceptorSpec(name: path))
      abort()
    }
  }

  @Test func reportsBlockingCallback() throws {
    let log = LogCollector()
    let seen = try Fixtures.temporaryDirectory() + "/seen"
    let loader = PluginLoader(searchPath: PluginSearchPath([]), hostVersion: "9.9") { record in
      log.sink(record)
      if record.text.hasPrefix("request_message has been") { try? Fixtures.write([], to: seen) }
    }
    let plugin = try loader.load(
      InterceptorSpec(
        name: try Fixtures.path("blocking"), settings: [InterceptorSpec.Setting(key: "seen", value: seen)]))
    let call = try PluginCallTest([plugin])
    call.run()
    #expect(
      log.slowCallbacks.contains(
        "request_message has been running for 100 ms, in the call test.Echo/Say, which blocks all calls"))
    #expect(call.outcome != nil)
  }
}
