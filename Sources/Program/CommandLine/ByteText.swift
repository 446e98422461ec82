/// Text read by its bytes: a `Character` can join a dash or a delimiter with the combining scalars after it.
extension StringProtocol where SubSequence == Substring {
  /// Whether the bytes of `text` are the first.
  package func begins(with text: String) -> Bool { utf8.starts(with: text.utf8) }

  /// The text before the first delimiter, and the text after it; nil if there is no delimiter.
  package func parted(at delimiter: Unicode.Scalar) -> (before: Substring, after: Substring?) {
    guard let index = unicodeScalars.firstIndex(of: delimiter) else { return (self[...], nil) }
    return (self[..<index], self[unicodeScalars.index(after: index)...])
  }
}
