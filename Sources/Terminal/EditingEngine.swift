import CLineEditor

/// libedit: characters in, an edited line out. It draws nothing and never waits.
package final class EditingEngine {
  /// What came of a character.
  package enum Event {
    /// The line changed, or nothing did.
    case edited
    /// The line is complete.
    case line(String)
    /// The end of input was typed on an empty line.
    case end
    /// Ctrl-C was typed.
    case interrupt
    /// The line is to be completed at its cursor.
    case complete
    /// The screen is to be cleared.
    case clearScreen
  }

  /// The line as it stands, with where the cursor is, in characters of Unicode.
  package struct Line {
    package var text: [Unicode.Scalar] = []
    package var cursor = 0

    /// What is typed in a search stands on a line of its own.
    package var isSearched: Bool { text.contains("\n") }
    package var isEmpty: Bool { text.isEmpty }
    /// What stands before the cursor.
    package var head: String { String(String.UnicodeScalarView(text[..<cursor])) }
  }

  private let editor: OpaquePointer

  /// Loads libedit and makes an editor. The locale must have been set.
  package init(historySize: Int) throws(LineEditor.Unavailable) {
    if let reason = cline_load() { throw .library(String(cString: reason)) }
    guard let editor = cline_create(Int32(historySize)) else { throw .library("it did not initialise") }
    self.editor = editor
  }

  deinit { cline_destroy(editor) }

  /// Whether the terminal understands what drawing needs.
  package var knowsTerminal: Bool { cline_is_terminal_known(editor) }

  /// Takes a character.
  package func feed(_ character: Unicode.Scalar) -> Event {
    switch cline_feed(editor, character.value) {
    case CLINE_LINE:
      var text = line.text
      if text.last == "\n" { text.removeLast() }
      return .line(String(String.UnicodeScalarView(text)))
    case CLINE_END: return .end
    case CLINE_INTERRUPT: return .interrupt
    case CLINE_COMPLETE: return .complete
    case CLINE_CLEAR_SCREEN: return .clearScreen
    default: return .edited
    }
  }

  /// The line as it stands; after it is complete, as it was.
  package var line: Line {
    let line = cline_line(editor)
    let text = UnsafeBufferPointer(start: line.text, count: line.count)
    return Line(text: text.map { Unicode.Scalar($0) ?? "\u{FFFD}" }, cursor: min(line.cursor, line.count))
  }

  /// Replaces `count` characters before the cursor, when the line is to be completed.
  package func replace(_ count: Int, by text: String) {
    cline_replace(editor, count, text)
  }

  /// Adds a line to the history.
  package func remember(_ line: String) {
    cline_remember(editor, line)
  }
}
