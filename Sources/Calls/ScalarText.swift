/// Text read by Unicode scalars.
///
/// A `Character` can join a quote or a delimiter with the combining scalars after it, and then compares equal to neither.
extension StringProtocol where SubSequence == Substring {
  /// The scalars from the start on that satisfy `predicate`.
  package func prefixOfScalars(while predicate: (Unicode.Scalar) -> Bool) -> Substring {
    self[..<(unicodeScalars.firstIndex { !predicate($0) } ?? endIndex)]
  }

  /// The text after the scalars from the start on that satisfy `predicate`.
  package func droppingScalars(while predicate: (Unicode.Scalar) -> Bool) -> Substring {
    self[(unicodeScalars.firstIndex { !predicate($0) } ?? endIndex)...]
  }

  /// The text without the white space at both ends.
  package var withoutOuterSpace: Substring {
    let start = droppingScalars(while: \.properties.isWhitespace)
    guard let last = start.unicodeScalars.lastIndex(where: { !$0.properties.isWhitespace }) else {
      return start[start.endIndex...]
    }
    return start[..<start.unicodeScalars.index(after: last)]
  }

  /// The text before the first `delimiter` and the text after it; returns nil if there is no delimiter.
  package func parted(at delimiter: Unicode.Scalar) -> (before: Substring, after: Substring)? {
    guard let index = unicodeScalars.firstIndex(of: delimiter) else { return nil }
    return (self[..<index], self[unicodeScalars.index(after: index)...])
  }

  /// Whether the scalars of `start` are the first.
  package func startsWithScalars(_ start: String) -> Bool { utf8.starts(with: start.utf8) }
}
