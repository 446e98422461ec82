import RPCurlLanguage

/// Reads the values of settings and options that are elsewhere, which keeps secrets off the command line.
///
/// This layer does no I/O: the caller of the parser provides functions that do.
package struct ValueSources: Sendable {
  /// Why a value could not be read.
  package struct Failure: Error, Equatable {
    /// The reason, such as `no such file`.
    package var reason: String
    /// What to do; nil if there is nothing to say.
    package var hint: String?

    /// Makes a failure.
    package init(_ reason: String, hint: String? = nil) {
      self.reason = reason
      self.hint = hint
    }
  }

  private let file: @Sendable (String) throws(Failure) -> String
  private let environment: @Sendable (String) -> String?
  private let command: @Sendable ([String]) throws(Failure) -> String

  /// Makes sources.
  ///
  /// - Parameters:
  ///   - file: Returns the content of the file at a path.
  ///   - environment: Returns the value of a variable; nil if it is not set.
  ///   - command: Returns what a program prints, by its name and its arguments.
  package init(
    file: @escaping @Sendable (String) throws(Failure) -> String,
    environment: @escaping @Sendable (String) -> String?,
    command: @escaping @Sendable ([String]) throws(Failure) -> String
  ) {
    self.file = file
    self.environment = environment
    self.command = command
  }

  /// Reads a value as it is written.
  package func read(written text: String) throws(Failure) -> String {
    let value: WholeValue
    do throws(LanguageError) { value = try WholeValue(parsing: text) } catch {
      throw Failure(error.reason, hint: error.hint)
    }
    return try read(value)
  }

  /// Reads a value: of a file and of a command without the last line end.
  package func read(_ value: WholeValue) throws(Failure) -> String {
    switch value {
    case .literal(let text): return text
    case .file(let path): return try file(path).withoutLineEnd
    case .environment(let name):
      guard let found = environment(name) else {
        throw Failure("the environment variable \(name) is not set")
      }
      return found
    case .command(let words): return try command(words).withoutLineEnd
    }
  }
}
