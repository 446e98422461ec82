import Interceptors
import Language
import Output

/// A specification of an interceptor whose references are replaced: the commas of values are doubled.
struct ExpandedSpecification {
  private enum Place {
    case name
    case key
    case value
  }

  private var scalars: [Unicode.Scalar] = []
  private var place = Place.name
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
      scalars.append(scalar)
      switch (scalar, place) {
      case (",", _) where rest.first == ",":
        scalars.append(rest.removeFirst())
        add(typed: scalar)
      case (",", _):
        scalars.removeLast()
        try endSetting()
        scalars.append(scalar)
        (place, key, value) = (.key, "", ExpandedText())
      case ("=", .key): place = .value
      default: add(typed: scalar)
      }
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
    scalars += Self.doubled(text)
  }

  /// Ends the specification, and returns its text.
  mutating func ended() throws(Failure) -> String {
    try endSetting()
    return String(String.UnicodeScalarView(scalars))
  }

  private mutating func endSetting() throws(Failure) {
    guard place == .value, value.hasValue else { return }
    let key = BuiltIns.key(key, of: name)
    if key?.namesFile == true { try value.checkPath() }
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
    // A value begins no notation, unless the user has typed that.
    let text = whole.text
    guard WholeValue.written(typed) == typed, case let written = WholeValue.written(text), written != text
    else {
      return
    }
    scalars.removeLast(Self.doubled(text).count)
    scalars += Self.doubled(written)
  }

  /// A value with doubled commas.
  private static func doubled(_ text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.flatMap { $0 == "," ? [$0, $0] : [$0] }
  }
}
