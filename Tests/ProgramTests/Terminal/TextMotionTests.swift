import Testing

@testable import RPCurlProgram

struct TextMotionTests {
  /// The cursor, `|` in `text`, after a motion; nil if the key has its usual meaning.
  private func moved(_ motion: TextMotion, _ text: String) -> String? {
    var scalars = Array(text.unicodeScalars)
    let cursor = scalars.firstIndex(of: "|") ?? 0
    scalars.remove(at: cursor)
    guard let place = motion.cursor(in: EditingEngine.Line(text: scalars, cursor: cursor)) else { return nil }
    scalars.insert("|", at: place)
    return String(String.UnicodeScalarView(scalars))
  }

  @Test func movesBetweenRows() {
    #expect(moved(.up, "abc\nd\nef|g") == "abc\nd|\nefg")
    #expect(moved(.up, "abc\nd|\nefg") == "a|bc\nd\nefg")
    #expect(moved(.up, "ab|c\nd") == nil)
    #expect(moved(.down, "ab|c\nd\nefg") == "abc\nd|\nefg")
    #expect(moved(.down, "abc\n|\nefg") == "abc\n\n|efg")
    #expect(moved(.down, "abc\nd|") == nil)
  }

  @Test func movesWithinRow() {
    #expect(moved(.start, "abc\nde|f") == "abc\n|def")
    #expect(moved(.start, "abc\n|def") == nil)
    #expect(moved(.end, "a|bc\ndef") == "abc|\ndef")
    #expect(moved(.end, "abc|\ndef") == nil)
  }

  @Test func leavesOneLineToEditor() {
    for motion in [TextMotion.up, .down, .start, .end] { #expect(moved(motion, "a|b") == nil) }
  }

  @Test func hasKeys() {
    #expect(TextMotion(["\u{1B}", "[", "A"]) == .up)
    #expect(TextMotion(["\u{0E}"]) == .down)
    #expect(TextMotion(["a"]) == nil)
  }
}
