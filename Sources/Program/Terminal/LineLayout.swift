import RPCurlBase

/// Lays out a prompt and a line in the rows of a window.
package struct LineLayout {
  /// The text to lay out.
  package struct Content {
    package var prompt: LinePrompt
    package var text: [Unicode.Scalar] = []
    package var cursor = 0
    /// Precedes each line of the text but the first.
    package var continuation = ""
    /// Shown at the right of the last row, if there is room.
    package var hint = ""
    /// Whether the prompt is bold and the hint dim.
    package var isStyled = false
  }

  /// A character as it is displayed.
  private struct Cell {
    let text: String
    let width: Int
  }

  /// The rows, each no wider than the window.
  package private(set) var rows: [String] = [""]
  /// The cursor position in `rows`.
  package private(set) var cursorRow = 0
  package private(set) var cursorColumn = 0

  private let columns: Int
  private let width: (Unicode.Scalar) -> Int
  private var column = 0

  /// Lays out `content`. If it needs more than `height` rows, keeps those around the cursor.
  ///
  /// - Parameters:
  ///   - content: The text to lay out.
  ///   - columns: The width of the window.
  ///   - height: The height of the window in rows.
  ///   - width: The width of a character in columns; negative if it cannot be displayed.
  package init(
    _ content: Content, columns: Int, height: Int,
    width: @escaping (Unicode.Scalar) -> Int = CharacterWidth.columns
  ) {
    self.columns = max(columns, 2)
    self.width = width
    put(prompt: content)
    for (index, scalar) in content.text.enumerated() {
      let cell = cell(scalar)
      if column + cell.width > self.columns { wrap() }
      if index == content.cursor { markCursor() }
      guard scalar == "\n" else {
        put(cell)
        continue
      }
      wrap()
      put(continuation: content)
    }
    if content.cursor >= content.text.count {
      // The cursor follows the last character.
      if column >= self.columns { wrap() }
      markCursor()
    }
    put(hint: content)
    keep(max(height, 1))
  }

  private mutating func markCursor() {
    cursorRow = rows.count - 1
    cursorColumn = min(column, columns - 1)
  }

  private mutating func wrap() {
    rows.append("")
    column = 0
  }

  private mutating func put(_ cell: Cell) {
    rows[rows.count - 1] += cell.text
    column += cell.width
  }

  /// Lays out the end of the prompt, in at most half of the window.
  private mutating func put(prompt content: Content) {
    var cells = content.prompt.text.unicodeScalars.map(cell)
    var room = max(columns / 2, columns - 20)
    if cells.reduce(0, { $0 + $1.width }) > room {
      room -= 1
      var kept: [Cell] = []
      for cell in cells.reversed() {
        guard cell.width <= room else { break }
        room -= cell.width
        kept.append(cell)
      }
      cells = [Cell(text: "…", width: 1)] + kept.reversed()
    }
    if content.isStyled { rows[0] += "\u{1B}[1m" }
    for (index, cell) in cells.enumerated() {
      let color = content.isStyled && index == 0 ? content.prompt.color : nil
      if let color { rows[0] += "\u{1B}[\(color)m" }
      put(cell)
      if color != nil { rows[0] += "\u{1B}[39m" }
    }
    if content.isStyled { rows[0] += "\u{1B}[0m" }
  }

  private mutating func put(continuation content: Content) {
    let cells = content.continuation.unicodeScalars.map(cell)
    // A narrow window has room for the text only.
    guard !cells.isEmpty, cells.reduce(0, { $0 + $1.width }) <= columns / 4 else { return }
    if content.isStyled { rows[rows.count - 1] += "\u{1B}[1m" }
    cells.forEach { put($0) }
    if content.isStyled { rows[rows.count - 1] += "\u{1B}[0m" }
  }

  private mutating func put(hint content: Content) {
    let cells = content.hint.unicodeScalars.map(cell)
    let width = cells.reduce(0) { $0 + $1.width }
    // The last column stays empty: some terminals wrap when it is written.
    let space = columns - 1 - column - width
    guard width > 0, space >= 2 else { return }
    let text = cells.map(\.text).joined()
    rows[rows.count - 1] +=
      String(repeating: " ", count: space) + (content.isStyled ? "\u{1B}[2m\(text)\u{1B}[0m" : text)
  }

  private mutating func keep(_ height: Int) {
    guard rows.count > height else { return }
    let first = min(max(cursorRow - height / 2, 0), rows.count - height)
    rows = Array(rows[first..<first + height])
    cursorRow -= first
  }

  /// Control characters are shown as `^X`, characters that cannot be displayed as their code point.
  private func cell(_ scalar: Unicode.Scalar) -> Cell {
    if scalar == "\n" { return Cell(text: "", width: 0) }
    if (0x20..<0x7F).contains(scalar.value) { return Cell(text: String(scalar), width: 1) }
    if scalar.value < 0x20 || scalar.value == 0x7F {
      let letter = Unicode.Scalar(UInt8(scalar.value) ^ 0x40)
      return Cell(text: "^\(Character(letter))", width: 2)
    }
    let columns = width(scalar)
    let escaped = TerminalText.escape(String(scalar))
    guard columns < 0 || escaped.unicodeScalars.count > 1 else {
      return Cell(text: escaped, width: columns)
    }
    let number = columns < 0 && escaped.unicodeScalars.count == 1 ? scalar.escaped(asASCII: true) : escaped
    return Cell(text: number, width: number.utf8.count)
  }
}
