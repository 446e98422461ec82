import Interception
import Interceptors
import Language
import Output
import Protobuf

/// A specification of an interceptor whose references are replaced: the commas of values are doubled.
struct ExpandedSpecification {
  private enum Place {
    case name
    case key
    /// The value of a setting, which begins at `start`.
    case value(start: Int)
  }

  private var scalars: [Unicode.Scalar] = []
  private var place = Place.name
  private var scanner = SettingScanner()
  /// Whether the user has typed quotes or brackets at the start of the current value.
  private var isMarked = false
  /// The name of the interceptor.
  private var name = ""
  /// The key of the current setting.
  private var key = ""
  /// The value of the current setting, whose commas are not doubled.
  private var value = ExpandedText()

  /// Adds what the user typed.
  mutating func type(_ text: String) throws(Failure) {
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scanner.separates(scalar, next: rest.first) {
        try endSetting()
        (place, key, value) = (.key, "", ExpandedText())
        isMarked = false
        scalars.append(scalar)
        continue
      }
      scalars.append(scalar)
      if case .key = place, scalar == "=" {
        place = .value(start: scalars.count)
      } else if !scanner.isMark {
        add(typed: scalar)
      }
      guard case .value(let start) = place, scalars.count == start + 1 else { continue }
      isMarked = "'\"[{".unicodeScalars.contains(scalar)
    }
  }

  private mutating func add(typed scalar: Unicode.Scalar) {
    switch place {
    case .name: name.unicodeScalars.append(scalar)
    // A blank after the comma is not part of the key.
    case .key: if !key.isEmpty || scalar != " " { key.unicodeScalars.append(scalar) }
    case .value: value.append(.typed(String(scalar)))
    }
  }

  /// Adds the value of a reference.
  mutating func add(_ text: String) throws(Failure) {
    switch place {
    case .name:
      // `?` in front of a plugin makes it optional.
      guard !text.contains(","), !scalars.isEmpty || !text.begins(with: "?") else {
        throw Failure(.usage, "", "a value cannot contain settings", hint: "write NAME,KEY=${NAME}")
      }
      guard !text.contains("/") else {
        throw Failure(.usage, "", "a value cannot be the path of a plugin", hint: "type the path")
      }
      name += text
    case .key: throw Failure(.usage, "", "a value cannot be the key of a setting", hint: "write KEY=${NAME}")
    case .value: value.append(.value(.string(text)))
    }
    try append(text)
  }

  /// Appends a value so that it stays text.
  private mutating func append(_ text: String) throws(Failure) {
    if scanner.isInString {
      return scalars += JSONValue.quoted(text).unicodeScalars.dropFirst().dropLast()
    }
    guard !scanner.isOpen || scanner.isInQuotes else {
      throw Failure(
        .usage, "", "a value in the JSON of a setting must be in a string", hint: "write \"${NAME}\"")
    }
    scanner.beginText()
    let mark: Unicode.Scalar = scanner.isInQuotes ? "'" : ","
    for scalar in text.unicodeScalars { scalars += scalar == mark ? [scalar, scalar] : [scalar] }
  }

  /// Ends the specification, and returns its text.
  mutating func ended() throws(Failure) -> String {
    try endSetting()
    return String(String.UnicodeScalarView(scalars))
  }

  private mutating func endSetting() throws(Failure) {
    guard case .value(let start) = place, value.hasValue else { return }
    let key = BuiltIns.key(key, of: name)
    if key?.namesFile == true { try value.checkPath() }
    // In quotes and in JSON there is no notation of a value from elsewhere.
    guard !isMarked else { return }
    let part = key?.hasNamedValue == true ? value.after(":") ?? value : value
    let blanks = part.text.unicodeScalars.prefix { $0 == " " || $0 == "\t" }.count
    let whole = part.suffix(part.text.unicodeScalars.count - blanks)
    let typed = whole.typedStart
    if WholeValue.isElsewhere(typed) {
      guard typed.begins(with: "@") else {
        throw Failure(
          .usage, "",
          "a value cannot be part of a command or of the name of a variable (\(name), \(self.key))",
          hint: "type it without references")
      }
      return try whole.checkFile(.afterAt)
    }
    // A value begins no notation and no quotes, unless the user has typed that.
    guard WholeValue.written(typed) == typed else { return }
    let beginsQuotes = value.text.unicodeScalars.first.map { "'\"[{".unicodeScalars.contains($0) } ?? false
    guard beginsQuotes || WholeValue.written(whole.text) != whole.text else { return }
    scalars.replaceSubrange(start..., with: SettingScanner.inQuotes(value.text).unicodeScalars)
  }
}
