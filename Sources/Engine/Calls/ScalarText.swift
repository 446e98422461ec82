/// Text functions that compare Unicode scalars.
///
/// A `Character` can join a quote or a delimiter with the combining scalars after it, and then equals neither.
extension StringProtocol where SubSequence == Substring {
  /// The longest prefix whose scalars satisfy `predicate`.
  package func prefixOfScalars(while predicate: (Unicode.Scalar) -> Bool) -> Substring {
    self[..<(unicodeScalars.firstIndex { !predicate($0) } ?? endIndex)]
  }

  /// The text without the longest prefix whose scalars satisfy `predicate`.
  package func droppingScalars(while predicate: (Unicode.Scalar) -> Bool) -> Substring {
    self[(unicodeScalars.firstIndex { !predicate($0) } ?? endIndex)...]
  }

  /// The text without white space at both ends.
  package var withoutOuterSpace: Substring {
    let start = droppingScalars(while: \.properties.isWhitespace)
    guard let last = start.unicodeScalars.lastIndex(where: { !$0.properties.isWhitespace }) else {
      return start[start.endIndex...]
    }
    return start[..<start.unicodeScalars.index(after: last)]
  }
}
