import RPCurlBase
import RPCurlChain
import RPCurlPlatform
import RPCurlProtocols

/// Provides files, the environment and the clock to value functions.
package struct SystemValues: ValueSourceServices {
  private let waitLimit: Duration?

  /// Creates the sources.
  ///
  /// - Parameter waitLimit: How long to wait for data from a pipe; nil for no limit.
  package init(waitLimit: Duration?) {
    self.waitLimit = waitLimit
  }

  package func contents(ofFile path: String, holdsMessages: Bool) throws(SystemError) -> [UInt8] {
    try FileContents.read(
      path, limitBytes: holdsMessages ? FileContents.dataLimitBytes : FileContents.optionLimitBytes,
      waitLimit: waitLimit, isShared: holdsMessages)
  }

  package func environment(_ name: String) -> String? { EnvironmentVariables.value(name) }

  package var nanosecondsSince1970: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// Provides the machine's services to the built-in interceptors.
package struct SystemServices: InterceptorServices {
  private let values: SystemValues
  package let waitLimit: Duration?
  private let standardError: any OutputFile
  private let isDry: Bool
  private let runFiles: RunFiles?
  private let replaced = ReplacedFiles()
  package let reports: ReportFiles
  package let shared: SharedValues

  /// Creates the services.
  ///
  /// - Parameters:
  ///   - reports: The report files that interceptors share.
  ///   - shared: What the interceptors of the program share.
  ///   - standardError: What interceptors that write to `-` write to.
  ///   - runFiles: The files that processes of this run write; nil if it is the only one.
  ///   - waitLimit: How long to wait for data from a pipe, and for the reader of one; nil for no limit.
  ///   - isDry: Whether files are only checked: none is created or changed.
  package init(
    reports: ReportFiles = ReportFiles(), shared: SharedValues = SharedValues(),
    standardError: any OutputFile = AppendedFile(2, closes: false), runFiles: RunFiles? = nil,
    waitLimit: Duration?, isDry: Bool = false
  ) {
    self.reports = reports
    self.shared = shared
    self.standardError = standardError
    self.isDry = isDry
    self.runFiles = runFiles
    self.waitLimit = waitLimit
    values = SystemValues(waitLimit: waitLimit)
  }

  package func contents(ofFile path: String, holdsMessages: Bool) throws(SystemError) -> [UInt8] {
    try values.contents(ofFile: path, holdsMessages: holdsMessages)
  }

  package func openFile(_ path: String, isAppending: Bool) throws(SystemError) -> any OutputFile {
    guard path != "-" else { return standardError }
    guard !isDry else {
      if let problem = FileContents.problemOfWriting(path) { throw problem }
      // No call is made, so nothing is written.
      return standardError
    }
    return try AppendedFile(path, isAppending: isAppending, in: runFiles, waitLimit: waitLimit)
  }

  package func replaceFile(_ path: String, with bytes: [UInt8], isPrivate: Bool) throws(SystemError) {
    guard !isDry else { return try checkReplacing(path) }
    try claim(path)
    try replaced.file(path, isPrivate: isPrivate).update(waitLimit: waitLimit) {
      content throws(SystemError) in
      guard !content.isForeign else { throw SystemError("another process has replaced the file") }
      return bytes
    }
  }

  package func checkReplacing(_ path: String) throws(SystemError) {
    if let problem = FileContents.problemOfReplacing(path) { throw problem }
    try claim(path)
  }

  package func claim(_ path: String) throws(SystemError) {
    guard !isDry, let runFiles, FileFacts(path)?.isRegular != false else { return }
    guard runFiles.claim("path \(FileContents.identity(of: path))") else {
      throw SystemError("another suite of this run writes this file; name one of its own in each suite")
    }
  }

  package func cacheFolder(_ name: String, limitBytes: Int) throws(SystemError) -> any CacheFolder {
    guard let base = UserDirectory.cache.path(environment) else {
      throw SystemError("neither XDG_CACHE_HOME nor HOME is set to an absolute path")
    }
    return CacheDirectory("\(base)/rpcurl/\(name)", limitBytes: limitBytes)
  }

  package func environment(_ name: String) -> String? { values.environment(name) }

  package func run(
    _ command: [String], timeout: Duration,
    completion: @escaping @Sendable (Result<[UInt8], SystemError>) -> Void
  ) -> @Sendable () -> Void {
    ValueCommand(command).start(timeout: timeout, completion: completion)
  }

  package var nanosecondsSince1970: Int64 { values.nanosecondsSince1970 }
}

extension CacheDirectory: CacheFolder {}
extension AppendedFile: OutputFile {}

/// The files that interceptors replace, by path: each is replaced repeatedly.
private final class ReplacedFiles: Sendable {
  /// A type of its own: the generic type of a dictionary would be instantiated in each run.
  private struct State {
    var files: [String: SharedFile] = [:]
  }

  private let state = Locked(State())

  func file(_ path: String, isPrivate: Bool) -> SharedFile {
    state.withLock { state in
      let file = state.files[path] ?? SharedFile(path, isPrivate: isPrivate)
      state.files[path] = file
      return file
    }
  }
}
