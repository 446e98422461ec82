import RPCurlBase
/// The process group of a program: the program, and the processes that it started. It can be killed on any thread, and is
/// killed when this process ends.
package final class ProcessGroup: Sendable {
  private enum State {
    case waiting
    case running(pid_t)
    case ended
  }

  private let state = Locked(State.waiting)

  /// A group without a program.
  package init() {}

  /// Starts the program, without input unless a descriptor is given for it. Returns why it was not started; nil if it was.
  ///
  /// - Parameters:
  ///   - arguments: The program's name, which is found in `$PATH`, and its arguments.
  ///   - descriptors: The descriptors that it inherits, each with its number in the child.
  ///   - environment: Its environment as `NAME=VALUE`; nil for that of this process.
  package func start(
    _ arguments: [String], giving descriptors: [(own: Int32, its: Int32)], environment: [String]? = nil
  ) -> SystemError? {
    state.withLock { state in
      guard case .waiting = state else {
        return SystemError("the command was canceled")
      }
      let started = ChildProcess.start(
        arguments, hasInput: false, giving: descriptors, leadsGroup: true, environment: environment)
      switch started {
      case .success(let process):
        state = .running(process)
        OwnedGroups.add(process)
        return nil
      case .failure(let error):
        state = .ended
        return error
      }
    }
  }

  /// Kills the group, unless the program has ended. A program that was not started will not be.
  package func kill() {
    state.withLock { state in
      switch state {
      case .waiting: state = .ended
      case .running(let process): _ = RPCurlPlatform.kill(-process, SIGKILL)
      case .ended: break
      }
    }
  }

  /// Asks the group to end by a signal, unless the program has ended.
  package func terminate(by signal: Int32 = SIGTERM) {
    state.withLock { state in
      if case .running(let process) = state { _ = RPCurlPlatform.kill(-process, signal) }
    }
  }

  /// Waits until the program has ended, asks it to end after a time, and kills it after another. What it has started and left
  /// is killed too.
  ///
  /// - Parameters:
  ///   - grace: How long it may take to end by itself.
  ///   - patience: How long it may take to end after SIGTERM.
  /// - Returns: Its status as `waitpid` reports it.
  package func end(grace: Duration, patience: Duration) -> Int32? {
    waitUntilOver(for: grace)
    if !isOver { terminate() }
    waitUntilOver(for: patience)
    // Before the number of the group is free for others.
    kill()
    return wait(until: nil)
  }

  private func waitUntilOver(for limit: Duration) {
    let deadline = MonotonicClock.now + limit
    while !isOver, MonotonicClock.now < deadline { usleep(500) }
  }

  /// Whether the program has ended. Its status is kept.
  package var isOver: Bool {
    state.withLock { state in
      guard case .running(let process) = state else { return true }
      var info = siginfo_t()
      let result = waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT)
      return result != 0 && errno != EINTR || result == 0 && info.si_signo != 0
    }
  }

  /// Waits until the program has ended, and kills the group at the deadline.
  ///
  /// - Parameters:
  ///   - deadline: The deadline; nil for no limit.
  ///   - isOver: Whether the deadline has passed before its time.
  /// - Returns: Its status as `waitpid` reports it; nil if the deadline has passed.
  package func wait(until deadline: MonotonicClock.Instant?, isOver: () -> Bool = { false }) -> Int32? {
    var isLate = false
    // Linux can wait for a process and a time with a descriptor of the process only, which older kernels do not have.
    var pauseMicroseconds: useconds_t = 100
    while true {
      if let status = status() { return isLate ? nil : status }
      if !isLate, deadline.map({ $0 <= .now }) == true || isOver() {
        isLate = true
        kill()
      }
      usleep(pauseMicroseconds)
      pauseMicroseconds = min(2 * pauseMicroseconds, 20_000)
    }
  }

  /// The status of the program; nil while it runs. The number of a process is valid until this returns its status, so the lock
  /// is held.
  private func status() -> Int32? {
    state.withLock { state in
      guard case .running(let process) = state else { return 0 }
      var status: Int32 = 0
      let result = waitpid(process, &status, WNOHANG)
      guard result != 0, result > 0 || errno != EINTR else { return nil }
      state = .ended
      OwnedGroups.remove(process)
      // Where SIGCHLD is ignored, the system does not keep the status.
      return result > 0 ? status : 0
    }
  }
}
