import RPCurlChain
import RPCurlPlatform
import RPCurlProtobuf
import Testing

@testable import RPCurlPluginHost

@Suite(.oneAtATime) struct CheckTests {
  private let log = LogCollector()

  private func check(
    _ name: String, limit: Duration = .seconds(2), method: MethodDescriptor? = nil,
    settings: [InterceptorSpec.Setting] = [], loader: PluginLoader? = nil
  ) throws -> [PluginCheck.Line] {
    var lines: [PluginCheck.Line] = []
    let check = PluginCheck(loader: loader ?? log.loader(), limit: limit, method: method) {
      lines.append($0)
    }
    // A copy, because tests of other suites use the file itself, with its static variables.
    let copy = try Fixtures.temporaryDirectory() + "/copy.so"
    Fixtures.run("cp '\(try Fixtures.path(name))' '\(copy)'; chmod 755 '\(copy)'")
    try check.run(InterceptorSpec(name: copy, settings: settings))
    return lines
  }

  @Test func validPluginPassesEveryStep() throws {
    let lines = try check("later")
    #expect(lines.contains(.passed("symbol: rpcurl_plugin_entry")))
    #expect(
      lines.contains(.passed("call: BidiStreaming, cancellation, between interceptors that hold every value"))
    )
    #expect(lines.last == .passed("unloaded"))
    #expect(log.warnings.isEmpty)
  }

  @Test func useOfTokenAfterCancellationPasses() throws {
    #expect(try check("ended").last == .passed("unloaded"))
  }

  @Test func runsWhatPluginDoesOutsideOfCalls() throws {
    // The fixture opens a stream outside of calls, which is misuse.
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("outside") }
    #expect(fault?.step == "loading")
    let lines = try check("exporting")
    #expect(
      lines.suffix(2) == [.passed("unloaded"), .unexercised("a response to its HTTP request, made 2 times")])
    #expect(
      log.lines.filter { !$0.hasPrefix("plugin misbehaving") }.suffix(3) == [
        "fetched: 14", "timer", "fetched: 14",
      ])
  }

  @Test func runsTestOfPlugin() throws {
    #expect(try check("self_test").contains(.passed("its own test")))
    let settings = [InterceptorSpec.Setting(key: "pass", value: "no")]
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("self_test", settings: settings) }
    #expect(fault?.step == "its own test")
    #expect(fault?.reason == "plugin self-test: check failed: 2 + 2 is 5")
  }

  @Test func reportsPluginThatDeclinesEveryCall() throws {
    let lines = try check("declining")
    #expect(lines.suffix(2) == [.passed("unloaded"), .unexercised("the plugin declined all 32 calls")])
  }

  @Test func reportsStagesThatNoCallReached() throws {
    let settings = [InterceptorSpec.Setting(key: "responds", value: "yes")]
    let gaps = try check("declining", settings: settings).suffix(1)
    let stages = "request_end, response_start, response_message, response_end"
    #expect(gaps == [.unexercised("no call reached its stages \(stages)")])
  }

  @Test func reportsOwnCallsWithoutResponse() throws {
    let lines = try check("declining", settings: [InterceptorSpec.Setting(key: "calls", value: "yes")])
    let gaps = lines.filter { if case .unexercised = $0 { true } else { false } }
    let texts = gaps.map { if case .unexercised(let text) = $0 { text } else { "" } }
    #expect(
      Set(texts) == [
        "a response to its call of a.B/C, made 32 times", "a response to its stream of a.B/D, made 32 times",
        "a response to its HTTP request, made 32 times",
      ])
    // A call of the check may end before the response to its own call.
    let ends = log.lines.filter { $0.hasPrefix("done: ") }
    #expect(ends.count == 32 && Set(ends) == ["done: 14, after its call", "done: 1, after its call"])
  }

  /// Such a plugin may be correct, so this is not an error.
  @Test func reportsCallsThatFailWithoutResponseToOwnRequest() throws {
    let lines = try check("careless", settings: [InterceptorSpec.Setting(key: "token", value: "yes")])
    let reason = "the plugin failed the call: unauthenticated: a self-test has no network"
    #expect(lines.contains(.note("call: Unary, success: \(reason)")))
    let methods = "Unary, ClientStreaming, ServerStreaming, BidiStreaming"
    #expect(
      lines.last
        == .unexercised(
          "the success of \(methods), which the plugin fails, maybe for lack of such a response"))
  }

  @Test func reportsFailureAtMetrics() throws {
    let settings = [InterceptorSpec.Setting(key: "metrics", value: "fail")]
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("careless", settings: settings) }
    #expect(fault?.step == "calls: Unary")
    #expect(fault?.reason == "the plugin failed every call: internal: the disk is full")
    #expect(log.lines.contains("failed at metrics: the disk is full"))
  }

  @Test func reportsBlockingCallback() throws {
    let seen = try Fixtures.temporaryDirectory() + "/seen"
    let loader = PluginLoader(searchPath: PluginSearchPath([]), hostVersion: "9.9") { record in
      if record.text.hasPrefix("request_message has been") { try? Fixtures.write([], to: seen) }
    }
    let lines = try check(
      "blocking", limit: .seconds(15), settings: [InterceptorSpec.Setting(key: "seen", value: seen)],
      loader: loader)
    #expect(lines.contains(.warning("request_message blocked the loop for more than 100 ms")))
    #expect(lines.last == .passed("unloaded"))
  }

  @Test func reportsUnusedToken() throws {
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("hoarding", limit: .milliseconds(20)) }
    #expect(fault?.step == "call: Unary, success")
    #expect(fault?.reason == "the plugin did not use the token of request_start within 20 ms")
  }

  @Test func neighboursRespondAndFail() throws {
    let lines = try check("later")
    for kind in ["Unary", "ClientStreaming", "ServerStreaming", "BidiStreaming"] {
      for how in ["responds", "fails"] {
        #expect(
          lines.contains(
            .passed("call: \(kind), success, outside an interceptor that holds every value and \(how)")))
      }
    }
  }

  @Test func reportsPluginThatFailsEveryCall() throws {
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("failing") }
    #expect(fault?.step == "calls: Unary")
    let reason = "the plugin failed every call: internal: google.protobuf.Value has no field f_string"
    #expect(fault?.reason.hasPrefix(reason) == true)
  }

  @Test func usesGivenMethod() throws {
    let pool = try Fixtures.pool(
      "check.proto",
      "syntax = \"proto3\"; package c; message M { string f_string = 1; } "
        + "service S { rpc Get(M) returns (stream M); }")
    let method = try #require(try pool.method(service: "c.S", method: "Get"))
    let lines = try check("failing", method: method)
    #expect(lines.contains(.passed("call: Get, success")))
    #expect(
      lines.filter { $0 != .note("it has no summary for \"rpcurl plugins\"") }.allSatisfy {
        if case .passed = $0 { true } else { false }
      })
  }

  @Test func rejectsSymbolThatIsNotAFunction() throws {
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("data_symbol") }
    #expect(fault?.step == "inspection")
    #expect(fault?.reason.hasSuffix("the symbol rpcurl_plugin_entry is not a function") == true)
  }

  @Test func reportsMisuse() throws {
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("misbehaving") }
    #expect(fault?.step == "call: Unary, success")
    #expect(fault?.reason == "the plugin misbehaves: proceed with a token that it never received")
  }

  @Test func findsSymbolWithoutLoading() throws {
    let loader = log.loader()
    #expect(try loader.inspect(try Fixtures.path("fussy")).exportsEntry == true)
    #expect(try loader.inspect(try Fixtures.path("no_symbol")).exportsEntry == false)
    let fault = #expect(throws: PluginCheck.Fault.self) { try check("no_symbol") }
    #expect(fault?.step == "inspection")
    // Without section headers there is no symbol table, but the dynamic loader finds the symbols.
    let stripped = try Fixtures.temporaryDirectory() + "/stripped.so"
    guard let file = try? FileReader(path: try Fixtures.path("fussy")),
      var bytes = file.readAll(limitBytes: 1 << 24)
    else {
      Issue.record("the fixture cannot be read")
      return
    }
    for index in 40..<48 { bytes[index] = 0 }
    try Fixtures.write(bytes, to: stripped)
    chmod(stripped, 0o755)
    #expect(try loader.inspect(stripped).exportsEntry == nil)
    #expect(try loader.load(InterceptorSpec(name: stripped)).name == "fussy")
  }

  @Test func catalogListsFirstOfEachNameAndRefusedFiles() async throws {
    let (first, second) = (try Fixtures.temporaryDirectory(), try Fixtures.temporaryDirectory())
    Fixtures.run("cp '\(try Fixtures.path("fussy"))' '\(first)/b.so'; cp '\(first)/b.so' '\(second)/a.so'")
    Fixtures.run("cp '\(try Fixtures.path("mock"))' '\(second)/b.so'; echo x > '\(first)/c.so'")
    Fixtures.run("cp '\(try Fixtures.path("crash"))' '\(second)/crash.so'")
    Fixtures.run("cp '\(try Fixtures.path("undefined"))' '\(second)/undefined.so'; chmod 644 '\(first)/c.so'")
    Fixtures.run("echo x > '\(first)/readme'; mkdir '\(second)/d.so'")
    // In a separate process, because it forks.
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) { [first = first as String, second = second as String] in
      for how in ["abort", "exit", "segv", "close", "close and hang"] {
        setenv("CRASH_AT", "constructor", 1)
        setenv("CRASH_HOW", how, 1)
        for entry in LogCollector().loader([first, "/nonexistent", second]).catalog() {
          switch entry {
          case .success(let plugin): print("= \(plugin.fileName) \(plugin.name)")
          case .failure(let error): print("= \(error)")
          }
        }
      }
    }
    let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
      .filter { $0.hasPrefix("= ") }.map { String($0.dropFirst(2)) }
    let closed = "closed file descriptors of rpcurl, or was killed,"
    let ends = ["crashed (SIGABRT)", "ended the process", "crashed (SIGSEGV)", closed, closed]
    let expected = ends.flatMap { end in
      [
        "b fussy", "plugin \(first)/c.so: not a shared object: not an ELF file", "a fussy",
        "plugin \(second)/crash.so: it \(end) while it was loaded", "plugin \(second)/d.so: not a file",
        "plugin \(second)/undefined.so: cannot be loaded: undefined symbol: nobody_has_this",
      ]
    }
    #expect(lines == expected)
  }
}
