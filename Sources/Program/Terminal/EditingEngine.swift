import RPCurlBase
import RPCurlCInput

/// Edits a line with libedit: characters in, an edited line out. Draws nothing and never blocks.
package final class EditingEngine {
  /// The effect of a character.
  package enum Event {
    /// The line may have changed.
    case edited
    /// The line is complete.
    case line(String)
    /// End of input: Ctrl-D on an empty line.
    case end
    /// Ctrl-C.
    case interrupt
    /// Completion was requested at the cursor.
    case complete
    /// Clearing the screen was requested.
    case clearScreen
    /// Undoing the last change was requested.
    case undo
    /// The last word of an earlier line was requested.
    case lastWord
    /// An editor for the text was requested.
    case edit
    /// A search of the history was requested.
    case search
  }

  /// The current line and the cursor position in it, in Unicode scalars.
  package struct Line: Equatable {
    package var text: [Unicode.Scalar] = []
    package var cursor = 0

    package init(text: [Unicode.Scalar] = [], cursor: Int = 0) {
      (self.text, self.cursor) = (text, cursor)
    }

    /// A text with the cursor at its end.
    package init(_ text: String) {
      self.text = Array(text.unicodeScalars)
      cursor = self.text.count
    }

    /// Whether a search of libedit is active, which shows its pattern on a row of its own.
    package var isSearched: Bool {
      guard let end = text.lastIndex(of: "\n") else { return false }
      let row = text[(end + 1)...]
      return end == 0 && (row.first == "/" || row.first == "?")
        || ["bck:", "bck?", "fwd:", "fwd?"].contains(String(String.UnicodeScalarView(row.prefix(4))))
    }
    package var isEmpty: Bool { text.isEmpty }
    /// The text before the cursor.
    package var head: String { String(String.UnicodeScalarView(text[..<cursor])) }
    /// The text.
    package var string: String { String(String.UnicodeScalarView(text)) }
  }

  private let editor: OpaquePointer

  /// Loads libedit and creates an editor. The locale must be set before.
  ///
  /// - Parameter historySize: The largest number of lines in the history.
  /// - Throws: `SystemError` if libedit cannot be loaded.
  package init(historySize: Int) throws(SystemError) {
    if let reason = cline_load() { throw SystemError(String(cString: reason)) }
    guard let editor = cline_create(Int32(historySize)) else { throw SystemError("it did not initialise") }
    self.editor = editor
  }

  deinit { cline_destroy(editor) }

  /// Whether the terminal supports the control sequences that drawing needs.
  package var supportsTerminal: Bool { cline_is_terminal_known(editor) }

  /// Handles a typed character.
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
    case CLINE_UNDO: return .undo
    case CLINE_LAST_WORD: return .lastWord
    case CLINE_EDIT: return .edit
    case CLINE_SEARCH: return .search
    default: return .edited
    }
  }

  /// The current line; after a complete line, that line.
  package var line: Line {
    let line = cline_line(editor)
    let text = UnsafeBufferPointer(start: line.text, count: line.count)
    return Line(text: text.map { Unicode.Scalar($0) ?? "\u{FFFD}" }, cursor: min(line.cursor, line.count))
  }

  /// Replaces the `count` characters before the cursor.
  package func replace(_ count: Int, by text: String) {
    cline_replace(editor, count, text)
  }

  /// Moves the cursor. The line must have begun, as for `replace`.
  package func move(by count: Int) {
    cline_move(editor, Int32(clamping: count))
  }

  /// Replaces the whole line. It must have begun, as for `replace`.
  package func set(_ line: Line) {
    cline_set(editor, line.string, line.cursor)
  }

  /// Adds a line to the history.
  package func remember(_ line: String) {
    cline_remember(editor, line)
  }
}
