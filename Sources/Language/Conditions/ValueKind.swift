import RPCurlProtobuf

extension ValueKind {
  /// Whether a value is of this type. The type of its field does not matter.
  package func includes(_ json: JSONValue) -> Bool { includes(json, nil) }

  /// Whether a value is of this type.
  ///
  /// - Parameters:
  ///   - json: The value.
  ///   - comparable: The value by the type of its field, where NaN and infinities are numbers.
  func includes(_ json: JSONValue, _ comparable: ComparableValue?) -> Bool {
    switch (self, json) {
    case (.string, .string): comparable?.isNumber != true
    case (.number, .number): true
    case (.number, .string): comparable?.isNumber == true
    case (.integer, .number(let text)): Double(text).map { $0 == $0.rounded() } == true
    case (.bool, .bool), (.list, .array), (.object, .object), (.null, .null): true
    case (.uuid, .string(let text)): Self.isUUID(text)
    case (.timestamp, .string(let text)): Self.isTimestamp(text)
    default: false
    }
  }

  /// Whether a text is a UUID (RFC 9562): 8, 4, 4, 4 and 12 hexadecimal digits.
  private static func isUUID(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12]
      && parts.joined().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }

  /// Whether a text is a time in RFC 3339.
  private static func isTimestamp(_ text: String) -> Bool {
    guard let type = WellKnownMessages.type("google.protobuf.Timestamp") else { return false }
    return (try? Message(type, json: Array(JSONValue.quoted(text).utf8))) != nil
  }
}

extension JSONValue {
  /// The type of the value, for messages.
  var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a bool"
    case .number: "a number"
    case .string: "text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}
