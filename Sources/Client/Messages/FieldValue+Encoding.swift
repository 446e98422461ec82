import RPCurlProtobuf
import RPCurlProtocols

extension Message {
  /// Makes a message of a literal: `try Message(type, ["name": "Ada"])`.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - value: The fields.
  /// - Throws: `RPCError` if the type has no such fields, or they cannot have the values.
  public init(_ type: MessageType, _ value: FieldValue) throws(RPCError) {
    try self.init(type, value, as: "the message")
  }

  /// Makes a message of a literal.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - value: The fields.
  ///   - subject: What the message is, in errors.
  /// - Throws: `RPCError` if the type has no such fields, or they cannot have the values.
  package init(_ type: MessageType, _ value: FieldValue, as subject: String) throws(RPCError) {
    switch try value.payload(of: type, .json, as: subject) {
    case .typed(let message): self = message
    case .bytes: self.init(type)
    }
  }
}

extension FieldValue {
  /// A message of a type in the form for a codec.
  ///
  /// - Parameter subject: What the message is, in errors.
  func payload(
    of type: MessageType, _ codec: CodecName, as subject: String
  ) throws(RPCError) -> Payload {
    if case .message(let message) = self {
      guard message.type == type else {
        throw RPCError(.invalidArgument, "\(subject) is a \(message.type), not a \(type)", origin: .request)
      }
      return .typed(message)
    }
    do {
      let json = try json()
      guard codec == .proto else { return .typed(try Message(type, json: json)) }
      var bytes: [UInt8] = []
      try JSONTranscoder(type).transcode(json: json, into: &bytes)
      return .bytes(bytes)
    } catch {
      throw RPCError(.invalidArgument, "\(subject) does not fit \(type): \(error)", origin: .request)
    }
  }

  /// A literal has no JSON form.
  private struct TooDeep: Error, CustomStringConvertible {
    let description = "it is nested more than 100 levels"
  }

  /// The JSON text.
  func json() throws -> [UInt8] {
    var text: [UInt8] = []
    try append(to: &text, depth: 0)
    return text
  }

  private func append(to text: inout [UInt8], depth: Int) throws {
    guard depth <= 100 else { throw TooDeep() }
    switch self {
    case .null: text += "null".utf8
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .integer(let value): text += String(value).utf8
    case .unsigned(let value): text += String(value).utf8
    case .double(let value) where value.isFinite: text += String(value).utf8
    case .double(let value):
      text += (value.isNaN ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"").utf8
    case .string(let value): text += JSONValue.quoted(value).utf8
    case .bytes(let value):
      text.append(UInt8(ascii: "\""))
      text += Base64.encode(value).utf8
      text.append(UInt8(ascii: "\""))
    case .list(let values):
      try append("[", values, "]", to: &text) { value, text in
        try value.append(to: &text, depth: depth + 1)
      }
    case .fields(let fields):
      try append("{", fields, "}", to: &text) { field, text in
        text += JSONValue.quoted(field.name).utf8
        text.append(UInt8(ascii: ":"))
        try field.value.append(to: &text, depth: depth + 1)
      }
    case .message(let message): text += try message.json(options: JSONEncodingOptions())
    }
  }

  private func append<Element>(
    _ open: String, _ elements: [Element], _ close: String, to text: inout [UInt8],
    _ body: (Element, inout [UInt8]) throws -> Void
  ) throws {
    text += open.utf8
    for (index, element) in elements.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      try body(element, &text)
    }
    text += close.utf8
  }
}
