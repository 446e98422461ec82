import Synchronization

/// The process groups that end with this process, however it ends: at its exit, and before a second signal ends it. Global,
/// because what the C library and the system call at the end of a process has no parameter.
enum OwnedGroups {
  /// The leaders of the groups; 0 in free places.
  private static let leaders = InlineArray<64, Atomic<pid_t>> { _ in Atomic(0) }
  private static let atExit: Void = { atexit { OwnedGroups.kill() } }()

  /// Creates what a signal handler uses.
  static func prepare() {
    _ = atExit
    for index in leaders.indices { _ = leaders[index].load(ordering: .relaxed) }
  }

  /// Adds a group; ignored if there are too many.
  static func add(_ leader: pid_t) {
    prepare()
    for index in leaders.indices {
      if leaders[index].compareExchange(expected: 0, desired: leader, ordering: .relaxed).exchanged { return }
    }
  }

  /// Removes a group, before its number is free for others.
  static func remove(_ leader: pid_t) {
    for index in leaders.indices {
      _ = leaders[index].compareExchange(expected: leader, desired: 0, ordering: .relaxed)
    }
  }

  /// Kills all groups. Async-signal-safe.
  static func kill() {
    for index in leaders.indices {
      let leader = leaders[index].load(ordering: .relaxed)
      if leader > 0 { _ = RPCurlPlatform.kill(-leader, SIGKILL) }
    }
  }
}
