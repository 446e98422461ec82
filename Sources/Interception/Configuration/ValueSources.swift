/// Reads the values of settings that are in files or in the environment, which keeps secrets off the command line.
///
/// This layer does no I/O: the caller of the parser provides functions that do.
package struct ValueSources: Sendable {
  /// Why a value could not be read.
  package struct Failure: Error, Equatable {
    /// The reason, such as `no such file`.
    package var reason: String

    /// Makes a failure.
    package init(_ reason: String) { self.reason = reason }
  }

  private let file: @Sendable (String) throws(Failure) -> String
  private let environment: @Sendable (String) -> String?

  /// Makes sources.
  ///
  /// - Parameters:
  ///   - file: Returns the content of the file at a path.
  ///   - environment: Returns the value of a variable; nil if it is not set.
  package init(
    file: @escaping @Sendable (String) throws(Failure) -> String,
    environment: @escaping @Sendable (String) -> String?
  ) {
    self.file = file
    self.environment = environment
  }

  func resolve(_ value: Substring) throws(Failure) -> String {
    if value.utf8.starts(with: "@@".utf8) { return String(value.unicodeScalars.dropFirst()) }
    if value.utf8.starts(with: "@".utf8) {
      let content = try file(String(value.unicodeScalars.dropFirst()))
      return content.hasSuffix("\n") || content.hasSuffix("\r\n") ? String(content.dropLast()) : content
    }
    if value.utf8.starts(with: "env:".utf8) {
      let name = String(value.unicodeScalars.dropFirst(4))
      guard let found = environment(name) else {
        throw Failure("the environment variable \(name) is not set")
      }
      return found
    }
    return String(value)
  }
}
