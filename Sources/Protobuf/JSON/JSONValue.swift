import RPCurlBase

/// A JSON value without a schema, for the parts of protocols that are JSON but not a message.
package enum JSONValue: Sendable, Equatable {
  /// `null`
  case null
  /// `true` or `false`
  case bool(Bool)
  /// A number in its original text.
  case number(String)
  /// A string with its escapes resolved.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object: its members in order, including duplicates.
  case object([Member])

  /// A name with its value.
  package struct Member: Sendable {
    /// The name.
    package let name: String
    /// The value.
    package let value: JSONValue

    /// Makes a member.
    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// Equal if both have the same form, the members of objects in the same order, and the same bytes in strings.
  package static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)), (.string(let a), .string(let b)): a.hasBytes(of: b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)):
      a.count == b.count && zip(a, b).allSatisfy { $0.name.hasBytes(of: $1.name) && $0.value == $1.value }
    default: false
    }
  }

  /// Parses a whole text, strictly (RFC 8259).
  ///
  /// - Parameter endOfOther: Returns the end of a value that is not JSON, from its start; nil if none starts there. Its text
  ///   becomes a number.
  package init(
    parsing text: [UInt8], endOfOther: ((Int) -> Int?)? = nil
  ) throws(MessageParseError) {
    self = try text.span.bytes.withUnsafeBytes { (bytes) throws(MessageParseError) in
      do throws(ReadFailure) {
        var parser = JSONValueParser(bytes, endOfOther)
        return try parser.parse()
      } catch {
        throw MessageParseError(error, in: bytes, format: .json)
      }
    }
  }

  /// The first member with this name; nil if there is none or the value is not an object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.hasBytes(of: name) }?.value
  }

  /// The compact text.
  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let digits): digits
    case .string(let content): Self.quoted(content)
    case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
    case .object(let members):
      "{\(members.map { "\(Self.quoted($0.name)):\($0.value.text)" }.joined(separator: ","))}"
    }
  }

  /// `content` as a JSON string, with control characters escaped, so that it is safe on a terminal.
  package static func quoted(_ content: String) -> String {
    var out = OutputBuffer(capacity: content.utf8.count + 2)
    JSONText.appendString(content, to: &out)
    return out.withBytes { String(decoding: $0, as: UTF8.self) }
  }
}

/// Parses JSON values, with the nesting limit of messages.
private struct JSONValueParser: ~Copyable {
  private var scanner: JSONScanner
  private var scratch = OutputBuffer()
  private let endOfOther: ((Int) -> Int?)?

  init(_ bytes: UnsafeRawBufferPointer, _ endOfOther: ((Int) -> Int?)?) {
    scanner = JSONScanner(bytes)
    self.endOfOther = endOfOther
  }

  mutating func parse() throws(ReadFailure) -> JSONValue {
    let value = try value(depth: 0)
    try scanner.expectEnd()
    return value
  }

  private mutating func value(depth: Int) throws(ReadFailure) -> JSONValue {
    guard depth <= nestingLimit else { throw scanner.failure(.tooDeep) }
    switch scanner.peek() {
    case UInt8(ascii: "{"):
      try scanner.openObject()
      var members: [JSONValue.Member] = []
      while try scanner.nextKey(after: members.count) {
        let name = try string()
        try scanner.expectColon()
        members.append(JSONValue.Member(name: name, value: try value(depth: depth + 1)))
      }
      return .object(members)
    case UInt8(ascii: "["):
      try scanner.openArray()
      var elements: [JSONValue] = []
      while try scanner.nextElement(after: elements.count) { elements.append(try value(depth: depth + 1)) }
      return .array(elements)
    case UInt8(ascii: "\""):
      return .string(try string())
    case UInt8(ascii: "-"), 48...57:
      return .number(String(decoding: try scanner.number(), as: UTF8.self))
    default:
      if scanner.acceptWord("null") { return .null }
      if scanner.acceptWord("true") { return .bool(true) }
      if scanner.acceptWord("false") { return .bool(false) }
      return try other()
    }
  }

  private mutating func other() throws(ReadFailure) -> JSONValue {
    let start = scanner.cursor - scanner.start
    guard scanner.cursor < scanner.end, let end = endOfOther?(start), end > start,
      end <= scanner.end - scanner.start
    else { throw scanner.expected("a value") }
    let text = UnsafeBufferPointer(start: scanner.cursor, count: end - start)
    scanner.cursor += end - start
    return .number(String(decoding: text, as: UTF8.self))
  }

  private mutating func string() throws(ReadFailure) -> String {
    String(decoding: try scanner.string(scratch: &scratch), as: UTF8.self)
  }
}
