import Output
import System

/// What the values of options are read from: environment variables, files, and a prompt on the terminal.
package struct ArgumentSources {
  /// Returns the value of an environment variable.
  package let environment: (String) -> String?
  package let secrets: SecretPrompt
  /// How long to wait for data from a pipe (`--max-time`); nil for no limit.
  package var waitLimit: Duration?

  /// Creates sources without a limit of waiting.
  package init(environment: @escaping (String) -> String?, secrets: SecretPrompt) {
    self.environment = environment
    self.secrets = secrets
  }

  /// Reads a file that an option names.
  package func contents(ofFile path: String) throws(FileContents.Problem) -> [UInt8] {
    try FileContents.read(path, limitBytes: FileContents.optionLimitBytes, waitLimit: waitLimit)
  }

  /// Reads a file of text that an option names.
  package func text(ofFile path: String) throws(FileContents.Problem) -> String {
    guard let text = String(validating: try contents(ofFile: path), as: UTF8.self) else {
      throw FileContents.Problem(why: "not UTF-8")
    }
    return text
  }
}
