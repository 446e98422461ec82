import Glibc
import Interceptors

/// A command line that the shell runs, for what it writes to standard output.
struct ShellCommand {
  /// What is read of its output at most.
  private static let outputLimitBytes = 1 << 20

  private let command: String

  init(_ command: String) {
    self.command = command
  }

  /// Runs it on a thread of its own.
  func start(timeout: Duration, completion: @escaping @Sendable (Result<[UInt8], ServiceFailure>) -> Void) {
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
    _ command: String, until deadline: ContinuousClock.Instant
  ) -> Result<[UInt8], ServiceFailure> {
    var ends: (read: Int32, write: Int32) = (-1, -1)
    let piped = withUnsafeMutablePointer(to: &ends) {
      $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
    }
    guard piped == 0 else { return .failure(ServiceFailure(FileContents.lastError())) }
    defer { close(ends.read) }
    for end in [ends.read, ends.write] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let spawned = spawn(command, output: ends.write)
    close(ends.write)
    guard case .success(let process) = spawned else { return spawned.map { _ in [] } }
    let output = read(ends.read, until: deadline)
    // All of its group: the shell may have children of its own.
    if case .failure = output { kill(-process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard case .success = output, status != 0 else { return output }
    let code = status & 0x7f == 0 ? "exit code \(status >> 8 & 0xff)" : "signal \(status & 0x7f)"
    return .failure(ServiceFailure("the command ended with \(code)"))
  }

  private static func spawn(_ command: String, output: Int32) -> Result<pid_t, ServiceFailure> {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
    posix_spawnattr_setpgroup(&attributes, 0)
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    var process = pid_t()
    let result = "/bin/sh".withCString { shell in
      "-c".withCString { option in
        command.withCString { line in
          let arguments = [shell, option, line].map { UnsafeMutablePointer(mutating: $0) } + [nil]
          return posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environ)
        }
      }
    }
    return result == 0 ? .success(process) : .failure(ServiceFailure(String(cString: strerror(result))))
  }

  private static func read(
    _ descriptor: Int32, until deadline: ContinuousClock.Instant
  ) -> Result<[UInt8], ServiceFailure> {
    var output: [UInt8] = []
    while true {
      let left = (deadline - .now).components
      let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
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
