import RPCurlBase
import Testing

@testable import RPCurlProgram

struct InputExcerptTests {
  @Test(arguments: [
    ("abc", 1, "abc", 1), ("abc", 0, "abc", 0), ("abc", 3, "abc", 3), ("abc", 99, "abc", 3),
    ("one\ntwo\nthree", 5, "two", 1), ("one\r\ntwo\r\n", 6, "two", 1), ("one\ntwo", 3, "one", 3),
    // Columns, not bytes: two for a tab and for East Asian characters, as many as an escape sequence has.
    ("\tx", 1, "  x", 2), ("中文x", 6, "中文x", 4), ("größ", 4, "größ", 3), ("a\u{1b}b", 2, "a\\u{1B}b", 7),
  ])
  func marksColumn(text: String, byte: Int, line: String, offset: Int) {
    let excerpt = InputExcerpt(Array(text.utf8), at: byte)
    #expect(excerpt?.line == line)
    #expect(excerpt?.offset == offset)
  }

  @Test(arguments: [("", 0), ("\n", 0), ("a\n\nb", 2)])
  func returnsNilForEmptyLine(text: String, byte: Int) {
    #expect(InputExcerpt(Array(text.utf8), at: byte) == nil)
  }

  @Test(arguments: [0, 10, 36, 50, 100, 5_000, 9_999])
  func cutsLongLineAroundMark(byte: Int) throws {
    let text = (0..<10_000).map { UInt8(ascii: "0") + UInt8($0 % 10) }
    let excerpt = try #require(InputExcerpt(text, at: byte))
    #expect(excerpt.line.count <= 74)
    let marked = Array(excerpt.line)[excerpt.offset]
    #expect(marked == Character(Unicode.Scalar(text[byte])))
    #expect(excerpt.line.hasPrefix("…") == (byte > 36))
    #expect(excerpt.line.hasSuffix("…") == (byte < 9_999 - 35))
  }

  @Test func showsThatTextStartsInsideLine() {
    let text = Array("abc".utf8)
    #expect(InputExcerpt(text, at: 1, isInside: true)?.line == "…abc")
    #expect(InputExcerpt(text, at: 1, isInside: true)?.offset == 2)
  }

  @Test func replacesInvalidUTF8() {
    #expect(InputExcerpt([0x61, 0xff, 0x62], at: 2)?.line == "a\u{fffd}b")
  }

  @Test func rendersMarkUnderError() {
    #expect(InputExcerpt(Array("中 x".utf8), at: 4)?.rendered(TextColors(areOn: false)) == "  中 x\n     ^\n")
  }
}
