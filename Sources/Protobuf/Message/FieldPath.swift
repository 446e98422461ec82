/// A path through messages to a value: `user.addresses[2].city`, `labels["a"]`, `counts[-3]`,
/// `(pkg.extension).name`.
public struct FieldPath: Hashable, Sendable {
  /// A step of a path.
  package enum Step: Hashable, Sendable {
    /// A field, by its original or its JSON name.
    case field(String)
    /// An extension, by its full name.
    case `extension`(String)
    /// A subscript in brackets, of a list or a map.
    case subscripted(Subscript)
  }

  /// The index of a list's element or the key of a map's entry.
  package enum Subscript: Hashable, Sendable {
    /// A number.
    case integer(Int64)
    /// A number above those of `integer`.
    case unsigned(UInt64)
    /// A string in quotes.
    case string(String)
    /// `true` or `false`.
    case bool(Bool)
  }

  /// The steps; never empty, and the first is a field.
  package let steps: [Step]

  /// Parses a path.
  ///
  /// - Throws: ``FieldPathError`` if the syntax is invalid.
  public init(_ text: String) throws(FieldPathError) {
    var parser = FieldPathParser(text)
    steps = try parser.parse()
  }

  /// Makes a path from steps.
  package init(steps: [Step]) throws(FieldPathError) {
    guard let first = steps.first else { throw .syntax(offset: 0, expected: "a field name") }
    if case .subscripted = first { throw .syntax(offset: 0, expected: "a field name") }
    self.steps = steps
  }
}

extension FieldPath: CustomStringConvertible {
  /// The text of the path.
  public var description: String {
    steps.reduce(into: "") { text, step in
      switch step {
      case .field(let name): text += (text.isEmpty ? "" : ".") + name
      case .extension(let name): text += (text.isEmpty ? "" : ".") + "(\(name))"
      case .subscripted(.integer(let value)): text += "[\(value)]"
      case .subscripted(.unsigned(let value)): text += "[\(value)]"
      case .subscripted(.bool(let value)): text += "[\(value)]"
      case .subscripted(.string(let value)):
        var buffer = OutputBuffer(capacity: value.utf8.count + 2)
        JSONText.appendString(value, to: &buffer)
        text += "[\(buffer.withBytes { String(decoding: $0, as: UTF8.self) })]"
      }
    }
  }
}

/// Why a path does not lead to a value.
public enum FieldPathError: Error, Equatable, Sendable {
  /// The text is not a path.
  case syntax(offset: Int, expected: String)
  /// The message has no such field; `nearest` are similar names.
  case unknownField(name: String, type: String, nearest: [String])
  /// The path continues after a value that is not a message.
  case notAMessage(field: String)
  /// Brackets after a field that is neither a list nor a map.
  case notIndexable(field: String)
  /// Missing brackets: the field is a list or a map.
  case needsSubscript(field: String)
  /// The list has no element at this position.
  case indexOutOfRange(field: String, index: Int64, count: Int)
  /// The brackets contain a type other than the map's keys.
  case wrongKeyType(field: String, expected: String)
  /// The field cannot have the value.
  case wrongType(field: String, expected: String)
  /// The field is not a list.
  case notAList(field: String)
  /// The schema of a message in the path is invalid.
  case schema(SchemaError)
  /// The value has no JSON form.
  case encoding(DecodeError)
  /// The JSON is invalid for the field.
  case json(MessageParseError)
}

extension FieldPathError: CustomStringConvertible {
  /// The error message.
  public var description: String {
    switch self {
    case .syntax(let offset, let expected): "expected \(expected) at byte \(offset) of the path"
    case .unknownField(let name, let type, let nearest):
      "\(type) has no field \(name)"
        + (nearest.isEmpty ? "" : "; did you mean \(nearest.joined(separator: ", "))?")
    case .notAMessage(let field): "\(field) is not a message"
    case .notIndexable(let field): "\(field) is neither a list nor a map"
    case .needsSubscript(let field):
      "\(field) is a list or a map: name an element, as in \(field)[0] or \(field)[\"key\"]"
    case .indexOutOfRange(let field, let index, let count):
      "index \(index) is out of range: \(field) has \(count) elements"
    case .wrongKeyType(let field, let expected): "the keys of \(field) have the type \(expected)"
    case .wrongType(let field, let expected): "\(field) requires \(expected)"
    case .notAList(let field): "\(field) is not a list"
    case .schema(let error): error.description
    case .encoding(let error): error.description
    case .json(let error): error.description
    }
  }
}

