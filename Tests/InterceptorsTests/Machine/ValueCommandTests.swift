import RPCurlBase
import RPCurlChain
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct ValueCommandTests {
  private static let late = Result<[UInt8], SystemError>.failure(
    SystemError("the command took too long"))

  private func output(_ command: String, timeout: Duration = .seconds(60)) async -> Result<
    [UInt8], SystemError
  > {
    await withCheckedContinuation { continuation in
      _ = ValueCommand(["sh", "-c", command]).start(timeout: timeout) { continuation.resume(returning: $0) }
    }
  }

  @Test func returnsOutput() async {
    #expect(await output("printf 'a\\n'; printf b") == .success(Array("a\nb".utf8)))
    #expect(await output("echo a; exit 3") == .failure(SystemError("the command ended with exit code 3")))
    #expect(await output("kill -KILL $$") == .failure(SystemError("the command ended with signal 9")))
  }

  @Test func runsNoShell() async throws {
    let echo = await withCheckedContinuation { continuation in
      _ = ValueCommand(["printf", "%s|", "$HOME", "a b"]).start(timeout: .seconds(60)) {
        continuation.resume(returning: $0)
      }
    }
    #expect(echo == .success(Array("$HOME|a b|".utf8)))
    #expect(throws: SystemError("no-such-program: No such file or directory")) {
      try ValueCommand(["no-such-program"]).output(waitLimit: nil, countedBy: CommandTime())
    }
  }

  @Test func timeOfCommandsIsCounted() throws {
    let time = CommandTime()
    #expect(time.remaining(of: nil) == nil)
    #expect(try ValueCommand(["sleep", "0.1"]).output(waitLimit: .seconds(60), countedBy: time) == "")
    let rest = try #require(time.remaining(of: .seconds(60)))
    #expect(rest <= .seconds(60) - .milliseconds(100))
    #expect(throws: SystemError("the command took too long")) {
      try ValueCommand(["sleep", "1000"]).output(waitLimit: .milliseconds(150), countedBy: time)
    }
    #expect(time.remaining(of: .milliseconds(150)) == .milliseconds(1))
  }

  @Test(arguments: ["sleep 1000", "echo a; exec 1>&-; sleep 1000", "sleep 1000 & echo a"])
  func timeLimitIncludesOutputAndExit(_ command: String) async {
    #expect(await output(command, timeout: .milliseconds(50)) == Self.late)
  }

  @Test func doesNotWaitForProcessesWithoutItsOutput() async throws {
    let result = await output("sleep 1000 > /dev/null & echo $!")
    let text = String(decoding: try result.get(), as: UTF8.self)
    let process = try #require(pid_t(text.split(separator: "\n").first ?? ""))
    // It still runs.
    #expect(kill(process, SIGKILL) == 0)
  }

  /// Each process of the command has the pipe open, so it ends when all have ended.
  @Test(arguments: ["sleep 1000", "sleep 1000 & wait", "exec 1>&-; sleep 1000"])
  func cancellationKillsAllProcesses(_ command: String) async throws {
    let directory = try #require(TemporaryDirectory())
    let pipe = "\(directory.path)/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let result = await withCheckedContinuation { continuation in
      let cancel = ValueCommand(["sh", "-c", "exec 3> \(pipe); echo started >&3; \(command)"]).start(
        timeout: .seconds(1000)
      ) {
        continuation.resume(returning: $0)
      }
      onOtherThread {
        let descriptor = open(pipe, O_RDONLY)
        #expect((try? FileContents.readPiece(descriptor, limitBytes: 100)) == Array("started\n".utf8))
        cancel()
        #expect((try? FileContents.readPiece(descriptor, limitBytes: 100)) == [])
        close(descriptor)
      }
    }
    #expect(result == .failure(SystemError("the command ended with signal 9")))
  }

  @Test func cancellationAfterTheEndHasNoEffect() async throws {
    var cancel: (@Sendable () -> Void)?
    let result = await withCheckedContinuation { continuation in
      cancel = ValueCommand(["sh", "-c", "sleep 1000 > /dev/null & echo $!"]).start(timeout: .seconds(60)) {
        continuation.resume(returning: $0)
      }
    }
    cancel?()
    let text = String(decoding: try result.get(), as: UTF8.self)
    let process = try #require(pid_t(text.split(separator: "\n").first ?? ""))
    #expect(kill(process, SIGKILL) == 0)
  }
}
