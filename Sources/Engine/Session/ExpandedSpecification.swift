import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf

/// A specification of an interceptor whose expressions are replaced, so that values stay text: in them, commas and quotes are
/// doubled, and in JSON they are escaped. A condition is parsed before its values are inserted.
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
  /// The value of the current setting, without marks. In a condition, the expressions are in the place of their values.
  private var value = ExpandedText()
  private let variables: SessionVariables
  /// The bytes of all values.
  private var size = 0

  /// Begins a specification.
  ///
  /// - Parameter variables: The values of conditions.
  init(_ variables: SessionVariables) { self.variables = variables }

  /// Whether the current value is a condition.
  var isInCondition: Bool {
    guard case .value = place else { return false }
    return isScope || BuiltIns.key(key, of: name)?.isCondition == true
  }

  /// Whether the current value is a condition on a header or an attribute of the request, which limits the interceptor to
  /// some calls.
  private var isScope: Bool {
    let common = key.replacing(CommonSettings.prefix, with: "")
    return CommonSettings.conditions.contains(common)
      && BuiltIns.key(key, of: name) == nil
  }

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

  /// Adds an expression of a condition.
  mutating func add(_ expression: Expression) {
    let text = "${\(expression)}"
    scanner.beginText()
    scalars += text.unicodeScalars
    value.append(.value(.string(text)))
  }

  /// Adds the value of an expression.
  mutating func add(_ text: String) throws(Failure) {
    size += text.utf8.count
    guard size <= Template.limitBytes else { throw Failure(Template.tooLong(Template.limitBytes)) }
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
    guard case .value(let start) = place else { return }
    guard !isInCondition else { return try fillCondition(from: start) }
    let key = BuiltIns.key(key, of: name)
    guard value.hasValue else { return try checkShortForm(key) }
    if key?.namesFile == true { try value.checkPath() }
    if key?.isCommand == true {
      throw Failure(
        .usage, "", "a value cannot be part of a command (\(name), \(self.key))",
        hint:
          "type it without references; a script reads attributes of the call: options --attribute KEY=VALUE")
    }
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

  /// Refuses `$name` as the value of a setting, if there is such a value: it would be text.
  private func checkShortForm(_ key: BuiltIns.Key?) throws(Failure) {
    let part = key?.hasNamedValue == true ? value.after(":") ?? value : value
    do throws(LanguageError) {
      guard part.text.utf8.first == UInt8(ascii: "$"),
        case .reference(let reference)? = try Template(parsing: part.text).withShortForm().onlyExpression
      else { return }
      try variables.checkText(reference)
    } catch {
      throw Failure(error)
    }
  }

  /// Inserts the values of a condition. The interceptor reports one that is invalid.
  private mutating func fillCondition(from start: Int) throws(Failure) {
    guard !scanner.isOpen, !scanner.hasRest, let filled = try filledCondition() else { return }
    scalars.replaceSubrange(start..., with: SettingScanner.inQuotes(filled).unicodeScalars)
  }

  private func filledCondition() throws(Failure) -> String? {
    var text = ""
    var typed = ""
    for part in value.parts {
      if case .typed(let scalar) = part {
        typed += scalar
      } else {
        text += Template(literal: typed).description + part.text
        typed = ""
      }
    }
    text += Template(literal: typed).description
    do throws(LanguageError) {
      if isScope {
        guard let condition = try? NamedCondition(parsing: text, isName: { !$0.isEmpty }), value.hasValue
        else { return nil }
        return try condition.filled(variables).description
      }
      guard let condition = try? Condition(parsing: text, hasShortForm: true), !condition.isLiteral
      else { return nil }
      return try variables.filled(condition).description
    } catch {
      throw Failure(error)
    }
  }
}
