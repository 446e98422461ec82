/// The earlier states of a line, for undo. A word that is typed is one step, and so is a paste.
package struct UndoSteps {
  /// What changes a line.
  package enum Change {
    case letter, blank, paste, candidate, other
  }

  /// The most states, and the most characters in all of them.
  private static let limit = (states: 200, characters: 1 << 20)

  private var states: [EditingEngine.Line] = []
  private var characters = 0
  private var last = Change.other

  package init() {}

  /// Notes that a line was changed.
  ///
  /// - Parameters:
  ///   - before: The line before the change.
  ///   - change: What changed it. What belongs to the change before adds no step.
  package mutating func add(_ before: EditingEngine.Line, _ change: Change) {
    defer { last = change }
    switch (last, change) {
    case (.letter, .letter), (.blank, .letter), (.blank, .blank), (.paste, .paste), (.candidate, .candidate):
      guard states.isEmpty else { return }
    default: break
    }
    states.append(before)
    characters += before.text.count
    while states.count > 1, states.count > Self.limit.states || characters > Self.limit.characters {
      characters -= states.removeFirst().text.count
    }
  }

  /// Returns the state before the last step, which is dropped; nil if there is none.
  package mutating func undo() -> EditingEngine.Line? {
    last = .other
    guard let state = states.popLast() else { return nil }
    characters -= state.text.count
    return state
  }
}
