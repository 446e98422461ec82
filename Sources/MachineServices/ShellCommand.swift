import Glibc
import Interceptors
import RPCProtocols
import System

/// A shell command whose standard output is a value.
package struct ShellCommand {
  /// The limit of the output in bytes.
  private static let outputLimitBytes = 1 << 20

  private let command: String

  package init(_ command: String) {
    self.command = command
  }

  /// Runs the command on a thread of its own.
  package func start(
    timeout: Duration, completion: @escaping @Sendable (Result<[UInt8], ServiceFailure>) -> Void
  ) {
    let job = Job { [command] in completion(Self.run(command, until: .now + timeout)) }
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(job).toOpaque())
    guard result == 0 else { return completion(.failure(ServiceFailure(String(cString: strerror(result))))) }
    pthread_detach(thread)
  }

  private final class Job: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private static func run(
    _ command: String, until deadline: MonotonicClock.Instant
  ) -> Result<[UInt8], ServiceFailure> {
    var ends: (read: Int32, write: Int32) = (-1, -1)
    let piped = withUnsafeMutablePointer(to: &ends) {
      $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
    }
    guard piped == 0 else { return .failure(ServiceFailure(FileContents.lastError())) }
    defer { close(ends.read) }
    for end in [ends.read, ends.write] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let started = ChildProcess.start(
      ["/bin/sh", "-c", command], hasInput: false, giving: [(ends.write, 1)], leadsGroup: true)
    close(ends.write)
    let process: pid_t
    switch started {
    case .success(let pid): process = pid
    case .failure(let error): return .failure(ServiceFailure(error.why))
    }
    let output = read(ends.read, until: deadline)
    // Kill the process group: the shell may have children.
    if case .failure = output { kill(-process, SIGKILL) }
    let status = ChildProcess.wait(for: process)
    guard case .success = output, status != 0 else { return output }
    let code = status & 0x7f == 0 ? "exit code \(status >> 8 & 0xff)" : "signal \(status & 0x7f)"
    return .failure(ServiceFailure("the command ended with \(code)"))
  }

  private static func read(
    _ descriptor: Int32, until deadline: MonotonicClock.Instant
  ) -> Result<[UInt8], ServiceFailure> {
    var output: [UInt8] = []
    while true {
      let milliseconds = (deadline - .now).milliseconds
      guard milliseconds > 0 else { return .failure(ServiceFailure("the command took too long")) }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, Int32(clamping: milliseconds))
      if ready <= 0 { continue }
      do throws(FileContents.Problem) {
        let piece = try FileContents.readPiece(descriptor, limitBytes: 1 << 16)
        guard !piece.isEmpty else { return .success(output) }
        output += piece
      } catch {
        return .failure(ServiceFailure(error.why))
      }
      guard output.count <= outputLimitBytes else {
        return .failure(ServiceFailure("the command wrote more than \(outputLimitBytes) bytes"))
      }
    }
  }
}
