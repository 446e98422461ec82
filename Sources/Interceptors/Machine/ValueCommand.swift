import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// The time that commands took before a call, which is a part of that of `--max-time`.
package final class CommandTime: Sendable {
  private let time = Locked(Duration.zero)

  package init() {}

  fileprivate func add(_ duration: Duration) { time.withLock { $0 += duration } }

  /// What is left of a limit, more than zero; nil without a limit.
  package func remaining(of limit: Duration?) -> Duration? {
    limit.map { limit in max(limit - time.withLock { $0 }, .milliseconds(1)) }
  }
}

/// A command whose standard output is a value. No shell runs it.
package struct ValueCommand {
  /// The limit of the output in bytes.
  private static let outputLimitBytes = 1 << 20
  /// The time in milliseconds after which it is found out whether the wait is over.
  private static let longestWait: Int64 = 50

  private let words: [String]

  /// - Parameter words: The program's name, which is found in `$PATH`, and its arguments.
  package init(_ words: [String]) {
    self.words = words
  }

  /// Runs the command until it ends, or until a time or a signal, which end it.
  ///
  /// - Parameters:
  ///   - waitLimit: The time after which it and earlier commands are over; it is then killed with the processes that it
  ///     started. Nil for no limit.
  ///   - time: The time of earlier commands, to which that of this one is added.
  /// - Returns: Its output as text, which may have a line end at its end.
  package func output(waitLimit: Duration?, countedBy time: CommandTime) throws(SystemError) -> String {
    // Otherwise a signal would end this process, and not the command.
    _ = Interrupt.install()
    let start = MonotonicClock.now
    defer { time.add(.now - start) }
    let deadline = waitLimit.map { start + (time.remaining(of: $0) ?? .zero) }
    let output = try run(ProcessGroup(), until: deadline) { Interrupt.isPending }.get()
    guard let text = String(validating: output, as: UTF8.self) else {
      throw SystemError("the output of \(words[0]) is not UTF-8")
    }
    return text
  }

  /// Runs the command on a thread of its own. Returns a function that kills it with the processes that it started, unless it
  /// has ended.
  package func start(
    timeout: Duration, completion: @escaping @Sendable (Result<[UInt8], SystemError>) -> Void
  ) -> @Sendable () -> Void {
    let group = ProcessGroup()
    do throws(SystemError) {
      try SystemThread { [self] in completion(run(group, until: .now + timeout) { false }) }.detach()
    } catch {
      completion(.failure(error))
    }
    return { group.kill() }
  }

  private func run(
    _ group: ProcessGroup, until deadline: MonotonicClock.Instant?, isOver: () -> Bool
  ) -> Result<[UInt8], SystemError> {
    guard let pipe = Pipe() else { return .failure(.last) }
    defer { close(pipe.readEnd) }
    let problem = group.start(words, giving: [(pipe.writeEnd, 1)])
    close(pipe.writeEnd)
    if let problem { return .failure(SystemError("\(words[0]): \(problem.reason)")) }
    let output = Self.read(pipe.readEnd, until: deadline, isOver)
    if case .failure = output { group.kill() }
    // The command may have closed its output long before it ends.
    let status = group.wait(until: deadline, isOver: isOver)
    guard case .success = output else { return output }
    guard let status else { return .failure(Self.late(isOver)) }
    guard status != 0 else { return output }
    let code = status & 0x7f == 0 ? "exit code \(status >> 8 & 0xff)" : "signal \(status & 0x7f)"
    return .failure(SystemError("the command ended with \(code)"))
  }

  private static func late(_ isOver: () -> Bool) -> SystemError {
    SystemError(isOver() ? Interrupt.reason : "the command took too long")
  }

  private static func read(
    _ descriptor: Int32, until deadline: MonotonicClock.Instant?, _ isOver: () -> Bool
  ) -> Result<[UInt8], SystemError> {
    var output: [UInt8] = []
    while true {
      let milliseconds = deadline.map { ($0 - .now).milliseconds } ?? longestWait
      guard milliseconds > 0, !isOver() else { return .failure(late(isOver)) }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // A signal may be handled on another thread.
      let ready = poll(&waiting, 1, Int32(clamping: min(milliseconds, longestWait)))
      if ready <= 0 { continue }
      do throws(SystemError) {
        let piece = try FileContents.readPiece(descriptor, limitBytes: 1 << 16)
        guard !piece.isEmpty else { return .success(output) }
        output += piece
      } catch {
        return .failure(error)
      }
      guard output.count <= outputLimitBytes else {
        return .failure(SystemError("the command wrote more than \(outputLimitBytes) bytes"))
      }
    }
  }
}
