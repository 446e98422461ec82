import RPCurlCFakeCurl
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import RPCurlReports
import Testing

@testable import RPCurlEngine

/// Suites that run without a server.
struct SuiteWorkerTests {
  private let directory: TemporaryDirectory

  init() throws {
    // Other tests of this process need it.
    fake_install()
    directory = try #require(TemporaryDirectory())
  }

  private func events(_ suite: String, _ words: [String] = [], mock: String? = nil) -> [SuiteEvent] {
    let path = directory.write("a.rpcurl", suite.utf8)
    var options = SuiteOptions()
    options.recordings = mock.map { .mock(file: directory.write("stubs", $0.utf8)) }
    let invocation = Parser.parse(["test"] + words + [path])
    var events: [SuiteEvent] = []
    let failure = SuiteWorker(path, invocation, options) { _, _, _ in }.run { events.append($0) }
    #expect(failure == nil)
    return events
  }

  @Test func limitOfATestEndsASleepAndNotTheTeardown() throws {
    let polls = fake_polls()
    let events = events("test a\ntimeout 1ns\nsleep 20s\nset a = 1\nteardown\nset b = 1\nset c = 2\n")
    let results = events.compactMap { if case .test(let result) = $0 { result } else { nil } }
    #expect(results.map(\.outcome) == [.failed])
    #expect(results[0].error?.why.contains("the test took longer than") == true)
    // The time is over in the first round of the loop, and only a sleep that goes on would wait.
    #expect(fake_polls() == polls)
    let ends = events.compactMap { if case .fileEnd(let end) = $0 { end } else { nil } }
    #expect(ends.map { $0.errors.count } == [0])
  }

