import Glibc
import Interceptors
import Protobuf
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

  /// Runs the command on a thread of its own. Returns a function that kills it with the processes that it started, unless it
  /// has ended.
  package func start(
    timeout: Duration, completion: @escaping @Sendable (Result<[UInt8], ServiceFailure>) -> Void
  ) -> @Sendable () -> Void {
    let group = ProcessGroup()
    let job = Job { [command] in completion(Self.run(command, group, until: .now + timeout)) }
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(job).toOpaque())
    if result == 0 {
      pthread_detach(thread)
    } else {
      completion(.failure(ServiceFailure(String(cString: strerror(result)))))
    }
    return { group.kill() }
  }

  private final class Job: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private static func run(
    _ command: String, _ group: ProcessGroup, until deadline: MonotonicClock.Instant
  ) -> Result<[UInt8], ServiceFailure> {
    guard let pipe = Pipe() else { return .failure(ServiceFailure(FileContents.lastError())) }
    defer { close(pipe.readEnd) }
    let problem = group.start(["/bin/sh", "-c", command], giving: [(pipe.writeEnd, 1)])
    close(pipe.writeEnd)
    if let problem { return .failure(ServiceFailure(problem.why)) }
    let output = read(pipe.readEnd, until: deadline)
    if case .failure = output { group.kill() }
    // The command may have closed its output long before it ends.
    let status = group.wait(until: deadline)
    guard case .success = output else { return output }
    guard let status else { return .failure(late) }
    guard status != 0 else { return output }
    let code = status & 0x7f == 0 ? "exit code \(status >> 8 & 0xff)" : "signal \(status & 0x7f)"
    return .failure(ServiceFailure("the command ended with \(code)"))
  }

  private static var late: ServiceFailure { ServiceFailure("the command took too long") }

  private static func read(
    _ descriptor: Int32, until deadline: MonotonicClock.Instant
  ) -> Result<[UInt8], ServiceFailure> {
    var output: [UInt8] = []
    while true {
      let milliseconds = (deadline - .now).milliseconds
      guard milliseconds > 0 else { return .failure(late) }
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
