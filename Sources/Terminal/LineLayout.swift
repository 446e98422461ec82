import Interceptors

/// A prompt and a line, laid out in rows of a window.
package struct LineLayout {
  /// What is drawn.
  package struct Content {
    package var prompt: String
    package var text: [Unicode.Scalar] = []
    package var cursor = 0
    /// Shown on the right of the last row, if there is room.
    package var hint = ""
    /// Whether the prompt is bold and the hint dim.
    package var isStyled = false
  }

  /// A character as it is shown.
  private struct Cell {
    let text: String
    let width: Int
  }

  /// The rows, each no wider than the window.
  package private(set) var rows: [String] = [""]
  /// Where the cursor is.
  package private(set) var cursorRow = 0
  package private(set) var cursorColumn = 0

  private let columns: Int
  private let width: (Unicode.Scalar) -> Int
  private var column = 0

  /// Lays `content` out in a window of `columns` by `height`; of more rows than fit, those around the cursor remain.
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
      if scalar == "\n" { wrap() } else { put(cell) }
    }
    if content.cursor >= content.text.count {
      // The cursor stands behind the last character.
      if column >= self.columns { wrap() }
      markCursor()
    }
    put(hint: content)
    keep(max(height, 1))
  }

  private mutating func markCursor() {
    cursorRow = rows.count - 1
    cursorColumn = column
  }

  private mutating func wrap() {
    rows.append("")
    column = 0
  }

  private mutating func put(_ cell: Cell) {
    rows[rows.count - 1] += cell.text
    column += cell.width
  }

  /// The end of the prompt, in no more than half of the window.
  private mutating func put(prompt content: Content) {
    var cells = content.prompt.unicodeScalars.map(cell)
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
    cells.forEach { put($0) }
    if content.isStyled { rows[0] += "\u{1B}[0m" }
  }

  private mutating func put(hint content: Content) {
    let cells = content.hint.unicodeScalars.map(cell)
    let width = cells.reduce(0) { $0 + $1.width }
    // The last column stays free: some terminals wrap when it is written.
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

  /// Control characters are shown as `^X`, what has no glyph by its number.
  private func cell(_ scalar: Unicode.Scalar) -> Cell {
    if scalar == "\n" { return Cell(text: "", width: 0) }
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
