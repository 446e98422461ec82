import Testing

@testable import RPCurlProgram

struct TextLayoutTests {
  @Test(arguments: [
    ("", 10, 0, [""]), ("one two", 7, 0, ["one two"]), ("one two three", 8, 2, ["one two", "  three"]),
    ("  a bb ccc", 7, 4, ["  a bb", "   ccc"]), ("longer-than-that is", 6, 2, ["longer-than-that", "  is"]),
    ("a  b   c", 5, 0, ["a  b", "c"]), ("* x", 2, 2, ["*", " x"]),
  ])
  func wrapsAtWords(line: String, columns: Int, indent: Int, lines: [String]) {
    #expect(TextLayout.wrapped(line, columns: columns, indent: indent) == lines)
  }

  @Test func doesNotWrapWithoutAWidth() {
    let line = String(repeating: "word ", count: 100)
    #expect(TextLayout.wrapped(line, columns: nil) == [line])
  }

  @Test func laysOutATable() {
    let rows = [("a", "first"), ("long name", "the second text")]
    #expect(TextLayout.table(rows, columns: nil) == ["a          first", "long name  the second text"])
    #expect(
      TextLayout.table(rows, columns: 20) == ["a       first", "long name", "    the second text"])
    for columns in 1...40 {
      let words = TextLayout.table(rows, columns: columns).joined(separator: " ").split(separator: " ")
      #expect(words == ["a", "first", "long", "name", "the", "second", "text"])
    }
  }
}
