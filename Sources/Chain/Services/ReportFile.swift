import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols

/// The report files of a run. Interceptors that name the same file share it.
package final class ReportFiles: Sendable {
  /// A type of its own: the generic type of a dictionary would be instantiated in each run.
  private struct State {
    var files: [String: any Sendable] = [:]
    var areIncomplete = false
  }

  private let state = Locked(State())

  /// Whether a file lacks entries at the end of the run, because it could not be written. The error was reported.
  package var areIncomplete: Bool { state.withLock { $0.areIncomplete } }

  fileprivate func noteIncomplete() { state.withLock { $0.areIncomplete = true } }

  /// No file yet.
  package init() {}

  /// The file at a path.
  ///
  /// - Parameters:
  ///   - path: The path, as the user wrote it.
  ///   - make: Makes the file of the first interceptor that names it.
  /// - Throws: A ``SystemError`` if another interceptor writes the file in another format.
  package func file<Entry>(
    _ path: String, make: () -> ReportFile<Entry>
  ) throws(SystemError) -> ReportFile<Entry> {
    let known = state.withLock { state in
      let file = state.files[path] ?? make()
      state.files[path] = file
      return file
    }
    guard let file = known as? ReportFile<Entry> else {
      throw SystemError("another interceptor writes this file, in another format")
    }
    return file
  }
}

/// A file with an entry for each call. Each write replaces the whole file, so the time for this is limited: the file is
/// complete after each call, until writing has taken too much time; from then on it may lag behind while calls run. It is
/// complete at the end.
package final class ReportFile<Entry: Sendable>: Sendable {
  /// Writing takes at most this time, and a twentieth of the time of the run besides.
  private static var freeTime: Duration { .milliseconds(500) }

  private struct State {
    var entries: [Entry] = []
    /// Whether the file lacks entries.
    var isBehind = false
    /// Whether the file of an earlier run was replaced.
    var hasBegun = false
    /// The time that writing has taken.
    var spent = Duration.zero
  }

  /// The path, as the user wrote it.
  package let path: String
  private let services: any InterceptorServices
  private let isPrivate: Bool
  private let text: @Sendable ([Entry]) -> String
  private let now: @Sendable () -> MonotonicClock.Instant
  private let begin: MonotonicClock.Instant
  private let state = Locked(State())

  /// Makes a file.
  ///
  /// - Parameters:
  ///   - path: The path, as the user wrote it.
  ///   - services: Writes the file.
  ///   - isPrivate: Whether only the user may read the file.
  ///   - now: The current time.
  ///   - text: Formats the file.
  package init(
    _ path: String, _ services: any InterceptorServices, isPrivate: Bool,
    now: @escaping @Sendable () -> MonotonicClock.Instant = { .now },
    text: @escaping @Sendable ([Entry]) -> String
  ) {
    self.path = path
    self.services = services
    self.isPrivate = isPrivate
    self.now = now
    begin = now()
    self.text = text
  }

  /// Whether it has no entries.
  package var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

  /// Adds an entry, and writes the file if time is left for this. After an error, `conclude` tries again.
  package func add(_ entry: Entry) throws(SystemError) {
    let mayWrite = state.withLock { state in
      state.entries.append(entry)
      state.isBehind = true
      return state.spent < Self.freeTime + (now() - begin) / 20
    }
    if mayWrite { try write() }
  }

  /// Replaces the file of an earlier run, the first time: to be called when a call starts.
  package func start() throws(SystemError) {
    if !state.withLock({ $0.hasBegun }) { try write() }
  }

  /// Writes the current file.
  package func write() throws(SystemError) {
    let begin = now()
    let entries = state.withLock { $0.entries }
    defer {
      let end = now()
      state.withLock { $0.spent += end - begin }
    }
    try services.replaceFile(path, with: Array(text(entries).utf8), isPrivate: isPrivate)
    state.withLock { state in
      state.hasBegun = true
      state.isBehind = state.entries.count > entries.count
    }
  }

  /// Writes the entries that the file lacks. A failure of this is logged, and noted for the result of the run.
  /// To be called when no call follows.
  package func conclude(_ name: String, _ network: FactoryNetwork) {
    guard state.withLock({ $0.isBehind }) else { return }
    do throws(SystemError) {
      try write()
    } catch {
      services.reports.noteIncomplete()
      network.log(LogRecord(level: .error, source: name, text: "cannot write \(path): \(error.reason)"))
    }
  }
}