/// Parses the text of a path.
struct FieldPathParser {
  private let text: [UInt8]
  private var position = 0

  init(_ text: String) { self.text = Array(text.utf8) }

  mutating func parse() throws(FieldPathError) -> [FieldPath.Step] {
    var steps: [FieldPath.Step] = [try name()]
    while position < text.count { steps.append(try step()) }
    return steps
  }

  /// Parses the steps of a ``FieldSelector``, at most `limit`.
  mutating func selector(limit: Int) throws(FieldPathError) -> [FieldSelector.Step] {
    var steps: [FieldSelector.Step] = [.path(try name())]
    while position < text.count {
      guard steps.count < limit else { throw failure("at most \(limit) steps") }
      if text[position...].starts(with: "[]".utf8) {
        position += 2
        steps.append(.each)
      } else if text[position...].elementsEqual(".@type".utf8) {
        position = text.count
        steps.append(.path(.field("@type")))
      } else {
        steps.append(.path(try step()))
      }
    }
    return steps
  }

  private mutating func step() throws(FieldPathError) -> FieldPath.Step {
    switch text[position] {
    case UInt8(ascii: "."):
      position += 1
      return try name()
    case UInt8(ascii: "["):
      position += 1
      return .subscripted(try subscripted())
    default: throw failure("\".\" or \"[\"")
    }
  }

  private func failure(_ expected: String) -> FieldPathError { .syntax(offset: position, expected: expected) }

  private mutating func name() throws(FieldPathError) -> FieldPath.Step {
    if position < text.count, text[position] == UInt8(ascii: "(") {
      position += 1
      let name = try word(dots: true)
      guard position < text.count, text[position] == UInt8(ascii: ")") else { throw failure("\")\"") }
      position += 1
      return .extension(name)
    }
    return .field(try word(dots: false))
  }

  private mutating func word(dots: Bool) throws(FieldPathError) -> String {
    let start = position
    while position < text.count {
      switch text[position] {
      case 48...57, 65...90, 97...122, UInt8(ascii: "_"): position += 1
      case UInt8(ascii: ".") where dots: position += 1
      case 0x80...: position += 1
      default:
        guard position > start else { throw failure("a field name") }
        return String(decoding: text[start..<position], as: UTF8.self)
      }
    }
    guard position > start else { throw failure("a field name") }
    return String(decoding: text[start..<position], as: UTF8.self)
  }

  private mutating func subscripted() throws(FieldPathError) -> FieldPath.Subscript {
    if position < text.count, text[position] == UInt8(ascii: "\"") { return try quoted() }
    guard let end = text[position...].firstIndex(of: UInt8(ascii: "]")) else { throw failure("\"]\"") }
    let word = String(decoding: text[position..<end], as: UTF8.self)
    let result: FieldPath.Subscript
    if word == "true" || word == "false" {
      result = .bool(word == "true")
    } else if let value = Int64(word) {
      result = .integer(value)
    } else if let value = UInt64(word) {
      result = .unsigned(value)
    } else {
      throw failure("a number, a quoted string, true or false")
    }
    position = end + 1
    return result
  }

  private mutating func quoted() throws(FieldPathError) -> FieldPath.Subscript {
    let start = position
    let result = text.withUnsafeBytes { bytes -> (String, Int)? in
      var scanner = JSONScanner(bytes)
      scanner.position = start
      var scratch = OutputBuffer(capacity: 64)
      guard let content = try? scanner.string(scratch: &scratch) else { return nil }
      return (String(decoding: content, as: UTF8.self), scanner.position)
    }
    guard let (string, end) = result else { throw failure("a JSON string") }
    position = end
    guard position < text.count, text[position] == UInt8(ascii: "]") else { throw failure("\"]\"") }
    position += 1
    return .string(string)
  }
}
