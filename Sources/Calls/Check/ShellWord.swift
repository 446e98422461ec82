/// Words of a POSIX shell.
package enum ShellWord {
  /// Quotes `word` if it needs quotes.
  package static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./:=,@%+".contains($0)) }
    guard !isPlain else { return word }
    let parts = word.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
    return "'\(parts.map { String($0) }.joined(separator: "'\\''"))'"
  }
}
