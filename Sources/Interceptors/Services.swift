import Interception

/// What built-in interceptors need of the world outside of their call. This layer does no I/O itself: whoever makes
/// them brings it.
public protocol InterceptorServices: Sendable {
  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - holdsMessages: Whether it holds messages, so that it may be large.
  /// - Throws: A `ServiceFailure` with the reason, such as `no such file`.
  func contents(ofFile path: String, holdsMessages: Bool) throws(ServiceFailure) -> [UInt8]
  /// Opens a file to be written, made anew or appended to; `-` is standard error.
  func openFile(_ path: String, appending: Bool) throws(ServiceFailure) -> any OutputFile
  /// Puts a file in place, or in the place of another, in one step: a reader sees the one or the other whole.
  ///
  /// - Parameter isPrivate: Whether others must not read it, even if they could read the one that it replaces.
  func replaceFile(_ path: String, with bytes: [UInt8], isPrivate: Bool) throws(ServiceFailure)
  /// The value of an environment variable.
  func environment(_ name: String) -> String?
  /// Runs a command line with `/bin/sh -c`, without standard input, off the loop's thread.
  ///
  /// - Parameters:
  ///   - command: The command line.
  ///   - timeout: When it is killed.
  ///   - completion: Called once with what it wrote to standard output, on any thread.
  func run(
    _ command: String, timeout: Duration,
    completion: @escaping @Sendable (Result<[UInt8], ServiceFailure>) -> Void)
  /// The time of day, in nanoseconds since 1970 (UTC).
  var nanosecondsSince1970: Int64 { get }
}

extension InterceptorServices {
  /// Reads a whole file of settings.
  func contents(ofFile path: String) throws(ServiceFailure) -> [UInt8] {
    try contents(ofFile: path, holdsMessages: false)
  }
}

/// Why a service could not be rendered.
public struct ServiceFailure: Error, Equatable, Sendable {
  /// The reason, in a few words.
  public var reason: String

  /// Makes a failure.
  public init(_ reason: String) { self.reason = reason }
}

/// A file that is being written. It is complete when it is closed.
public protocol OutputFile: AnyObject, Sendable {
  /// Appends bytes, at once.
  func write(_ bytes: [UInt8]) throws(ServiceFailure)
  /// Ends the file.
  func close() throws(ServiceFailure)
}
