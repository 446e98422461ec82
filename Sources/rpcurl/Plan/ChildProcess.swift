import Glibc

/// Another program, run to its end.
enum ChildProcess {
  /// Why it did not run.
  struct Problem: Error {
    let why: String
    let isMissing: Bool
  }

  /// How it ended.
  struct Result {
    let hasSucceeded: Bool
    /// What it wrote, to standard error and output.
    let errors: String
  }

  /// Runs a program of `$PATH`, without input. Descriptors that are not closed by it, it has too.
  static func run(_ words: [String]) throws(Problem) -> Result {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Problem(why: FileContents.lastError(), isMissing: false) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let (process, error) = spawn(words, output: ends[1])
    close(ends[1])
    guard error == 0 else { throw Problem(why: String(cString: strerror(error)), isMissing: error == ENOENT) }
    var output: [UInt8] = []
    while let piece = try? FileContents.readPiece(ends[0], limitBytes: 1 << 14), !piece.isEmpty {
      // More than anybody reads is passed over.
      if output.count < 1 << 20 { output += piece }
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return Result(hasSucceeded: status == 0, errors: String(decoding: output, as: UTF8.self))
  }

  private static func spawn(_ words: [String], output: Int32) -> (pid_t, Int32) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, output, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let arguments = words.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let result = posix_spawnp(&process, words[0], &actions, &attributes, arguments + [nil], environ)
    return (process, result)
  }
}
