import RPCurlCFakeCurl
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import RPCurlReports
import Testing

@testable import RPCurlEngine

/// Processes that print the events of a suite.
struct SuiteProcessesTests {
  /// Runs shell scripts as the processes of suites with these names.
  private func events(
    _ scripts: [String: String], exclusive: Set<String> = [], jobs: Int = 2,
    patience: Duration = .seconds(10), limit: Duration? = nil, endsBy expected: String? = nil,
    _ receive: @escaping (SuiteEvent, SuiteProcesses) -> Void = { _, _ in }
  ) throws -> [SuiteEvent] {
    let processes = try SuiteProcesses(
      scripts.keys.sorted(), exclusive: exclusive, jobs: jobs, clients(), patience: patience
    ) { file in ["sh", "-c", scripts[file] ?? ""] }
    var events: [SuiteEvent] = []
    let reason = try processes.run(limit: limit) {
      events.append($0)
      receive($0, processes)
    }
    #expect(reason == expected)
    return events
  }

  private func clients() -> ClientSource {
    fake_install()
    return ClientSource(Console(OutputCapture()), verbosity: 0, showsSecrets: false)
  }

  private func print(_ event: SuiteEvent) -> String {
    "printf '%s\\n' '\(String(decoding: event.line.dropLast(), as: UTF8.self))'\n"
  }

  private func test(
    _ name: String, _ outcome: TestOutcome, _ why: String? = nil, isInterrupted: Bool = false
  ) -> TestResult {
    var test = TestResult(file: "a", line: 1, name: name, outcome: outcome)
    test.isInterrupted = isInterrupted
    if outcome == .skipped {
      test.reason = why
    } else {
      test.error = why.map { SuiteError(what: "sleep", why: $0) }
    }
    return test
  }

  @Test func whatTheEndOfTheRunInterruptsIsSkipped() throws {
    var end = SuiteFileEnd(file: "a", errors: [SuiteError(what: "", why: "interrupted")], duration: .zero)
    end.isInterrupted = true
    let stopped = test("stopped", .error, "interrupted", isInterrupted: true)
    let script =
      "trap '' INT\n"
      + [
        .file(SuiteFile(file: "a", tests: 4)), .test(stopped),
        .test(test("wrong", .error, "interrupted")),
        .test(test("next", .skipped, "interrupted", isInterrupted: true)),
        .test(test("other", .skipped, "interrupted")), .fileEnd(end),
      ].map(print).joined()
    let ended = try events(["a": script]) { _, processes in processes.endEarly() }
    let early = "the run ended early"
    #expect(
      ended.dropFirst() == [
        .test(test("stopped", .skipped, early)), .test(test("wrong", .error, "interrupted")),
        .test(test("next", .skipped, early)), .test(test("other", .skipped, "interrupted")),
        .fileEnd(SuiteFileEnd(file: "a", duration: .zero)),
      ])
    // The suite itself may fail with this text.
    let failed = try events(["a": script])
    #expect(failed[1] == .test(stopped))
  }

  @Test func suiteThatTheEndOfTheRunPreventsHasNoError() throws {
    let start = SuiteEvent.file(SuiteFile(file: "a", tests: 1))
    let ended = try events(["a": print(start) + "kill -INT $$"]) { _, processes in processes.endEarly() }
    #expect(ended == [start])
  }

  @Test func processThatHoldsTheOutputDoesNotDelayTheEnd() throws {
    let start = SuiteEvent.file(SuiteFile(file: "a", tests: 1))
    // The shell ends, and what it leaves does not: it is in no group that is killed.
    let directory = try #require(TemporaryDirectory())
    let script =
      "trap '' INT\nsetsid tail -f /dev/null &\necho $! > \(directory.path)/process\n" + print(start)
    defer {
      let text = (try? FileContents.read("\(directory.path)/process")) ?? []
      if let process = pid_t(String(decoding: text.dropLast(), as: UTF8.self)) { kill(process, SIGKILL) }
    }
    let ended = try events(["a": script], patience: .zero) { _, processes in processes.endEarly() }
    #expect(ended.first == start)
  }

  @Test func eventThatIsTooLongIsAnErrorOfItsFile() throws {
    let script = "head -c \(SuiteEvent.maximumLength + 1) /dev/zero | tr '\\0' x"
    let ends = try events(["a": script, "b": print(.fileEnd(SuiteFileEnd(file: "b", duration: .zero)))])
    let error = SuiteError(what: "a", why: "an event is longer than 16 MiB")
    #expect(ends.contains(.fileEnd(SuiteFileEnd(file: "a", errors: [error], duration: .zero))))
    #expect(ends.contains(.fileEnd(SuiteFileEnd(file: "b", duration: .zero))))
    #expect(ends.count == 2)
  }

  @Test func limitOfTheRunIsTheErrorOfWhatItEnds() throws {
    let start = SuiteEvent.file(SuiteFile(file: "a", tests: 1))
    let stopped = test("stopped", .error, "interrupted", isInterrupted: true)
    let script =
      print(start) + "stop() {\n\(print(.test(stopped)))exit\n}\ntrap stop INT\nsleep 9 > /dev/null & wait\n"
    let reason = "the run took longer than 200 ms"
    let ended = try events(["a": script, "b": script], jobs: 1, limit: .milliseconds(200), endsBy: reason)
    let waiting = SuiteError(what: "b", why: reason)
    #expect(ended.contains(.fileEnd(SuiteFileEnd(file: "b", errors: [waiting], duration: .zero))))
    #expect(ended.contains(.test(test("stopped", .error, reason, isInterrupted: true))))
  }

  @Test func exclusiveSuitesRunAloneAfterTheOthers() throws {
    let directory = try #require(TemporaryDirectory())
    let log = "\(directory.path)/log"
    let scripts = ["a", "b", "c", "d"].map {
      ($0, "echo +\($0) >> \(log)\nsleep 0.1\necho -\($0) >> \(log)\n")
    }
    _ = try events(Dictionary(uniqueKeysWithValues: scripts), exclusive: ["a", "c"], jobs: 4)
    let lines = String(decoding: try FileContents.read(log), as: UTF8.self).split(separator: "\n").map(
      String.init)
    #expect(Set(lines.prefix(2)) == ["+b", "+d"])
    #expect(lines.dropFirst(4) == ["+a", "-a", "+c", "-c"])
  }
}
