import Testing

@testable import RPCurlProgram

/// Tests of libedit. Serialized: the locale is global.
@Suite(.serialized)
struct EditingEngineTests {
  private func engine() throws -> EditingEngine {
    CharacterWidth.prepare()
    return try EditingEngine(historySize: 10)
  }

  private func type(_ text: String, into engine: EditingEngine) -> EditingEngine.Event {
    var last = EditingEngine.Event.edited
    for scalar in text.unicodeScalars { last = engine.feed(scalar) }
    return last
  }

  private func text(_ engine: EditingEngine) -> String {
    String(String.UnicodeScalarView(engine.line.text))
  }

  @Test func editsLine() throws {
    let engine = try engine()
    guard case .line("xa中") = type("a中\u{1}x\r", into: engine) else { return #expect(Bool(false)) }
    _ = type("ab\u{1B}[Dc", into: engine)
    #expect(text(engine) == "acb")
    #expect(engine.line.cursor == 2)
  }

  @Test func recallsHistory() throws {
    let engine = try engine()
    engine.remember("wörld")
    engine.remember("two")
    _ = type("\u{1B}[A\u{1B}[A", into: engine)
    #expect(text(engine) == "wörld")
    _ = type("\u{1B}[B", into: engine)
    #expect(text(engine) == "two")
  }

  @Test func reportsKeysOfCaller() throws {
    let engine = try engine()
    for (keys, text) in [("\u{1F}", ""), ("a\u{18}\u{15}", "a")] {
      guard case .undo = type(keys, into: engine) else { return #expect(Bool(false)) }
      #expect(self.text(engine) == text)
    }
    guard case .lastWord = type("\u{1B}.", into: engine) else { return #expect(Bool(false)) }
    guard case .edit = type("\u{18}\u{5}", into: engine) else { return #expect(Bool(false)) }
    guard case .search = type("\u{12}", into: engine) else { return #expect(Bool(false)) }
    engine.set(EditingEngine.Line(text: Array("wörld\n2".unicodeScalars), cursor: 2))
    #expect(text(engine) == "wörld\n2")
    #expect(engine.line.cursor == 2)
    engine.set(EditingEngine.Line())
    #expect(engine.line.isEmpty)
  }

  @Test func reportsEventsForCaller() throws {
    let engine = try engine()
    guard case .complete = type("ab\t", into: engine) else { return #expect(Bool(false)) }
    engine.replace(1, by: "xyz é")
    #expect(text(engine) == "axyz é")
    guard case .clearScreen = engine.feed("\u{C}") else { return #expect(Bool(false)) }
    guard case .interrupt = engine.feed("\u{3}") else { return #expect(Bool(false)) }
    guard case .end = engine.feed("\u{4}") else { return #expect(Bool(false)) }
    guard case .edited = type("still", into: engine) else { return #expect(Bool(false)) }
    #expect(text(engine) == "still")
  }

  @Test func editsSeveralLines() throws {
    let engine = try engine()
    engine.remember("a\nb\nc")
    _ = type("\u{1B}[A", into: engine)
    #expect(text(engine) == "a\nb\nc")
    #expect(!engine.line.isSearched)
    engine.move(by: -1)
    _ = type("\u{7F}", into: engine)
    #expect(text(engine) == "a\nbc")
    engine.replace(0, by: "\n")
    guard case .line("a\nb\nc") = engine.feed("\r") else { return #expect(Bool(false)) }
  }

  @Test(arguments: ["a\nbck:b", "\n/b", "\n?", "a\nb\nfwd?x"])
  func recognizesSearches(text: String) {
    #expect(EditingEngine.Line(text).isSearched)
  }

  @Test func acceptsLongLines() throws {
    let engine = try engine()
    let long = String(repeating: "é", count: 20_000)
    guard case .line(long) = type(long + "\r", into: engine) else { return #expect(Bool(false)) }
  }
}
