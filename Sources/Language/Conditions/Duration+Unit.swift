import RPCurlBase

extension Duration {
  /// Parses the limit of a condition, which has a unit: `250ms`, `1.5s`.
  ///
  /// - Throws: ``LanguageError`` that shows the units.
  package init(withUnit text: String) throws(LanguageError) {
    guard let duration = Duration(written: text) else {
      throw LanguageError(
        text.isEmpty ? "missing duration" : "\(text) is not a duration", hint: "such as 1.5s, or 250ms")
    }
    guard text.last?.isLetter == true else {
      throw LanguageError("\(text) has no unit", hint: "write \(text)ms or \(text)s")
    }
    self = duration
  }
}
