import Testing

@testable import RPCurlProgram

struct TextLayoutTests {
  @Test(arguments: [
    ("", 0), ("a\n", 1), ("\n\n", 2), ("12345\n", 1), ("123456\n", 2), ("\u{1B}[1mäöü\u{1B}[0m12\n3", 1),
  ])
  func countsRows(text: String, rows: Int) {
    #expect(TextLayout.rows(of: Array(text.utf8), columns: 5, limit: 10) == rows)
  }

  @Test func stopsCountingAtLimit() {
    #expect(TextLayout.rows(of: [UInt8](repeating: 10, count: 100), columns: 5, limit: 7) == 7)
  }

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
