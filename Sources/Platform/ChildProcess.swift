import RPCurlBase
import RPCurlCSystem

/// Runs another program until it ends, or until a time or a signal, which end it.
package enum ChildProcess {
  /// How a program ended.
  package struct Outcome {
    package let hasSucceeded: Bool
    /// What the program wrote to standard error, and to standard output unless that is redirected.
    package let errors: String
  }

  /// Runs a program found in `$PATH`. It inherits descriptors that have no `FD_CLOEXEC`.
  ///
  /// - Parameters:
  ///   - arguments: The program's name and its arguments.
  ///   - input: The descriptor that is its standard input; nil for none.
  ///   - output: The descriptor that receives its standard output; nil to read it with standard error.
  ///   - waitLimit: The time after which it is killed with the processes that it started (`--max-time`); nil for no limit.
  /// - Throws: `SystemError` if the program could not be started, or was killed because of the limit or a signal.
  package static func run(
    _ arguments: [String], input: Int32? = nil, output: Int32? = nil, waitLimit: Duration? = nil
  ) throws(SystemError) -> Outcome {
    // Otherwise a signal would end this process, and not the program.
    _ = Interrupt.install()
    let deadline = waitLimit.map { MonotonicClock.now + $0 }
    guard let pipe = Pipe() else { throw .last }
    defer { close(pipe.readEnd) }
    let group = ProcessGroup()
    var descriptors: [(own: Int32, its: Int32)] = [(output ?? pipe.writeEnd, 1), (pipe.writeEnd, 2)]
    if let input { descriptors.append((input, 0)) }
    let problem = group.start(arguments, giving: descriptors)
    close(pipe.writeEnd)
    if let problem { throw problem }
    let file = InputFile(reading: pipe.readEnd, until: deadline)
    var errors: [UInt8] = []
    while let piece = try? file.next(limitBytes: 1 << 14) {
      // Discard output over 1 MiB: it is only shown in an error.
      if errors.count < 1 << 20 { errors += piece }
    }
    // It may have closed its output long before it ends.
    guard let status = group.wait(until: deadline, isOver: { Interrupt.isPending }) else {
      let why = Interrupt.isPending ? Interrupt.reason : "did not end within --max-time"
      throw SystemError(why)
    }
    return Outcome(hasSucceeded: status == 0, errors: String(decoding: errors, as: UTF8.self))
  }

  // MARK: Starting and waiting

  /// Starts a program found in `$PATH`, with the default action for all signals, and none blocked.
  ///
  /// - Parameters:
  ///   - arguments: The program's name and its arguments.
  ///   - hasInput: Whether it inherits standard input; otherwise it reads `/dev/null`.
  ///   - descriptors: The descriptors that it inherits, each with its number in the child.
  ///   - leadsGroup: Whether it gets a process group of its own.
  ///   - leadsSession: Whether it gets a session of its own, with a group and without a terminal.
  ///   - environment: Its environment as `NAME=VALUE`; nil for that of this process.
  /// - Returns: The process's id, or the reason why it could not be started.
  package static func start(
    _ arguments: [String], hasInput: Bool, giving descriptors: [(own: Int32, its: Int32)],
    leadsGroup: Bool = false, leadsSession: Bool = false, environment: [String]? = nil
  ) -> Result<pid_t, SystemError> {
    #if os(Linux)
      var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #else
      // Pointers.
      var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if !hasInput { posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) }
    for (own, its) in descriptors { posix_spawn_file_actions_adddup2(&actions, own, its) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    let group = leadsGroup ? POSIX_SPAWN_SETPGROUP : 0
    let session = leadsSession ? csystem_new_session : 0
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group | session))
    posix_spawnattr_setpgroup(&attributes, 0)
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // Threads of a pool block signals.
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    let copies = arguments.map { strdup($0) }
    let variables = (environment ?? []).map { strdup($0) }
    defer { for copy in copies + variables { free(copy) } }
    var process = pid_t()
    var given = variables + [nil]
    let number = given.withUnsafeMutableBufferPointer { given in
      posix_spawnp(
        &process, arguments[0], &actions, &attributes, copies + [nil],
        environment == nil ? csystem_environment() : given.baseAddress)
    }
    return number == 0 ? .success(process) : .failure(SystemError(number: number))
  }

  /// Waits until a child ends. Returns its status as `waitpid` reports it.
  package static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }
}
