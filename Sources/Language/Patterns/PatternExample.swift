extension TextPattern {
  /// Makes a text that the expression probably matches. Assertions within it, such as `\b`, are not considered.
  ///
  /// - Parameters:
  ///   - more: How often a part is repeated beyond what the expression demands, at most.
  ///   - random: The source of its choices.
  /// - Returns: nil if that needs characters that no text has, or more of them than the limit.
  package func example(
    repeating more: Int, using random: inout some RandomNumberGenerator
  ) -> String? {
    guard let node = try? PatternParser.parse(source) else { return nil }
    var text = String.UnicodeScalarView()
    return Self.append(node, more, to: &text, &random) ? String(text) : nil
  }

  /// The most characters of an example.
  private static let exampleLimit = 10_000

  private static func append(
    _ node: PatternNode, _ more: Int, to text: inout String.UnicodeScalarView,
    _ random: inout some RandomNumberGenerator
  ) -> Bool {
    switch node {
    case .anchor: return true
    case .scalar(let set):
      guard let scalar = set.example(using: &random), text.count < exampleLimit else { return false }
      text.append(scalar)
      return true
    case .sequence(let parts):
      for part in parts { guard append(part, more, to: &text, &random) else { return false } }
      return true
    case .either(let alternatives):
      guard let chosen = alternatives.randomElement(using: &random) else { return true }
      return append(chosen, more, to: &text, &random)
    case .group(let part): return append(part, more, to: &text, &random)
    case .repeated(let part, let least, let most, _):
      let count = Int.random(in: least...min(most ?? .max, least + more), using: &random)
      for _ in 0..<count { guard append(part, more, to: &text, &random) else { return false } }
      return true
    }
  }
}

extension ScalarSet {
  private static let letters: [Unicode.Scalar] = ["a"..."z", "A"..."Z", "0"..."9"].flatMap(\.scalars)
  private static let others: [Unicode.Scalar] =
    (" "..."~").scalars + ["\t", "\n"] + ("\u{a1}"..."\u{24f}").scalars + ("\u{370}"..."\u{3ff}").scalars

  /// A character of the set, if possible a letter or a digit of ASCII; nil if none is found.
  fileprivate func example(using random: inout some RandomNumberGenerator) -> Unicode.Scalar? {
    for scalars in [Self.letters, Self.others] {
      if let scalar = scalars.filter(contains).randomElement(using: &random) { return scalar }
    }
    return ranges.lazy.flatMap { [$0.lowerBound, $0.upperBound] }.compactMap { Unicode.Scalar($0) }
      .first(where: contains)
  }
}

extension ClosedRange<Unicode.Scalar> {
  fileprivate var scalars: [Unicode.Scalar] {
    (lowerBound.value...upperBound.value).compactMap { Unicode.Scalar($0) }
  }
}
