import RPCurlBase
import RPCurlLanguage

/// The external sources of the functions of templates.
package protocol ValueSourceServices: Sendable {
  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - holdsMessages: Whether it contains messages, and so may be large.
  /// - Throws: A ``SystemError`` with the reason, such as `no such file`.
  func contents(ofFile path: String, holdsMessages: Bool) throws(SystemError) -> [UInt8]
  /// The value of an environment variable.
  func environment(_ name: String) -> String?
  /// The time of day, in nanoseconds since 1970 (UTC).
  var nanosecondsSince1970: Int64 { get }
}

/// The external services of built-in interceptors. This layer does no I/O itself; the caller provides an
/// implementation.
package protocol InterceptorServices: ValueSourceServices {
  /// How long to wait for what an interceptor needs when it is made (`--max-time`); nil for no limit.
  var waitLimit: Duration? { get }
  /// Opens a file for writing, and creates it if it does not exist; `-` is standard error.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isAppending: Whether the old content is kept; the first write removes it otherwise.
  func openFile(_ path: String, isAppending: Bool) throws(SystemError) -> any OutputFile
  /// Creates or replaces a file atomically: a reader sees the old or the new content.
  ///
  /// - Parameter isPrivate: Whether others must not read it, even if they could read the old one.
  func replaceFile(_ path: String, with bytes: [UInt8], isPrivate: Bool) throws(SystemError)
  /// Throws if `replaceFile` would fail, as far as this can be found out without a change.
  func checkReplacing(_ path: String) throws(SystemError)
  /// Makes this process the only one of its run that replaces a file. Throws if another one is.
  func claim(_ path: String) throws(SystemError)
  /// A folder of the user's cache, which is created with the first file.
  ///
  /// - Parameters:
  ///   - name: The name of the folder.
  ///   - limitBytes: The size above which the files that were not used for the longest time are removed.
  /// - Throws: A ``SystemError`` if the environment names no directory for caches.
  func cacheFolder(_ name: String, limitBytes: Int) throws(SystemError) -> any CacheFolder
  /// Runs a program, which is found in `$PATH`, without standard input, off the loop's thread.
  ///
  /// - Parameters:
  ///   - command: The program's name and its arguments.
  ///   - timeout: The time after which it is killed.
  ///   - completion: Called once with its standard output, on any thread.
  /// - Returns: A function that kills the command, with the processes that it started, unless it has ended. The completion is
  ///   then called with a failure.
  func run(
    _ command: [String], timeout: Duration,
    completion: @escaping @Sendable (Result<[UInt8], SystemError>) -> Void
  ) -> @Sendable () -> Void
  /// The time of day, in nanoseconds since 1970 (UTC).
  var nanosecondsSince1970: Int64 { get }
  /// The report files of this run.
  var reports: ReportFiles { get }
  /// What the interceptors of the program share.
  var shared: SharedValues { get }
}

extension TemplateFunctions {
  /// Makes functions.
  ///
  /// - Parameters:
  ///   - services: The clock, the environment and the files.
  ///   - seed: The seed of random values; nil for a random one.
  package convenience init(_ services: any ValueSourceServices, seed: UInt64?) {
    let sources = TemplateSources(
      nanosecondsSince1970: { services.nanosecondsSince1970 }, environment: services.environment,
      file: { path throws(LanguageError) in
        do throws(SystemError) {
          return try services.contents(ofFile: path)
        } catch {
          throw LanguageError(error.reason)
        }
      })
    self.init(sources, seed: seed)
  }
}

extension ValueSourceServices {
  /// Reads a whole file of settings.
  package func contents(ofFile path: String) throws(SystemError) -> [UInt8] {
    try contents(ofFile: path, holdsMessages: false)
  }
}

/// A file open for writing. It is complete when it is closed.
package protocol OutputFile: AnyObject, Sendable {
  /// Whether another process, or another object of this one, was writing the file at the first write of this object. The old
  /// content was then not replaced.
  var isShared: Bool { get }
  /// Writes the first bytes of a file that is empty; of one that is not regular, unless something was written before.
  func begin(ifEmpty head: [UInt8]) throws(SystemError)
  /// Appends text immediately, which begins a line.
  func write(_ text: [UInt8]) throws(SystemError)
  /// Appends bytes immediately.
  func write(binary bytes: [UInt8]) throws(SystemError)
  /// Closes the file.
  func close() throws(SystemError)
}

extension InterceptorServices {
  package func claim(_ path: String) throws(SystemError) {}
}

extension OutputFile {
  package var isShared: Bool { false }
  package func write(binary bytes: [UInt8]) throws(SystemError) { try write(bytes) }
  /// Replaces the old content of a file that is to be replaced: to be called when a call starts.
  package func begin() throws(SystemError) { try write([]) }
}

/// A folder of data that can be made again, shared by the processes of the user.
package protocol CacheFolder: AnyObject, Sendable {
  /// The content that was stored for a key; nil if absent, or if it cannot be trusted.
  func load(_ key: [UInt8]) -> [UInt8]?
  /// Stores content for a key, in place of what was stored before.
  func store(_ content: [UInt8], for key: [UInt8]) throws(SystemError)
}
