import Interceptors
import Output

/// A specification of an interceptor whose references are replaced: the commas of values are doubled.
struct ExpandedSpecification {
  private enum Place {
    case name
    case key
    /// The value of a setting, which begins at `start`.
    case value(start: Int, beginsWithReference: Bool)
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
      case ("=", .key): place = .value(start: scalars.count, beginsWithReference: false)
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
    case .value(let start, let beginsWithReference):
      place = .value(start: start, beginsWithReference: beginsWithReference || scalars.count == start)
      value.append(.value(.string(text)))
    }
    for scalar in text.unicodeScalars { scalars += scalar == "," ? [scalar, scalar] : [scalar] }
  }

  /// Ends the specification, and returns its text.
  mutating func ended() throws(Failure) -> String {
    try endSetting()
    return String(String.UnicodeScalarView(scalars))
  }

  private mutating func endSetting() throws(Failure) {
    guard case .value(let start, let beginsWithReference) = place, value.hasValue else { return }
    if beginsWithReference {
      try SessionVariables.refuse(scalars[start...], beginningWith: ["env:"])
      // `@@` is a value that begins with `@`.
      if scalars.dropFirst(start).first == "@" { scalars.insert("@", at: start) }
    }
    // What the user typed as `@FILE` is read, by any setting; `@@` is typed for a value that begins with `@`.
    if !beginsWithReference, !value.text.begins(with: "@@") { try value.checkFile(.afterAt) }
    let key = BuiltIns.all.first { $0.name == name }?.keys.first { $0.name == self.key }
    guard let key, let resource = key.resource else { return }
    let named = key.hasNameBeforeResource ? value.after(":") ?? value : value
    switch resource {
    case .file: try named.checkPath()
    case .command:
      guard !named.hasValue else {
        throw Failure(
          .usage, "", "a value cannot be part of a command (\(name), \(key.form))",
          hint: "type the command without references")
      }
    }
  }
}
