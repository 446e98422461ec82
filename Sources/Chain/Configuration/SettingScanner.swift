import RPCurlLanguage

/// Finds the commas between the settings of `NAME[,KEY=VALUE…]`.
///
/// A value that begins with `'`, `"`, `[` or `{` ends at its match. Single quotes are not a part of the value, `''` is one
/// in them, and only blanks may follow them. In other text `,,` is a comma. By Unicode scalars: a `Character` would join a
/// comma with the combining scalar after it.
package struct SettingScanner {
  private enum Place: Equatable {
    case name
    case key
    case start
    case plain
    case quoted
    /// After the closing single quote.
    case ended
    /// In JSON, with the number of open brackets.
    case json(depth: Int)
    /// In a string of JSON.
    case string(depth: Int)
  }

  private var place = Place.name
  /// Whether the next scalar belongs to the one before it.
  private var isPair = false
  /// Whether the last scalar is not a part of the value: a single quote around it, or the second of two.
  package private(set) var isMark = false
  /// Whether text follows the closing single quote.
  package private(set) var hasRest = false

  /// Makes a scanner at the start of a text.
  package init() {}

  /// Whether the value is in single quotes here.
  package var isInQuotes: Bool { place == .quoted }
  /// Whether the value is in a string of JSON here.
  package var isInString: Bool { if case .string = place { true } else { false } }
  /// Whether a match is missing at the end of the text.
  package var isOpen: Bool {
    switch place {
    case .quoted, .json, .string: true
    case .name, .key, .start, .plain, .ended: false
    }
  }

  /// Begins or continues a value with text that has no marks, as the value of a reference.
  package mutating func beginText() {
    if place == .start { place = .plain }
    if place == .ended { hasRest = true }
  }

  /// Reads a scalar.
  ///
  /// - Parameter next: The scalar after it.
  /// - Returns: Whether it is a comma between settings.
  package mutating func separates(_ scalar: Unicode.Scalar, next: Unicode.Scalar?) -> Bool {
    isMark = false
    if isPair {
      isPair = false
      isMark = !isInString
      return false
    }
    switch place {
    case .start: begin(scalar)
    case .key where scalar == "=": place = .start
    case .name, .key, .plain: break
    case .ended:
      if scalar == "," {
        place = .key
        return true
      }
      isMark = true
      hasRest = hasRest || scalar != " "
      return false
    case .quoted:
      if scalar == "'" {
        isPair = next == "'"
        isMark = !isPair
        if !isPair { (place, hasRest) = (.ended, false) }
      }
      return false
    case .json(let depth):
      inJSON(scalar, depth)
      return false
    case .string(let depth):
      isPair = scalar == "\\"
      if scalar == "\"" { place = depth > 0 ? .json(depth: depth) : .plain }
      return false
    }
    guard scalar == ",", !isOpen else { return false }
    isPair = next == ","
    if !isPair { place = .key }
    return !isPair
  }

  private mutating func begin(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "'":
      place = .quoted
      isMark = true
    case "\"": place = .string(depth: 0)
    case "[", "{": place = .json(depth: 1)
    default: place = .plain
    }
  }

  private mutating func inJSON(_ scalar: Unicode.Scalar, _ depth: Int) {
    switch scalar {
    case "\"": place = .string(depth: depth)
    case "[", "{": place = .json(depth: depth + 1)
    case "]", "}": place = depth > 1 ? .json(depth: depth - 1) : .plain
    default: break
    }
  }

  /// The settings of a text, as they are written; the first is the name.
  package static func split(_ text: String) -> [String] {
    var scanner = SettingScanner()
    var parts = [String.UnicodeScalarView()]
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scanner.separates(scalar, next: rest.first) {
        parts.append(String.UnicodeScalarView())
      } else {
        parts[parts.count - 1].append(scalar)
      }
    }
    return parts.map { String($0) }
  }

  /// The text of a value as it is written.
  ///
  /// - Throws: ``LanguageError`` if it does not end at the match of its first character.
  package static func value(_ written: some StringProtocol) throws(LanguageError) -> String {
    let (value, end) = begun(written)
    guard !end.isOpen else {
      throw LanguageError(
        "the value does not end at the match of its first character",
        hint: "write a value in single quotes, and '' for a single quote in it")
    }
    guard !end.hasRest else {
      throw LanguageError(
        "text follows the closing single quote",
        hint: "write a comma after the quote, or '' for a single quote in the value")
    }
    return value
  }

  /// The text of the beginning of a value as it is written, and the scanner at its end.
  package static func begun(_ written: some StringProtocol) -> (value: String, end: SettingScanner) {
    var scanner = SettingScanner()
    scanner.place = .start
    var value = String.UnicodeScalarView()
    var rest = Substring(written).unicodeScalars
    while let scalar = rest.popFirst() {
      _ = scanner.separates(scalar, next: rest.first)
      if !scanner.isMark { value.append(scalar) }
    }
    return (String(value), scanner)
  }

  /// A value in single quotes, which is read as this text, and not as a notation of another value.
  package static func inQuotes(_ value: String) -> String { "'\(value.replacing("'", with: "''"))'" }
}
