import RPCurlLanguage
import RPCurlPlatform

/// The command of a script.
package enum ScriptCommand {
  /// The words of the command in the setting `run`.
  ///
  /// - Throws: ``LanguageError`` if no command can be read, or its program cannot be run.
  package static func words(of text: String) throws(LanguageError) -> [String] {
    let words = try CommandWords.split(text, after: "run=", example: "./sign.py --key k")
    guard let (reason, hint) = ScriptFile.problem(with: words[0]) else { return words }
    throw LanguageError("\(words[0]): \(reason)", hint: hint)
  }
}
