import RPCurlLanguage

/// Reads the values of settings and options that are elsewhere, which keeps secrets off the command line.
///
/// This layer does no I/O: the caller of the parser provides functions that do.
package struct ValueSources: Sendable {
  private let file: @Sendable (String) throws(LanguageError) -> String
  private let environment: @Sendable (String) -> String?
  private let command: @Sendable ([String]) throws(LanguageError) -> String

  /// Makes sources.
  ///
  /// - Parameters:
  ///   - file: Returns the content of the file at a path.
  ///   - environment: Returns the value of a variable; nil if it is not set.
  ///   - command: Returns what a program prints, by its name and its arguments.
  package init(
    file: @escaping @Sendable (String) throws(LanguageError) -> String,
    environment: @escaping @Sendable (String) -> String?,
    command: @escaping @Sendable ([String]) throws(LanguageError) -> String
  ) {
    self.file = file
    self.environment = environment
    self.command = command
  }

  /// Reads a value as it is written.
  package func read(written text: String) throws(LanguageError) -> String {
    try read(WholeValue(parsing: text))
  }

  /// Reads a value: of a file and of a command without the last line end.
  package func read(_ value: WholeValue) throws(LanguageError) -> String {
    switch value {
    case .literal(let text): return text
    case .file(let path): return try file(path).withoutLineEnd
    case .environment(let name):
      guard let found = environment(name) else {
        throw LanguageError("the environment variable \(name) is not set")
      }
      return found
    case .command(let words): return try command(words).withoutLineEnd
    }
  }
}
