/// Text read by Unicode scalars.
///
/// A `Character` can join a quote or a delimiter with the combining scalars after it, and then compares equal to neither.
extension StringProtocol where SubSequence == Substring {
  /// The scalars from the start on that satisfy `predicate`.
  func prefixOfScalars(while predicate: (Unicode.Scalar) -> Bool) -> Substring {
    self[..<(unicodeScalars.firstIndex { !predicate($0) } ?? endIndex)]
  }

  /// The text after the scalars from the start on that satisfy `predicate`.
  func droppingScalars(while predicate: (Unicode.Scalar) -> Bool) -> Substring {
    self[(unicodeScalars.firstIndex { !predicate($0) } ?? endIndex)...]
  }

  /// The text without the white space at both ends.
  var withoutOuterSpace: Substring {
    let start = droppingScalars(while: \.properties.isWhitespace)
    guard let last = start.unicodeScalars.lastIndex(where: { !$0.properties.isWhitespace }) else {
      return start[start.endIndex...]
    }
    return start[..<start.unicodeScalars.index(after: last)]
  }
}
