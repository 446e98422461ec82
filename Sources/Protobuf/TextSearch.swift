// The standard library searches text in a separate module that includes regular expressions: 1.2 MB of the
// program, and 450 conformances that each look-up has to check. Where both are imported, overload resolution
// prefers these.
// They are not generic: another module would call the code for any type, which finds each type that it uses by its name.

extension String {
  /// The first occurrence of `other`; the start if `other` is empty.
  ///
  /// - Returns: `nil` if `other` does not occur. Texts are compared byte by byte: canonically equivalent
  ///   characters with different encodings are different.
  package func firstRange(of other: String) -> Range<Index>? { self[...].firstRange(of: other) }

  /// Whether `other` occurs in the text.
  package func contains(_ other: String) -> Bool { self[...].contains(other) }

  /// The parts of the text between the occurrences of `separator`.
  ///
  /// - Parameters:
  ///   - separator: The separator. An empty one separates nothing.
  ///   - maxSplits: The maximum number of splits.
  ///   - omittingEmptySubsequences: Whether empty parts are omitted.
  package func split(
    separator: String, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
  ) -> [Substring] {
    self[...].split(
      separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences)
  }

  /// The text with `replacement` for each occurrence of `other`.
  package func replacing(_ other: String, with replacement: String) -> String {
    self[...].replacing(other, with: replacement)
  }
}

extension Substring {
  /// As ``String/firstRange(of:)``.
  package func firstRange(of other: String) -> Range<Index>? {
    let found = utf8.withContiguousStorageIfAvailable { $0.firstOffset(of: other) }
    // Storage is not contiguous only if the text is a view of another string type.
    let start = found ?? Array(utf8).withUnsafeBufferPointer { $0.firstOffset(of: other) }
    guard let start else { return nil }
    let lower = utf8.index(startIndex, offsetBy: start)
    return lower..<utf8.index(lower, offsetBy: other.utf8.count)
  }

  /// Whether `other` occurs in the text.
  package func contains(_ other: String) -> Bool { firstRange(of: other) != nil }

  /// As ``String/split(separator:maxSplits:omittingEmptySubsequences:)``.
  package func split(
    separator: String, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
  ) -> [Substring] {
    var parts: [Substring] = []
    var rest = self
    while parts.count < maxSplits, !separator.isEmpty, let found = rest.firstRange(of: separator) {
      if !omittingEmptySubsequences || found.lowerBound > rest.startIndex {
        parts.append(rest[..<found.lowerBound])
      }
      rest = rest[found.upperBound...]
    }
    if !omittingEmptySubsequences || !rest.isEmpty { parts.append(rest) }
    return parts
  }

  /// The text with `replacement` for each occurrence of `other`.
  package func replacing(_ other: String, with replacement: String) -> String {
    split(separator: other, omittingEmptySubsequences: false).joined(separator: replacement)
  }
}

extension [UInt8] {
  /// Whether `other` occurs in the bytes.
  package func contains(_ other: [UInt8]) -> Bool {
    withUnsafeBytes { all in other.withUnsafeBytes { offset(of: $0, in: all) != nil } }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// The byte offset of the first occurrence of a text.
  fileprivate func firstOffset(of other: String) -> Int? {
    var other = other
    return other.withUTF8 {
      offset(of: UnsafeRawBufferPointer($0), in: UnsafeRawBufferPointer(self))
    }
  }
}

/// The offset of the first place of `part` in `whole`, in bytes. Takes time that is linear in both lengths
/// (Knuth, Morris and Pratt).
private func offset(of part: UnsafeRawBufferPointer, in whole: UnsafeRawBufferPointer) -> Int? {
  guard part.count <= whole.count else { return nil }
  guard part.count > 1 else { return part.isEmpty ? 0 : whole.firstIndex(of: part[0]) }
  // For each length of a match, the longest shorter one that ends at the same position.
  var shorter = [Int](repeating: 0, count: part.count + 1)
  var matched = 0
  for index in 1..<part.count {
    while matched > 0, part[index] != part[matched] { matched = shorter[matched] }
    if part[index] == part[matched] { matched += 1 }
    shorter[index + 1] = matched
  }
  matched = 0
  for (index, byte) in whole.enumerated() {
    while matched > 0, byte != part[matched] { matched = shorter[matched] }
    if byte == part[matched] { matched += 1 }
    if matched == part.count { return index + 1 - part.count }
  }
  return nil
}
