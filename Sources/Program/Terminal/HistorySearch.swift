/// An incremental search of the history, as bash shows it.
package struct HistorySearch {
  private let history: [String]
  private let line: EditingEngine.Line
  /// What the search before this one was for.
  private let earlier: [Unicode.Scalar]
  package private(set) var pattern: [Unicode.Scalar] = []
  private var isForward = false
  private var hasFailed = false
  /// The index of the line that is shown; nil for the line that was typed.
  private var index: Int?

  /// Begins a search.
  ///
  /// - Parameters:
  ///   - history: The lines, oldest first.
  ///   - line: The line that was typed.
  ///   - earlier: The pattern of the search before this one, which Ctrl-R repeats.
  package init(_ history: [String], from line: EditingEngine.Line, earlier: [Unicode.Scalar] = []) {
    (self.history, self.line, self.earlier) = (history, line, earlier)
  }

  /// What is shown in place of the prompt.
  package var prompt: String {
    let kind = isForward ? "i-search" : "reverse-i-search"
    return "(\(hasFailed ? "failed " : "")\(kind))`\(String(String.UnicodeScalarView(pattern)))': "
  }

  /// The line that was found, with the cursor at the pattern; the one that was typed if none was found.
  package var found: EditingEngine.Line {
    guard let index else { return line }
    let text = Array(history[index].unicodeScalars)
    return EditingEngine.Line(text: text, cursor: Self.place(of: pattern, in: text) ?? 0)
  }

  /// Handles a key. Returns false if the search has no such key, and ends.
  package mutating func handle(_ key: [Unicode.Scalar]) -> Bool {
    guard let first = key.first, key.count == 1 else { return false }
    switch first {
    case "\u{12}", "\u{13}":
      isForward = first == "\u{13}"
      if pattern.isEmpty { pattern = earlier }
      find(from: (index ?? history.count) + (isForward ? 1 : -1))
    case "\u{7F}", "\u{8}":
      _ = pattern.popLast()
      (index, hasFailed) = (nil, false)
      find(from: isForward ? 0 : history.count - 1)
    case _ where first.value < 0x20: return false
    default: add(key)
    }
    return true
  }

  /// Adds characters to the pattern.
  package mutating func add(_ characters: [Unicode.Scalar]) {
    pattern += characters
    find(from: index ?? (isForward ? 0 : history.count - 1))
  }

  /// Finds the next line with the pattern, beginning with that at `start`. A line that is already shown is not found again.
  private mutating func find(from start: Int) {
    guard !pattern.isEmpty else { return }
    let step = isForward ? 1 : -1
    var next = start
    while history.indices.contains(next) {
      let isShown = next != index && index.map { history[$0] == history[next] } == true
      if !isShown, Self.place(of: pattern, in: Array(history[next].unicodeScalars)) != nil {
        (index, hasFailed) = (next, false)
        return
      }
      next += step
    }
    hasFailed = true
  }

  private static func place(of pattern: [Unicode.Scalar], in text: [Unicode.Scalar]) -> Int? {
    guard let first = pattern.first, pattern.count <= text.count else { return nil }
    return (0...text.count - pattern.count).first {
      text[$0] == first && text[$0..<$0 + pattern.count].elementsEqual(pattern)
    }
  }
}
