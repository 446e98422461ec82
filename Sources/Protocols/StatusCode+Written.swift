import RPCurlLanguage

extension StatusNames {
  /// The codes of gRPC, which all protocols share; also gRPC's spelling `CANCELLED`.
  package static let codes = StatusNames(
    StatusCode.allCases.map(\.name), spellings: ["cancelled": StatusCode.canceled.rawValue])
}

extension StatusCode {
  /// Parses a code as people write it: `unavailable`, `UNAVAILABLE`, `14`; also gRPC's spelling `CANCELLED`.
  package init?(written text: some StringProtocol) {
    guard let number = StatusNames.codes.number(of: text) else { return nil }
    self.init(rawValue: number)
  }
}

extension Condition {
  /// Parses a condition.
  ///
  /// - Parameters:
  ///   - text: Such as `status ok`, or `.name == Ada`. JSON in it may have several lines.
  ///   - hasShortForm: Whether `$name.path` is an expression too, as in sessions.
  /// - Throws: ``LanguageError`` if the text is not a condition.
  package init(parsing text: String, hasShortForm: Bool = false) throws(LanguageError) {
    try self.init(parsing: text, statuses: .codes, hasShortForm: hasShortForm)
  }
}
