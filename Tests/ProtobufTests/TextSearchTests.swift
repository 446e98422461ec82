import RPCurlProtobuf
import Testing

/// Search for text within text.
@Suite struct TextSearchTests {
  private func offset(of part: String, in whole: Substring) -> Int? {
    whole.firstRange(of: part).map { whole.utf8.distance(from: whole.utf8.startIndex, to: $0.lowerBound) }
  }

  @Test(arguments: [
    ("http://host", "://", 4), ("", "a", nil), ("a", "", 0), ("aab", "ab", 1), ("aaaaab", "aaab", 2),
    ("abacababc", "ababc", 4), ("abab", "ababc", nil), ("ﬂüsse", "üss", 3), ("xyz", "z", 2),
    ("e\u{301}", "é", nil),
  ])
  func findsFirstOccurrence(whole: String, part: String, expected: Int?) {
    #expect(offset(of: part, in: whole[...]) == expected)
    #expect(offset(of: part, in: ("<" + whole).dropFirst()) == expected)
    #expect(whole.contains(part) == (expected != nil))
    #expect([UInt8](whole.utf8).contains([UInt8](part.utf8)) == (expected != nil))
  }

  @Test func matchesNaiveSearch() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let whole = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
        "ab".randomElement(using: &generator)!
      }
      let part = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
        "ab".randomElement(using: &generator)!
      }
      let last = whole.count - part.count
      let expected = last < 0 ? nil : (0...last).first { Array(whole[$0..<($0 + part.count)]) == part }
      #expect(
        offset(of: String(part), in: String(whole)[...]) == expected, "\(String(part)) in \(String(whole))")
    }
  }

  @Test func takesLinearTimeForRepetitions() {
    // Quadratic time would take minutes.
    let whole = String(repeating: "a", count: 1_000_000)
    #expect(!whole.contains(String(repeating: "a", count: 500_000) + "b"))
  }

  @Test func splitsAndReplaces() {
    #expect("a, b, , c".split(separator: ", ") == ["a", "b", "c"])
    #expect("a, b, , c".split(separator: ", ", omittingEmptySubsequences: false) == ["a", "b", "", "c"])
    #expect("a://b://c".split(separator: "://", maxSplits: 1) == ["a", "b://c"])
    #expect("none".split(separator: "://") == ["none"])
    #expect("@A@ is @A@".replacing("@A@", with: "x") == "x is x")
    #expect("text".replacing("", with: "x") == "text")
  }
}
