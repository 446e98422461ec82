import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SessionWordsTests {
  private func texts(_ line: String) throws -> [String] {
    try SessionWords.split(line).map(\.text)
  }

  @Test(arguments: [
    ("", []), ("  \t ", []), ("a", ["a"]), (" a  b\tc ", ["a", "b", "c"]),
    ("'a b' c", ["a b", "c"]), (#""a b" c"#, ["a b", "c"]), ("a'b c'd", ["ab cd"]), ("''", [""]),
    (#""" a"#, ["", "a"]), (#"a\ b"#, ["a b"]), (#"\'"#, ["'"]), (#""a\"b""#, [#"a"b"#]),
    (#""a\\b""#, [#"a\b"#]), (#""a\nb""#, [#"a\nb"#]), (#"'a\b'"#, [#"a\b"#]), (#"a\"#, ["a"]),
    ("x-tenant: 'größ€ 中文'", ["x-tenant:", "größ€ 中文"]),
    // Scalars that join the one before or after them into one character.
    ("'a b'\u{301} c", ["a b\u{301}", "c"]), ("\"a\\\"\u{301} b\"", ["a\"\u{301} b"]),
    ("a \u{301}b", ["a", "\u{301}b"]),
    ("\u{600}'a b'", ["\u{600}a b"]), ("a\\\u{301}", ["a\u{301}"]),
  ])
  func splits(line: String, words: [String]) throws {
    #expect(try texts(line) == words)
  }

  @Test func keepsVariablesInSingleQuotes() throws {
    #expect(try SessionWords.split("$a '$a' \"$a\"").map(\.isLiteral) == [false, true, false])
  }

  @Test(arguments: ["'a", "\"a", "a'b", #""a\""#])
  func rejectsUnclosedQuotes(line: String) {
    #expect(throws: Failure.self) { try SessionWords.split(line) }
  }

  @Test(arguments: [
    "", "a", "a b", "it's", #"a"b"#, #"a\b"#, "$last", "#1", "中 文", "''", "a\tb", "{\"a\":1}",
    "a'\u{301}b c", "'\u{200D}", "\u{600}'", "a \u{301}", "\"\u{301}", "\\\u{20E3} d", "$\u{301}a",
    "\r\n\u{301}",
  ])
  func splitReturnsQuotedWord(word: String) throws {
    let words = try SessionWords.split("x \(SessionWords.quoted(word)) y")
    #expect(words.map(\.text) == ["x", word, "y"])
    #expect(words[1].isLiteral || !word.unicodeScalars.contains("$"))
    #expect(try texts("x \(SessionWords.doubleQuoted(word)) y") == ["x", word, "y"])
  }

  @Test(arguments: [
    ("", ""), ("a", "a"), ("'a b", "a b"), (#""a \"b"#, #"a "b"#), (#"a\ b"#, "a b"), (#"a\"#, "a"),
  ])
  func readsIncompleteWord(text: String, word: String) {
    #expect(SessionWords.begun(text) == word)
  }

  @Test(arguments: [
    ("a b", 1), ("'a b' c", 5), (#"a\ b c"#, 4), ("'a'\u{301} c", 3), ("a", nil), ("'a b", nil),
    (#"a\ "#, nil),
  ])
  func findsEndOfWord(text: String, length: Int?) {
    let text = text[...]
    #expect(SessionWords.end(of: text).map { text.distance(from: text.startIndex, to: $0) } == length)
  }
}
