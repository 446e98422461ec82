import Testing

@testable import RPCurlProgram

struct HistorySearchTests {
  private let history = ["call A", "set x = 1", "call B", "call B", "call A"]

  /// What is shown after some keys.
  private func shown(_ keys: String, earlier: String = "") -> String {
    var search = HistorySearch(
      history, from: EditingEngine.Line("typed"), earlier: Array(earlier.unicodeScalars))
    for key in keys.unicodeScalars {
      let isHandled = search.handle([key])
      #expect(isHandled)
    }
    return "\(search.prompt)\(search.found.string)|\(search.found.cursor)"
  }

  @Test func findsNewestLineFirst() {
    #expect(shown("") == "(reverse-i-search)`': typed|5")
    #expect(shown("call") == "(reverse-i-search)`call': call A|0")
    #expect(shown("B") == "(reverse-i-search)`B': call B|5")
    #expect(shown("Bx") == "(failed reverse-i-search)`Bx': call B|0")
  }

  @Test func findsEachLineOnce() {
    #expect(shown("call\u{12}") == "(reverse-i-search)`call': call B|0")
    #expect(shown("call\u{12}\u{12}") == "(reverse-i-search)`call': call A|0")
    #expect(shown("call\u{12}\u{12}\u{12}") == "(failed reverse-i-search)`call': call A|0")
    #expect(shown("call\u{12}\u{12}\u{13}") == "(i-search)`call': call B|0")
  }

  @Test func deletesAndRepeatsPatterns() {
    #expect(shown("Bx\u{7F}") == "(reverse-i-search)`B': call B|5")
    #expect(shown("B\u{7F}") == "(reverse-i-search)`': typed|5")
    #expect(shown("\u{12}", earlier: "set") == "(reverse-i-search)`set': set x = 1|0")
  }

  @Test func endsWithOtherKeys() {
    var search = HistorySearch(history, from: EditingEngine.Line())
    for key in ["\r", "\u{1}", "\u{1B}[A", "\u{7}"] {
      let isHandled = search.handle(Array(key.unicodeScalars))
      #expect(!isHandled)
    }
    #expect(search.prompt == "(reverse-i-search)`': ")
  }
}

struct LastWordTests {
  @Test(arguments: [
    (#"call Hello {"name": "a b"}"#, #"{"name": "a b"}"#), ("set x = 1", "1"),
    ("print $last.id  ", "$last.id"),
    ("header a: 'b c'", "'b c'"), ("call M {\"a\":\n[1, 2]}", "{\"a\":\n[1, 2]}"),
    (#"x {"a": "\" }"} y"#, "y"), ("one", "one"), ("] a", "a"),
  ])
  func groupsByBracketsAndQuotes(line: String, word: String) {
    #expect(LastWord.of(line) == word)
  }

  @Test func needsWord() {
    #expect(LastWord.of("") == nil)
    #expect(LastWord.of("  ") == nil)
  }
}

struct UndoStepsTests {
  /// The states that undo returns after these changes, of which each adds its character.
  private func states(after changes: [(String, UndoSteps.Change)]) -> [String] {
    var (steps, text) = (UndoSteps(), "")
    for (added, change) in changes {
      steps.add(EditingEngine.Line(text), change)
      text += added
    }
    var states: [String] = []
    while let state = steps.undo() { states.append(state.string) }
    return states
  }

  @Test func joinsLettersOfWord() {
    #expect(states(after: [("a", .letter), ("b", .letter), (" ", .blank), ("c", .letter)]) == ["ab", ""])
    #expect(states(after: [("a", .other), ("b", .letter), ("c", .letter)]) == ["a", ""])
  }

  @Test func joinsPiecesOfPaste() {
    let states = states(after: [("a", .paste), ("b", .paste), ("c", .other), ("d", .other)])
    #expect(states == ["abc", "ab", ""])
  }

  @Test func keepsLastSteps() {
    let states = states(after: (0..<300).map { _ in ("x", .other) })
    #expect(states.count == 200)
    #expect(states.first?.count == 299)
  }
}
