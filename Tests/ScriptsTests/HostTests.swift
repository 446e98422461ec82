import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlCommandSupport
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlScripts

/// What a script does to the calls that pass it, and what is done if it fails.
struct HostTests {
  private static let all =
    #"{"rpcurl":1,"stages":["request_start","request_message","request_end","response_start","response_message","response_end","metrics","finish"]}"#

  /// A call through a script, to its end.
  private func run(
    _ script: FakeScript, redaction: Redaction = Redaction(), reply: (@Sendable (String) -> String?)? = nil,
    headers: [(String, String)] = [], calls: Int = 1, whenStarted: ([TestCall]) -> Void = { _ in }
  ) throws -> (calls: [TestCall], log: [String]) {
    var settings = ScriptSettings(.socket(script.path), name: "x", redaction: redaction)
    settings.reply = reply
    let factory = try ScriptFactory(settings)
    let loop = ScriptLoop()
    factory.attach(loop.network)
    var made: [TestCall] = []
    for _ in 0..<calls {
      let call = TestCall(
        .unary, Journal(), [InterceptorRegistration(name: "x", factory: factory)], typed: true)
      for (name, value) in headers { call.request.headers.add(name, value) }
      made.append(call)
      call.start()
      call.send("ping")
      call.close()
      whenStarted(made)
      var hasResponded = false
      let isDone = loop.run {
        call.work()
        if !hasResponded, call.wireLines.last == "half-close" {
          hasResponded = true
          call.receiveHeaders()
          call.receive("pong")
          call.receiveEnd()
        }
        call.work()
        return call.outcome != nil
      }
      #expect(isDone)
    }
    let log = loop.logged.withLock { $0.map { "\($0.level): \($0.text)" } }
    return (made, log)
  }

  private func script(
    _ hello: String = HostTests.all, _ behave: @escaping FakeScript.Behaviour
  ) throws -> FakeScript {
    try FakeScript(hello: { _ in hello }, behave)
  }

  /// The error of a call whose script replies to the request's start with this line.
  private func reason(_ line: String, at stage: String = "request_start") throws -> String {
    let script = try script { value, _ in
      guard value.string("stage") == stage else { return value["value"] == nil ? [] : [value.reply + "}"] }
      return [line]
    }
    defer { script.stop() }
    let call = try run(script).calls[0]
    #expect(call.end?.error?.origin == .configuration("x"))
    return call.end?.error?.message ?? "none"
  }

