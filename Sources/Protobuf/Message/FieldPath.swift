/// A path through messages to values: `user.addresses[2].city`, `labels.env`, `labels["a b"]`, `counts[-3]`, `users[].name`,
/// `[pkg.extension].name`, `detail[type.googleapis.com/pkg.Type].reason`.
///
/// A name is that of a field in the schema or in JSON, or a key of a map with string keys. Brackets contain an index of a
/// list, where a negative one counts from the end, or a key of a map; empty brackets mean each element, and the end of the
/// list where a value is written. The path `.` is the whole message.
public struct FieldPath: Hashable, Sendable {
  /// A step of a path.
  package enum Step: Hashable, Sendable {
    /// A field, by its original or its JSON name; or a key of a map with string keys.
    case field(String)
    /// An extension, by its full name.
    case `extension`(String)
    /// The content of a `google.protobuf.Any` if it has the type with this URL.
    case any(String)
    /// A subscript in brackets, of a list or a map.
    case subscripted(Subscript)
    /// Each element of a list, or each value of a map in the order of their keys.
    case each
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

  /// The steps; empty for the whole message.
  package let steps: [Step]

  /// Parses a path, with or without a full stop at its start.
  ///
  /// - Parameter text: The path: `a.b[0].c`.
  /// - Throws: ``FieldPathError`` if the syntax is invalid, or if it has more than 100 steps.
  public init(_ text: String) throws(FieldPathError) {
    var parser = FieldPathParser(text)
    steps = try parser.parse()
  }

  /// Parses a path that begins with a full stop, for places where other words are possible.
  ///
  /// - Throws: ``FieldPathError`` if the syntax is invalid, or if it has more than 100 steps.
  package init(afterFullStop text: String) throws(FieldPathError) {
    guard text.utf8.first == UInt8(ascii: ".") else { throw .syntax(offset: 0, expected: "\".\"") }
    try self.init(text)
  }

  /// Makes a path from steps.
  package init(steps: [Step]) {
    self.steps = steps
  }

  /// Makes the path of a field.
  package init(_ field: Field) {
    steps = [field.isExtension ? .extension(field.fullName) : .field(field.name)]
  }

  /// Whether it is the path of the whole message.
  package var isWhole: Bool { steps.isEmpty }

  /// Whether it leads to any number of values.
  package var hasEach: Bool { steps.contains(.each) }

  /// The path with one more step.
  package func appending(_ step: Step) -> FieldPath { FieldPath(steps: steps + [step]) }
}

extension FieldPath: CustomStringConvertible {
  /// The text of the path, without a full stop at its start.
  public var description: String {
    guard !isWhole else { return "." }
    return steps.reduce(into: "") { text, step in
      switch step {
      case .field(let name): text += (text.isEmpty ? "" : ".") + name
      case .extension(let name): text += name.utf8.contains(UInt8(ascii: ".")) ? "[\(name)]" : "[.\(name)]"
      case .any(let url): text += "[\(url)]"
      case .subscripted(let key): text += "[\(key)]"
      case .each: text += "[]"
      }
    }
  }
}

extension FieldPath.Subscript: CustomStringConvertible {
  /// The text in brackets.
  package var description: String {
    switch self {
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .bool(let value): "\(value)"
    // Where values are inserted, `${` would begin one.
    case .string(let value): JSONValue.quoted(value).replacing("${", with: "\\u0024{")
    }
  }

  /// Makes the subscript of a map's key.
  init(_ key: MapKey) {
    switch key {
    case .bool(let value): self = .bool(value)
    case .signed(let value): self = .integer(value)
    case .unsigned(let value): self = Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
    case .string(let value): self = .string(value)
    case .bytes(let value): self = .string(String(decoding: value, as: UTF8.self))
    }
  }
}

extension FieldPath {
  /// The place of the first byte outside of quoted keys for which `body` is true; nil if there is none. Text after the path
  /// may follow.
  ///
  /// - Parameter body: Receives a byte, and whether it is in brackets.
  package static func firstIndex(
    in text: Substring, where body: (_ byte: UInt8, _ isInBrackets: Bool) -> Bool
  ) -> Substring.Index? {
    var (isInBrackets, isQuoted, isEscaped) = (false, false, false)
    for index in text.utf8.indices {
      let byte = text.utf8[index]
      if isQuoted {
        isQuoted = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      switch byte {
      case UInt8(ascii: "["): isInBrackets = true
      case UInt8(ascii: "]"): isInBrackets = false
      case UInt8(ascii: "\"") where isInBrackets: isQuoted = true
      default: break
      }
      if body(byte, isInBrackets) { return index }
    }
    return nil
  }

  /// Splits text that begins with a path at the first separator outside of quotes: a key in the path may contain it.
  ///
  /// - Returns: The parts before and after the separator; nil if it is absent.
  package static func split(
    _ text: String, at separator: Unicode.Scalar
  ) -> (path: String, rest: String)? {
    guard let index = firstIndex(in: text[...], where: { byte, _ in byte == UInt8(ascii: separator) }) else {
      return nil
    }
    return (String(text[..<index]), String(text[text.utf8.index(after: index)...]))
  }
}
