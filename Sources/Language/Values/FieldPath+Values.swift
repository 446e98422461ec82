import RPCurlProtobuf

extension FieldPath {
  /// Throws if a path contains `${`, in text whose values are inserted: paths have no values. A key that contains it is
  /// written with `\u0024{`.
  ///
  /// - Parameters:
  ///   - text: The path as it is written.
  ///   - hint: What to write instead.
  package static func refuseValues(in text: String, hint: String) throws(LanguageError) {
    guard text.contains("${") else { return }
    throw LanguageError("\(text): values are not inserted in paths", hint: hint)
  }
}
