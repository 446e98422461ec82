import RPCurlBase
import RPCurlCPlugins
import RPCurlPlatform
import RPCurlProtocols

/// Reads a plugin's description in a child process, so that a crash, an exit or an endless loop affects only
/// its entry in the list.
struct PluginInquiry {
  /// The time limit for the plugin.
  private static let limitMilliseconds: Int32 = 5_000
  private static let mostBytes = 1 << 20
  /// The child's exit status if it could not report.
  private static let unreported: Int32 = 114

  private let path: String

  /// Runs `describe` for a file in the child, and returns its result.
  static func ask(
    _ path: String, _ describe: () throws(PluginError) -> PluginListing
  ) throws(PluginError) -> PluginListing {
    let inquiry = PluginInquiry(path: path)
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .unreadable(path: path, reason: currentError()) }
    let child = plugin_guard_fork()
    guard child >= 0 else {
      let reason = currentError()
      for end in ends { close(end) }
      throw .unreadable(path: path, reason: reason)
    }
    if child == 0 { inquiry.report(describe, to: ends[1]) }
    close(ends[1])
    defer { close(ends[0]) }
    let (bytes, isInTime) = inquiry.read(ends[0])
    // It may run on after its end of the pipe was closed. The status of a process that has ended does not change.
    kill(child, SIGKILL)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    guard isInTime else {
      throw .malformed(path: path, reason: "loading it took more than \(limitMilliseconds / 1000) s")
    }
    return try inquiry.result(bytes, status)
  }

  // MARK: - In the child

  private func report(_ describe: () throws(PluginError) -> PluginListing, to descriptor: Int32) -> Never {
    // The plugin's output is not part of the list.
    let null = open("/dev/null", O_RDWR)
    for standard in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where null >= 0 { dup2(null, standard) }
    let fields: [String]
    do throws(PluginError) {
      let listing = try describe()
      fields = ["listing", listing.name, listing.version, listing.summary, listing.configurationHelp]
    } catch {
      fields =
        switch error {
        case .notLoadable(_, let reason): ["notLoadable", reason]
        case .otherVersion(_, let plugin, _): ["otherVersion", plugin]
        case .wouldNotSeeAll: ["wouldNotSeeAll"]
        case .malformed(_, let reason): ["malformed", reason]
        default: ["malformed", error.description]
        }
    }
    let bytes = Array((fields.joined(separator: "\0") + "\0\0").utf8)
    _exit(writeAll(bytes, to: descriptor) ? 0 : Self.unreported)
  }

  // MARK: - In the parent

  private func read(_ descriptor: Int32) -> (bytes: [UInt8], isInTime: Bool) {
    var bytes: [UInt8] = []
    let end = MonotonicClock.now + .milliseconds(Int(Self.limitMilliseconds))
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= Self.mostBytes {
      var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let milliseconds = (end - .now).milliseconds
      guard milliseconds > 0 else { return (bytes, false) }
      guard poll(&wanted, 1, Int32(clamping: milliseconds)) > 0 else { continue }
      let count = RPCurlPlatform.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      // A process started by the plugin may still hold the other end; two zeros also end the report.
      guard count > 0 else { return (bytes, true) }
      bytes += buffer[..<count]
      if bytes.suffix(2) == [0, 0] { return (bytes, true) }
    }
    return (bytes, false)
  }

  private func result(_ bytes: [UInt8], _ status: Int32) throws(PluginError) -> PluginListing {
    let fields = bytes.dropLast(2).split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let isWhole = bytes.suffix(2) == [0, 0]
    switch (isWhole ? fields.first : nil, fields.count) {
    case ("listing", 5):
      return PluginListing(
        path: path, name: fields[1], version: fields[2], summary: fields[3], configurationHelp: fields[4])
    case ("notLoadable", 2): throw .notLoadable(path: path, reason: fields[1])
    case ("otherVersion", 2):
      throw .otherVersion(path: path, plugin: fields[1], host: PluginLoader.abiVersion)
    case ("wouldNotSeeAll", 1): throw .wouldNotSeeAll(path: path)
    case ("malformed", 2): throw .malformed(path: path, reason: fields[1])
    default: throw .malformed(path: path, reason: "it \(Self.end(status)) while it was loaded")
    }
  }

  /// How a child that has not reported has ended.
  private static func end(_ status: Int32) -> String {
    let signal = status & 0x7f
    if signal == SIGKILL || status == unreported << 8 {
      return "closed file descriptors of rpcurl, or was killed,"
    }
    return signal == 0 ? "ended the process" : "crashed (\(signalNames[signal] ?? "signal \(signal)"))"
  }

  private static let signalNames = [
    SIGSEGV: "SIGSEGV", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL", SIGABRT: "SIGABRT",
    SIGTRAP: "SIGTRAP",
  ]
}