  @Test func teardownRunsAllItsCommandsAndReportsEachFailure() {
    let mock = """
      {"method":"*/Find","response":{"status":"not_found"}}
      {"method":"*/Place","response":{"message":{"id":"${request.id}"}}}
      """
    let suite = """
      target http://x
      test a
      teardown
      call Orders/Find
      call Place {"id":"p"}
      expect .id == q
      expect count == 2
      call Orders/Find
      expect status not_found
      set a = $last.id
      call Place {"id":"r"}
      expect .id == s
      """
    let events = events(suite, ["--descriptor-set", directory.write("set", ShopSchema.bytes)], mock: mock)
    let errors = events.flatMap { event -> [SuiteError] in
      if case .fileEnd(let end) = event { end.errors } else { [] }
    }
    #expect(errors.map(\.line) == [4, 6, 7, 10, 12])
    #expect(
      errors.map { "\($0.what): \($0.why)" } == [
        "status ok: expected ok, got not_found (5)", #".id == q: expected "q", got "p""#,
        "count == 2: expected 2, got 1", ": last.id: Find has no response; its status is not_found",
        #".id == s: expected "s", got "r""#,
      ])
  }

  @Test(
    arguments: [
      ("metrics,before=mock", "shop.Orders/Place"),
      ("metrics,before=mock,file=/no-such-directory/a", "metrics: cannot write the report"),
      ("assert,check=.id == b,junit=DIR/report", "assert: no call reached it"),
    ])
  func endOfAFileHasWhatInterceptorsPrintAfterTheLastCall(_ use: String, _ text: String) {
    let mock = #"{"method":"*/Place","response":{"message":{"id":"a"}}}"#
    let use = use.replacing("DIR", with: directory.path)
    let suite = "target http://x\nuse \(use)\ntest a\ncall Place {\"id\":\"p\"}\n"
    let events = events(suite, ["--descriptor-set", directory.write("set", ShopSchema.bytes)], mock: mock)
    guard case .fileEnd(let end)? = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(end.errors.isEmpty)
    #expect(end.output?.contains(text) == true, "\(end.output ?? "")")
  }

  private static let watches = """
    {"method":"*/Find","response":{"status":"not_found"}}
    {"method":"*/Watch","request":{"text":"abc"},"response":{"messages":[{"id":"a"},{"id":"b"},{"id":"c"}]}}
    {"method":"*/Watch","response":{"messages":[{"id":"w"}],"status":"aborted"}}
    {"method":"*/Place","response":{"message":{"id":"${request.id}"}}}
    """

  /// The checks of a test that failed, or its error. The streams have ended, some with an error, when the next command runs: that
  /// decides nothing until a command waits for it.
  @Test(
    arguments: [
      (["open Watch {}", "receive", "expect .id == w", "wait", "sleep 1ns", "expect status aborted"], []),
      (["open Watch {}", "receive", "call Place {\"id\":\"p\"}", "close 1", "expect stream 1 .id == w"], []),
      (["open Watch {}", "receive", "call Place", "cancel 1", "call Place"], []),
      (["open Watch {}", "receive", "wait", "call Place"], ["status ok"]),
      (["open Watch {}", "receive 2"], ["status ok"]),
      (["open Watch {\"text\":\"abc\"}", "receive 4"], [":the stream ended before the response arrived"]),
      (["call Orders/Find", "wait", "expect status not_found"], []),
      (["call Orders/Find", "expect .id == x", "wait", "call Place"], [".id == x", "status ok"]),
      (["repeat 3 call Orders/Find", "expect status not_found"], []),
      // What interceptors find about a stream that ends with the test, or before.
      (
        ["use assert,before=mock,check='.id == x'", "open Watch {}", "receive"],
        [":the stream opened here failed"]
      ),
      (
        ["use assert,before=mock,check='.id == x'", "open Watch {}", "cancel", "expect status aborted"],
        [":the stream opened here failed"]
      ),
      // Another attempt begins without the streams of the last one.
      (
        [
          "set t = \"\"", "step s", "retry until=60s every=1ns", "open Watch {\"text\":$t}", "receive",
          "set t = \"abc\"", "expect stream 1 .id == a", "step t", "expect stream 1 .id == a", "wait",
        ], []
      ),
    ] as [([String], [String])])
  func speedOfAServerDecidesNothing(_ lines: [String], _ problems: [String]) throws {
    let set = ["--descriptor-set", directory.write("set", ShopSchema.bytes)]
    let events = events(
      "target http://x\ntest a\n\(lines.joined(separator: "\n"))\n", set, mock: Self.watches)
    let results = events.compactMap { if case .test(let result) = $0 { result } else { nil } }
    let result = try #require(results.first)
    #expect(
      result.steps.flatMap(\.failures).map(\.check) + (result.error.map { [":\($0.why)"] } ?? []) == problems,
      "\(result)")
    #expect((result.outcome == .passed) == problems.isEmpty)
  }

  @Test(arguments: ["", "teardown\n"])
  func fileThatKeepsGoingRunsAllItsCommands(_ block: String) throws {
    let file = directory.write(
      "b",
      "call Orders/Find\ncall Place {\"id\":\"p\"}\ncall Orders/Find\nexpect .id == x\nset a = $last.id\n"
        .utf8)
    let set = ["--descriptor-set", directory.write("set", ShopSchema.bytes)]
    let events = events(
      "target http://x\nset a = \"\"\ntest a\ncall Place\n\(block)source --keep-going \(file)\n", set,
      mock: Self.watches)
    let errors = events.flatMap { event -> [String] in
      switch event {
      case .test(let result):
        result.steps.flatMap(\.failures).map { "\($0.file ?? ""):\($0.line): \($0.check)" }
          + (result.error.map { ["\($0.what): \($0.why)"] } ?? [])
      case .fileEnd(let end): end.errors.map { "\($0.what): \($0.why)" }
      default: []
      }
    }
    let checks = [":1: status ok", ":4: .id == x", ":3: status ok", ":5: last.id: Find has no response"]
    #expect(errors.count == checks.count, "\(errors)")
    for (error, check) in zip(errors, checks) {
      #expect("\(error.replacing(", line ", with: ":"))".hasPrefix(file + check), "\(error)")
    }
  }

  @Test func missingRecordingNamesHowToRecord() {
    let path = directory.write("a.rpcurl", "test a\n".utf8)
    var options = SuiteOptions()
    options.recordings = .replay(directory: "\(directory.path)/no such")
    var ends: [SuiteFileEnd] = []
    _ = SuiteWorker(path, Parser.parse(["test", path]), options) { _, _, _ in }
      .run { if case .fileEnd(let end) = $0 { ends.append(end) } }
    let errors = ends.flatMap(\.errors)
    #expect(errors.map(\.why) == ["No such file or directory"])
    #expect(
      errors.map(\.hint) == [
        "\"rpcurl test --record '\(directory.path)/no such' \(path)\" records the calls again"
      ])
  }

  @Test func eachRowIsSkippedIfTheSetupFails() {
    directory.write("rows.ndjson", Array("{\"n\":\"a\"}\n{\"n\":\"b\"}\n".utf8))
    let events = events("expect status ok\ntest one\nrows rows.ndjson name=n\ntest two\n")
    #expect(events.first == .file(SuiteFile(file: "\(directory.path)/a.rpcurl", tests: 3)))
    let results = events.compactMap { if case .test(let result) = $0 { result } else { nil } }
    #expect(results.map(\.row) == ["a", "b", nil])
    #expect(results.map(\.outcome) == [.skipped, .skipped, .skipped])
    #expect(results.map(\.reason) == Array(repeating: "the setup failed", count: 3))
    let ends = events.compactMap { if case .fileEnd(let end) = $0 { end } else { nil } }
    #expect(
      ends.map { $0.errors.map(\.why) } == [["no call was made"]] && ends.allSatisfy { !$0.isInterrupted })
  }

  /// What is wrong with a suite; the suite is not run.
  @Test(
    arguments: [
      ("call Orders/Plac", "no method Plac in shop.Orders"),
      ("call Orders/Place\nexpect .idd == a", "no field idd"),
      ("call Orders/Place\nset a = $last.idd", "no field idd"),
      ("call Orders/Place {\"id\":$id}", "no such variable"),
      ("expect .id golden", "golden requires a file"), ("expect .id golden no.json", "does not exist"),
      ("call Orders/Place @none.json", "No such file"), ("source none", "No such file"),
      ("rows none.csv", "No such file"), ("rows DIR/a.csv b:int", "no column b"),
      ("rows DIR/a.csv a:int", "not a value of the type int"),
      ("rows DIR/a.csv name=b", "no row has the field b"),
      ("call Place {} --filtr id", "unknown option"), ("open Watch {} --limit x", "x"),
      ("call Place --deadline 1s", "--deadline"), ("call Place --filter ${no}", "no such variable"),
      ("call Place --filter idd", "no field idd"), ("call Place --filter id.", "--filter id."),
      ("call Place --filter item_count --raw", "not a field of bytes"),
      ("repeat 2 call Place --filter id.", "--filter id."),
      ("options --nonsense", "unknown option"), ("use nonsense", "no built-in interceptor"),
      ("header a", "wrong usage"),
      ("use retry,attempt=3", "attempt"), ("verbose 7", "wrong usage"), ("protocol nonsense", "nonsense"),
      ("sleep soon", "wrong usage"), ("deadline soon", "soon"), ("set a = ${row.a}", "no row"),
      ("target ://", "://"),
      ("set a = ${env.NO_SUCH_VARIABLE}", "is not set"), ("call", "wrong usage"),
      ("header x: $missing", "no such variable"),
      ("step one\nset a = 1\nstep two\nset b = $a\nset c = $d", "d: no such variable"),
      ("move retry", "wrong usage"),
      ("source DIR/shared", "shared, line 2: nonsense"), ("unset missing", "no such variable"),
    ])
  func suiteWithAMistakeIsNotRun(_ lines: String, _ why: String) throws {
    directory.write("shared", "set a = 1\nnonsense\n".utf8)
    directory.write("a.csv", "a\nx\n".utf8)
    let text = lines.replacing("DIR", with: directory.path)
    let set = ["--descriptor-set", directory.write("set", ShopSchema.bytes), "--no-reflect"]
    let events = events("target http://x\ntest a\nset b = 1\ntest b\n\(text)\n", set)
    #expect(events.count == 1)
    let ends = events.compactMap { if case .fileEnd(let end) = $0 { end } else { nil } }
    let error = try #require(ends.first?.errors.first)
    #expect("\(error.what): \(error.why)".contains(why), "\(error)")
    #expect(error.line != nil)
  }

  @Test(
    arguments: [
      "source ${file}\nset a = $b", "source --keep-going none",
      "save DIR/saved\nsource DIR/saved\nset a = $b",
      "skip it\nexpect nonsense", "set a = 1\nset b = $a\nunset a", "target $url",
    ])
  func whatTheRunDecidesIsNoMistake(_ lines: String) throws {
    let text = lines.replacing("DIR", with: directory.path)
    let path = directory.write(
      "a.rpcurl", "set file = \"x\"\nset url = \"h:1\"\ntest a\n\(text)\n".utf8)
    let worker = SuiteWorker(path, Parser.parse(["test", path]), SuiteOptions()) { _, _, _ in }
    #expect(try worker.check().failures.isEmpty)
  }

  @Test func reportsContainNoCredentialsOfACall() {
    let words = [
      "--descriptor-set", directory.write("set", ShopSchema.bytes), "-u", "ada:hunter2-a",
      "-H", "@\(directory.write("headers", "x-api-key: hunter2-b".utf8))",
      "--netrc-file", directory.write("netrc", "machine x login ada password hunter2-c".utf8),
    ]
    // The values of HTTP Basic are base64.
    let secrets = ["YWRhOmh1bnRlcjItYQ==", "hunter2-b", "YWRhOmh1bnRlcjItYw=="]
    let events = events(
      "target http://x\ntest a\ncall Place\nexpect .id == \"\(secrets.joined(separator: " "))\"\n", words,
      mock: #"{"method":"shop.Orders/Place","response":{"message":{"id":"b"}}}"#)
    let results = events.compactMap { if case .test(let result) = $0 { result } else { nil } }
    let checks = results.flatMap(\.steps).flatMap(\.failures).map(\.check)
    #expect(checks == [#".id == "[redacted] [redacted] [redacted]""#])
  }

  @Test func byteOrderMarkIsNoPartOfAFile() throws {
    let path = directory.write("marked", "\u{FEFF}test a\n".utf8)
    #expect(try FileContents.input(path, waitLimit: nil) == Array("test a\n".utf8))
  }
}
