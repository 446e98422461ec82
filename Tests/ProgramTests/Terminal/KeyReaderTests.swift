import Testing

@testable import RPCurlProgram

struct KeyReaderTests {
  /// The keys of consecutive `pieces`; `~` marks pasted characters.
  private func keys(_ pieces: [UInt8]...) -> [String] {
    var reader = KeyReader()
    var keys: [String] = []
    for piece in pieces {
      reader.add(piece)
      while let key = reader.next() {
        switch key {
        case .typed(let scalars): keys.append(String(String.UnicodeScalarView(scalars)))
        case .pasted(let scalar): keys.append("~\(Character(scalar))")
        case .quoted(let scalar): keys.append("'\(Character(scalar))")
        case .suspend: keys.append("suspend")
        case .quit: keys.append("quit")
        }
      }
    }
    return keys
  }

  private func keys(_ text: String) -> [String] { keys(Array(text.utf8)) }

  @Test func readsCharacters() {
    #expect(keys("aé中😀\r") == ["a", "é", "中", "😀", "\r"])
    #expect(keys([0xE4, 0xB8], [0xAD]) == ["中"])
    #expect(keys([0xE4, 0xB8, 0x61]) == ["\u{FFFD}", "a"])
    #expect(keys([0xFF, 0x61]) == ["\u{FFFD}", "a"])
  }

  @Test func readsSequences() {
    #expect(keys("\u{1B}[A\u{1B}OB\u{1B}b") == ["\u{1B}[A", "\u{1B}OB", "\u{1B}b"])
    #expect(keys([0x1B], [0x5B], [0x41]) == ["\u{1B}[A"])
    #expect(keys("\u{1B}[3~x") == ["\u{1B}[3~", "x"])
  }

  @Test func takesEscapeThatNothingFollows() {
    var reader = KeyReader()
    reader.add([0x1B])
    let key = reader.next()
    let (isTaken, isTakenAgain) = (reader.takeEscape(), reader.takeEscape())
    #expect(key == nil && isTaken && !isTakenAgain)
    reader.add([0x1B, 0x5B])
    let isTakenFromSequence = reader.takeEscape()
    reader.add([0x41])
    let sequence = reader.next()
    #expect(!isTakenFromSequence && sequence == .typed(["\u{1B}", "[", "A"]))
  }

  @Test func ignoresUnknownSequences() {
    #expect(keys("\u{1B}[99;5~a\u{1B}[200;3Rb\u{1B}OPc") == ["a", "b", "c"])
    #expect(keys("\u{1B}\u{1B}[Aa") == ["\u{1B}[A", "a"])
    #expect(keys("\u{1B}[" + String(repeating: "1", count: 100) + "a").last == "a")
  }

  @Test func readsPastesAsText() {
    #expect(keys("\u{1B}[200~{\t\r\n\u{3}}\n\u{1B}[201~\t") == ["~{", "~ ", "~\n", "~}", "~\n", "\t"])
    #expect(keys("\u{1B}[200~a\u{1B}[Ab\u{1B}[201~") == ["~a", "~b"])
  }

  /// The next `count` keys of a reader.
  private func next(_ count: Int, of reader: inout KeyReader) -> [KeyReader.Key?] {
    (0..<count).map { _ in reader.next() }
  }

  @Test(arguments: [
    // The paste ends by its mark, by a Ctrl-C if that is lost, or by a time without input.
    ("c\n\u{1B}[201~d", false, ["d"]), ("c\u{3}d", false, ["\u{3}", "d"]), ("", true, ["b"]),
  ])
  func dropsTheRestOfAPaste(_ more: String, ends: Bool, expected: [Unicode.Scalar]) {
    var reader = KeyReader()
    let hasNone = reader.dropPaste()
    reader.add(Array("\u{1B}[200~ab".utf8))
    let first = reader.next()
    let hasDropped = reader.dropPaste()
    reader.add(Array(more.utf8), afterSilence: ends)
    let left = next(expected.count + 1, of: &reader)
    #expect((hasNone, hasDropped) == (false, true))
    #expect(first == .pasted("a"))
    #expect(left == expected.map { .typed([$0]) } + [nil])
  }

  @Test(arguments: [("\u{3}", KeyReader.Key.typed(["\u{3}"])), ("b\u{3}", .pasted("b"))])
  func silenceAndCtrlCEndAPaste(_ more: String, _ expected: KeyReader.Key) {
    var reader = KeyReader()
    reader.add(Array("\u{1B}[200~a".utf8))
    let first = next(2, of: &reader)
    reader.add(Array(more.utf8), afterSilence: true)
    #expect(first + next(2, of: &reader) == [.pasted("a"), nil, expected, nil])
  }

  @Test func dropsNothingAtTheEndOfAPaste() {
    var reader = KeyReader()
    reader.add(Array("\u{1B}[200~a\u{1B}[201~".utf8))
    let first = reader.next()
    let hasDropped = reader.dropPaste()
    #expect(first == .pasted("a"))
    #expect(!hasDropped)
    #expect(reader.isEmpty)
  }

  @Test func aKeyAfterAPasteDropsWhatIsLeftOfIt() {
    var reader = KeyReader()
    reader.add(Array("\u{1B}[200~a\nb".utf8))
    let first = next(1, of: &reader)
    reader.add(Array("\u{3}c\n".utf8))
    let second = next(1, of: &reader)
    reader.add(Array("d\u{1B}[201~\u{3}e".utf8))
    let last = next(3, of: &reader)
    #expect(first + second == [.pasted("a"), .pasted("\n")])
    #expect(last == [.typed(["\u{3}"]), .typed(["e"]), nil])
  }

  @Test func readsSuspendAndQuitUnlessQuoted() {
    #expect(keys("\u{1A}\u{1C}") == ["suspend", "quit"])
    #expect(keys("\u{16}\u{1A}\u{1A}") == ["\u{16}", "'\u{1A}", "suspend"])
    #expect(keys("\u{16}\u{16}\u{1A}") == ["\u{16}", "'\u{16}", "suspend"])
    #expect(keys("\u{16}\u{1B}[") == ["\u{16}", "'\u{1B}", "["])
  }

  @Test func reportsWhetherKeyIsComplete() {
    var reader = KeyReader()
    #expect(reader.isEmpty)
    reader.add([0x1B])
    #expect(reader.isEmpty)
    reader.add([0x62])
    #expect(!reader.isEmpty)
  }
}
