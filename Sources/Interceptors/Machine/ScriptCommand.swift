import RPCurlLanguage
import RPCurlPlatform

/// The command of a script.
package enum ScriptCommand {
  /// The words of the command in the setting `run`, which may be the path of a file with blanks.
  ///
  /// - Throws: ``LanguageError`` if no command can be read, or its program cannot be run.
  package static func words(of text: String) throws(LanguageError) -> [String] {
    // A file whose name has blanks is one word.
    let words =
      FileContents.isRegularFile(text)
      ? [text] : try CommandWords.split(text, after: "run=", example: "./sign.py --key k")
    guard let (reason, hint) = ScriptFile.problem(with: words[0]) else { return words }
    throw LanguageError("\(words[0]): \(reason)", hint: hint)
  }
}
