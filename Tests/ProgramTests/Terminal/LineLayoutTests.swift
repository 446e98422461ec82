import Testing

@testable import RPCurlProgram

struct LineLayoutTests {
  private func layout(
    _ text: String, cursor: Int? = nil, prompt: String = "> ", hint: String = "", columns: Int = 10,
    height: Int = 9,
    isStyled: Bool = false
  ) -> LineLayout {
    let scalars = Array(text.unicodeScalars)
    let content = LineLayout.Content(
      prompt: LinePrompt(prompt), text: scalars, cursor: cursor ?? scalars.count, hint: hint,
      isStyled: isStyled)
    return LineLayout(content, columns: columns, height: height) {
      $0.value >= 0x1100 ? 2 : $0.properties.generalCategory == .nonspacingMark ? 0 : 1
    }
  }

  @Test func showsLinesOfText() {
    func layout(_ text: String, cursor: Int, columns: Int = 20, isStyled: Bool = false) -> LineLayout {
      let content = LineLayout.Content(
        prompt: LinePrompt("> ", color: 36), text: Array(text.unicodeScalars), cursor: cursor,
        continuation: ". ", isStyled: isStyled)
      return LineLayout(content, columns: columns, height: 9) { _ in 1 }
    }
    let three = layout("ab\n\nc", cursor: 3)
    #expect(three.rows == ["> ab", ". ", ". c"])
    #expect(place(three) == [1, 2])
    #expect(place(layout("ab\n\nc", cursor: 2)) == [0, 4])
    #expect(place(layout("ab\n\nc", cursor: 5)) == [2, 3])
    // A row that is full before the line feed, and one that wraps.
    let full = layout("abcdef\nabcdefg", cursor: 6, columns: 8)
    #expect(full.rows == ["> abcdef", ". abcdef", "g"])
    #expect(place(full) == [0, 7])
    #expect(layout("a\nb", cursor: 0, columns: 7).rows == ["> a", "b"])
    let rows = layout("a\nb", cursor: 0, isStyled: true).rows
    #expect(rows == ["\u{1B}[1m\u{1B}[36m>\u{1B}[39m \u{1B}[0ma", "\u{1B}[1m. \u{1B}[0mb"])
  }

  private func place(_ layout: LineLayout) -> [Int] { [layout.cursorRow, layout.cursorColumn] }

  @Test func wrapsAtEdge() {
    #expect(layout("abc").rows == ["> abc"])
    #expect(place(layout("abc")) == [0, 5])
    let full = layout("abcdefgh")
    #expect(full.rows == ["> abcdefgh", ""])
    #expect(place(full) == [1, 0])
    #expect(layout("abcdefghi").rows == ["> abcdefgh", "i"])
    #expect(place(layout("abcdefghi", cursor: 8)) == [1, 0])
    #expect(place(layout("abcdefghi", cursor: 7)) == [0, 9])
    #expect(place(layout("abcdefghi", cursor: 0)) == [0, 2])
  }

  @Test func doesNotSplitWideCharacters() {
    let layout = layout("abcdefg中x")
    #expect(layout.rows == ["> abcdefg", "中x"])
    #expect(place(layout) == [1, 3])
    #expect(place(self.layout("e\u{301}x")) == [0, 4])
  }

  @Test func showsControlCharacters() {
    #expect(layout("\u{1}\u{7F}").rows == ["> ^A^?"])
    #expect(place(layout("\u{1}x")) == [0, 5])
    #expect(layout("\u{202E}", columns: 20).rows == [#"> \u{202E}"#])
  }

  @Test func showsSearchOnItsOwnRow() {
    let layout = layout("abc\nbck:a", cursor: 1)
    #expect(layout.rows == ["> abc", "bck:a"])
    #expect(place(layout) == [0, 3])
  }

  @Test func showsHintIfThereIsRoom() {
    #expect(layout("abc", hint: "int", columns: 20).rows == ["> abc           int"])
    #expect(layout("abc", hint: "int", columns: 11).rows == ["> abc  int"])
    #expect(layout("abc", hint: "int", columns: 10).rows == ["> abc"])
    #expect(layout("a", hint: "b", isStyled: true).rows == ["\u{1B}[1m> \u{1B}[0ma     \u{1B}[2mb\u{1B}[0m"])
  }

  @Test func shortensPrompt() {
    #expect(layout("a", prompt: "a-long-prompt> ").rows == ["…pt> a"])
    #expect(layout("a", prompt: "\u{1B}[31m> ", columns: 30).rows == ["^[[31m> a"])
  }

  @Test func staysWithinWindow() {
    let text = String(repeating: "x", count: 100)
    let end = layout(text, height: 3)
    #expect(end.rows.count == 3)
    #expect(end.cursorRow == 2)
    let start = layout(text, cursor: 0, height: 3)
    #expect(start.rows.count == 3)
    #expect(start.cursorRow == 0)
    #expect(layout("中中", columns: 1, height: 1).rows.count == 1)
  }
}
