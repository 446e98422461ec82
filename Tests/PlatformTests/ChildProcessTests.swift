import RPCurlBase
import Testing

@testable import RPCurlPlatform

struct ChildProcessTests {
  @Test func returnsOutputOfBothStreams() throws {
    let outcome = try ChildProcess.run(["sh", "-c", "echo out; echo error >&2"])
    #expect(outcome.hasSucceeded)
    #expect(outcome.errors == "out\nerror\n")
  }

  @Test(arguments: [("exit 0", true), ("exit 3", false), ("kill -KILL $$", false)])
  func reportsWhetherProgramSucceeded(script: String, hasSucceeded: Bool) throws {
    #expect(try ChildProcess.run(["sh", "-c", script]).hasSucceeded == hasSucceeded)
  }

  @Test func passesArgumentsUnchanged() throws {
    #expect(try ChildProcess.run(["printf", "%s|", "a b", "", "'$x'"]).errors == "a b||'$x'|")
  }

  @Test func reportsMissingProgram() throws {
    let problem = #expect(throws: SystemError.self) {
      try ChildProcess.run(["rpcurl-test-no-such-program"])
    }
    #expect(problem?.isMissing == true)
    #expect(problem?.reason == "No such file or directory")
  }

  @Test func reportsProgramThatCannotRun() throws {
    let problem = #expect(throws: SystemError.self) { try ChildProcess.run(["/dev/null"]) }
    #expect(problem?.isMissing == false)
    #expect(problem?.reason == "Permission denied")
  }

  @Test func leadsASessionWithoutATerminal() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    // The process, its group, its session and its terminal, which would otherwise be those of the tests.
    let script =
      "read -r pid name state parent group session terminal rest < /proc/self/stat; "
      + "echo $group $session $terminal"
    let process = try ChildProcess.start(
      ["sh", "-c", script], hasInput: false, giving: [(ends[1], 1)], leadsSession: true
    ).get()
    close(ends[1])
    let text = String(decoding: try FileContents.readPiece(ends[0], limitBytes: 100), as: UTF8.self)
    #expect(text == "\(process) \(process) 0\n")
    #expect(ChildProcess.wait(for: process) == 0)
  }

  @Test func providesNoInput() throws {
    #expect(try ChildProcess.run(["cat"]).errors.isEmpty)
  }

  @Test func discardsLongOutputAndWaitsForEnd() throws {
    let outcome = try ChildProcess.run(["sh", "-c", "head -c 3000000 /dev/zero"])
    #expect(outcome.hasSucceeded)
    #expect((1 << 20..<3_000_000).contains(outcome.errors.utf8.count))
  }

  /// Also those that it has started, and that hold its output.
  @Test(arguments: ["sleep 1000 & sleep 1000", "exec 2>&-; sleep 1000 & exec sleep 1000"])
  func killsProgramAtLimit(script: String) throws {
    let pipe = try #require(Pipe())
    defer { close(pipe.readEnd) }
    let problem = #expect(throws: SystemError.self) {
      try ChildProcess.run(["sh", "-c", script], output: pipe.writeEnd, waitLimit: .milliseconds(500))
    }
    close(pipe.writeEnd)
    #expect(problem?.reason == "did not end within --max-time")
    // The end of the pipe: no process has it any more.
    #expect(try FileContents.readPiece(pipe.readEnd, limitBytes: 1).isEmpty)
  }

  @Test func restoresDefaultActionOfSignals() throws {
    signal(SIGPIPE, SIG_IGN)
    let process = try ChildProcess.start(["sh", "-c", "kill -PIPE $$"], hasInput: false, giving: []).get()
    #expect(ChildProcess.wait(for: process) & 0x7f == SIGPIPE)
  }

  @Test(arguments: [true, false])
  func startsInItsOwnGroupOnRequest(leadsGroup: Bool) throws {
    let process = try ChildProcess.start(["true"], hasInput: false, giving: [], leadsGroup: leadsGroup).get()
    #expect(getpgid(process) == (leadsGroup ? process : getpgrp()))
    #expect(ChildProcess.wait(for: process) == 0)
  }

  @Test func passesDescriptors() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process = try ChildProcess.start(
      ["sh", "-c", "echo passed >&7"], hasInput: false, giving: [(own: ends[1], its: 7)]
    ).get()
    close(ends[1])
    defer { close(ends[0]) }
    #expect(ChildProcess.wait(for: process) == 0)
    #expect(try FileContents.readPiece(ends[0], limitBytes: 100) == Array("passed\n".utf8))
  }
}
