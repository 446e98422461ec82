/// What precedes a line that is typed.
package struct LinePrompt: Equatable {
  package let text: String
  /// The number of the colour of its first character in a control sequence (SGR); nil for that of the others.
  package let color: Int?

  package init(_ text: String, color: Int? = nil) { (self.text, self.color) = (text, color) }
}

/// A source of lines, and what the terminal shows while they are typed.
package protocol LineInput: AnyObject {
  /// Called with each line; nil at the end of input (Ctrl-D on an empty line, or the end of a pipe).
  var onLine: ((InputLine?) -> Void)? { get set }
  /// Why the input ended before its end; nil if it did not.
  var failure: Failure? { get }
  /// Called for Ctrl-C at the prompt; `hadText` reports whether the editor dropped a line that was begun.
  var onInterrupt: ((_ hadText: Bool) -> Void)? { get set }
  /// Called when the user wants to edit the text of the line in an editor.
  var onEdit: ((_ text: String) -> Void)? { get set }
  /// Asks for lines under this prompt from now on. A further call changes the prompt.
  func ask(_ prompt: LinePrompt)
  /// Stops taking lines until `ask` is called again, for example while a unary call runs.
  func pause()
  /// Runs `body`, which writes to the terminal, with the line being typed removed, and then shows the line again.
  func aside(_ body: () throws -> Void) rethrows
  /// Drops what was pasted and has not been taken as lines. Returns whether there was any.
  func dropPaste() -> Bool
  /// Replaces the line that is being edited.
  func replace(by text: String)
  /// Adds a line to the history.
  func remember(_ line: String)
  /// The lines of the history, oldest first.
  var history: [String] { get }
  /// Clears the screen.
  func clearScreen()
  /// Ends the input and restores the terminal.
  func close()
}

/// Completes lines and describes what is expected at the cursor, for a line editor.
package protocol LineAssistant: AnyObject {
  /// Whether `learn` must run before `complete` can find candidates.
  ///
  /// - Parameter head: The text before the cursor.
  func mustLearn(toComplete head: String) -> Bool
  /// Learns what completion needs, which may involve a request to a server, and then calls `completion`.
  func learn(_ completion: @escaping () -> Void)
  /// The candidates for the text before the cursor.
  func complete(_ head: String) -> Completion
  /// Whether a statement needs more lines. One that is invalid does not.
  ///
  /// - Parameters:
  ///   - lines: Its lines; without its first ones, with which this was called before.
  ///   - isNew: Whether the first line of the statement is among them.
  func needsMore(after lines: String, isNew: Bool) -> Bool
  /// A hint of a few words without control characters; empty if there is none.
  func hint(_ head: String) -> String
}