  @Test(arguments: [
    ("no", "a line that is no JSON: expected a value"),
    (#"{"call":1,"value":7}"#, "a reply for value 7, which it has not received"),
    (#"{"call":9,"value":0}"#, "a reply for call 9, which the script has not received"),
    (#"{"call":1,"upto":3}"#, "upto 3: the last value is 2"),
    (
      #"{"call":1,"value":0,"drop":true}"#,
      "a reply at request_start: drop is possible at request_message, response_message only"
    ),
    (
      #"{"call":1,"value":0,"retry":true}"#,
      "a reply at request_start: retry is possible at response_start, response_message, response_end only"
    ),
    (
      #"{"call":1,"value":0,"message":"a"}"#,
      "a reply at request_start: message is possible at request_message, response_message only"
    ),
    (
      #"{"call":1,"value":0,"inject":[{"message":"a"}]}"#,
      "a reply at request_start: inject is possible at request_message, request_end, response_message, response_end only"
    ),
    (
      #"{"call":1,"value":0,"headers":{"set":{"grpc-timeout":"1"}}}"#,
      "a reply at request_start: only rpcurl sets the header grpc-timeout"
    ),
    (
      #"{"call":1,"value":0,"headers":{"add":{"grpc-status":"1"}}}"#,
      "a reply at request_start: only rpcurl sets the header grpc-status: use fail"
    ),
    (
      #"{"call":1,"value":0,"headers":{"add":{"a b":"1"}}}"#,
      "a reply at request_start: \"a b\" is not a valid header name"
    ),
    (
      #"{"call":1,"value":0,"headers":{"set":{"token":"[redacted]"}}}"#,
      "a reply at request_start: the header token has the value [redacted], which stands for a secret in what the script received; secrets=true gives the script the secrets themselves"
    ),
    (
      #"{"call":1,"attributes":{"a b":"1"}}"#,
      "the key of an attribute must be 1 to 4096 printable characters of ASCII without blank, = and :"
    ),
  ])
  func invalidRepliesFailTheCall(line: String, expected: String) throws {
    #expect(try reason(line) == expected)
  }

  @Test func secondReplyFailsTheCall() throws {
    let script = try script { value, _ in
      value["value"] == nil ? [] : [value.reply + "}", value.reply + "}"]
    }
    defer { script.stop() }
    #expect(try run(script).calls[0].end?.error?.message == "a second reply for value 0")
  }

  @Test func scriptThatEndsFailsItsCallAndIsStartedForTheNext() throws {
    let isFirst = Locked(true)
    let script = try script { value, _ in
      let ends = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      return ends ? nil : value["value"] == nil ? [] : [value.reply + "}"]
    }
    defer { script.stop() }
    let (calls, log) = try run(script, calls: 2)
    #expect(calls[0].end?.error?.message == "the script ended")
    #expect(calls[0].end?.error?.origin == .configuration("x"))
    #expect(calls[1].end?.error == nil)
    #expect(log == ["warning: the script was started again: what it had stored is gone"])
  }

  /// The loop has the time limits of all calls.
  @Test func loopRunsWhileTheScriptIsStartedAgain() throws {
    let gate = try #require(Pipe())
    defer { for end in [gate.readEnd, gate.writeEnd] { close(end) } }
    let starts = Locked(0)
    let hello: @Sendable (String) -> String = { _ in
      var byte: UInt8 = 0
      if starts.withLock({ $0 }) > 0 { _ = read(gate.readEnd, &byte, 1) }
      return Self.all
    }
    let script = try FakeScript(hello: hello) { value, _ in
      let isFirst = starts.withLock { starts in
        starts += 1
        return starts == 1
      }
      return isFirst ? nil : value["value"] == nil ? [] : [value.reply + "}"]
    }
    defer { script.stop() }
    let (calls, _) = try run(script, calls: 2) { calls in
      guard calls.count == 2 else { return }
      #expect(calls[1].outcome == nil)
      #expect(write(gate.writeEnd, "x", 1) == 1)
    }
    #expect(calls[0].end?.error?.message == "the script ended")
    #expect(calls[1].end?.error == nil)
  }

  @Test func changedFirstLineAppliesToTheNextCall() throws {
    let starts = Locked(0)
    let hello: @Sendable (String) -> String = { _ in
      starts.withLock { $0 } == 0 ? Self.all : #"{"rpcurl":1,"stages":["request_start"]}"#
    }
    let received = Locked<[String]>([])
    let script = try FakeScript(hello: hello) { value, _ in
      let isFirst = starts.withLock { starts in
        starts += 1
        return starts == 1
      }
      guard !isFirst else { return nil }
      received.withLock { $0.append(value.string("stage")) }
      return value["value"] == nil ? [] : [value.reply + "}"]
    }
    defer { script.stop() }
    let reasons = try run(script, calls: 3).calls.map { $0.end?.error?.message }
    #expect(
      reasons == [
        "the script ended", "the first line of the script has changed; it applies to the next call", nil,
      ])
    #expect(received.withLock { $0 } == ["request_start"])
  }

  @Test func tooManyLinesAreAnError() throws {
    let script = try script { _, _ in
      Array(repeating: #"{"log":{"level":"debug","text":"x"}}"#, count: 10_200)
    }
    defer { script.stop() }
    let message = try run(script).calls[0].end?.error?.message
    #expect(message == "too many lines of the script that no value asks for")
  }

  @Test func secretsAreMaskedUnlessTheyAreGiven() throws {
    for isGiven in [false, true] {
      let seen = Locked<[String]>([])
      let script = try script { value, _ in
        if value.string("stage") == "request_start" {
          seen.withLock { $0.append(value["headers"]?.text ?? "") }
        }
        return value["value"] == nil ? [] : [value.reply + "}"]
      }
      defer { script.stop() }
      let call = try run(
        script, redaction: Redaction(showsSecrets: isGiven),
        headers: [("authorization", "Bearer abcdefgh"), ("x", "1")]
      ).calls[0]
      // Headers that the script does not name stay as they were.
      #expect(call.sentStart?.headers.first("authorization") == "Bearer abcdefgh")
      #expect(
        seen.withLock { $0 } == [
          #"[["authorization","Bearer \#(isGiven ? "abcdefgh" : "[redacted]")"],["x","1"]]"#
        ])
    }
  }

  @Test func personIsAskedThroughTheProgram() throws {
    let script = try script { value, _ in
      switch value.string("stage") {
      case "request_start": [#"{"call":1,"ask":{"id":5,"text":"Go?"}}"#]
      case "asked" where value.string("reply") == "y": [#"{"call":1,"value":0}"#]
      case "asked": [#"{"call":1,"value":0,"fail":{"code":"permission_denied","message":"no"}}"#]
      default: value["value"] == nil ? [] : [value.reply + "}"]
      }
    }
    defer { script.stop() }
    #expect(try run(script, reply: { $0 == "Go?" ? "y" : nil }).calls[0].end?.error == nil)
    let refused = try run(script, reply: { _ in nil }).calls[0].end?.error
    #expect(refused == RPCError(.permissionDenied, "no", origin: .interceptor("x")))
  }

  @Test func callOfAnUnknownMethodIsUnimplemented() throws {
    let replies = Locked<[String]>([])
    let script = try script { value, _ in
      switch value.string("stage") {
      case "request_start": return [#"{"call":{"of":1,"id":1,"method":"a.B/C"}}"#]
      case "called":
        replies.withLock { $0.append(value["status"]?.string("message") ?? "") }
        return [#"{"call":1,"value":0}"#]
      default: return value["value"] == nil ? [] : [value.reply + "}"]
      }
    }
    defer { script.stop() }
    #expect(try run(script).calls[0].end?.error == nil)
    #expect(replies.withLock { $0 } == ["the schema has no method a.B/C"])
  }

  @Test func findingsAttributesAndLogsReachTheCall() throws {
    let script = try script { value, _ in
      if value.string("stage") == "metrics" { return [value.reply + #","finding":"slow","log":"seen"}"#] }
      return value["value"] == nil ? [] : [value.reply + #","attributes":{"a":"1"}}"#]
    }
    defer { script.stop() }
    let call = try run(script).calls[0]
    #expect(call.found == [Finding(interceptor: "x", kind: .failure, text: "slow")])
    #expect(call.logged.map(\.text) == ["seen"])
  }

  @Test func methodsThatTheScriptDoesNotWantDoNotPassIt() throws {
    let script = try script(#"{"rpcurl":1,"stages":["request_start"],"methods":["other.Service/*"]}"#) {
      _, _ in nil
    }
    defer { script.stop() }
    #expect(try run(script).calls[0].end?.error == nil)
  }

  @Test func detailsOfAFailureAreOfTheSchema() throws {
    let script = try script { value, _ in
      value["value"] == nil
        ? []
        : [
          value.reply
            + #","fail":{"code":"aborted","message":"m","details":[{"@type":"type.googleapis.com/google.protobuf.StringValue","value":"d"}],"trailers":[["t","1"]]}}"#
        ]
    }
    defer { script.stop() }
    let end = try run(script).calls[0].end
    #expect(end?.error?.details.map(\.typeName) == ["google.protobuf.StringValue"])
    #expect(end?.trailers.first("t") == "1")
  }
}

/// Scripts that are processes.
struct ProcessTests {
  private func problem(_ words: [String], waitLimit: Duration? = nil) -> String {
    var settings = ScriptSettings(.command(words))
    settings.waitLimit = waitLimit
    do {
      _ = try ScriptFactory(settings)
      return "none"
    } catch {
      return error.description
    }
  }

  @Test func scriptThatCannotStartIsNamed() {
    #expect(problem(["./no-such-script"]) == "no-such-script: ./no-such-script: No such file or directory")
    #expect(
      problem(["/bin/sh", "-c", "exit 3"]) == "sh: the script ended before its first line (exit code 3)")
    #expect(
      problem(["/bin/sh", "-c", "echo oops >&2; exit 3"])
        == "sh: the script ended before its first line (exit code 3); its standard error: oops")
    #expect(problem(["/bin/echo", "{}"]) == "echo: the first line has no member \"rpcurl\"")
    #expect(
      problem(["/bin/sleep", "100"], waitLimit: .milliseconds(1))
        == "sleep: the script wrote no first line within --max-time")
  }

  @Test func processesEndWithTheFactory() throws {
    let folder = try #require(TemporaryDirectory())
    let path = "\(folder.path)/alive"
    try #require(mkfifo(path, 0o600) == 0)
    // The script and its child keep it open for writing.
    var alive = pollfd(fd: open(path, O_RDONLY | O_NONBLOCK), events: Int16(POLLIN), revents: 0)
    defer { close(alive.fd) }
    var factory: ScriptFactory? = try ScriptFactory(
      ScriptSettings(
        .command([
          "/bin/sh", "-c",
          "exec 9> \(path); trap '' TERM; sleep 100 & echo '{\"rpcurl\":1,\"stages\":[]}'; wait; sleep 100",
        ])))
    #expect(factory != nil)
    #expect(poll(&alive, 1, 0) == 0)
    factory = nil
    // A process that was killed ends a little later.
    #expect(poll(&alive, 1, 20_000) == 1 && alive.revents & Int16(POLLHUP) != 0)
  }
}
