/// Why a text is not a message in JSON or in text format.
public struct MessageParseError: Error, Equatable, Sendable {
  /// The cause of the error.
  public enum Reason: Equatable, Sendable {
    /// The text ends within a value, or is empty.
    case unexpectedEnd
    /// A token other than the grammar expects here.
    case syntax(expected: String)
    /// A number that the format does not allow, such as `01` or `1x`.
    case invalidNumber
    /// An invalid escape after a backslash.
    case invalidEscape
    /// Half of a surrogate pair. Text format does not allow one half even before the other.
    case loneSurrogate
    /// Bytes that are not UTF-8, in text format where the schema requires it.
    case invalidUTF8
    /// Nested deeper than 100 levels.
    case tooDeep
    /// Two fields of one oneof, with their names as in the text.
    case oneofConflict(oneof: String, first: String, second: String)
    /// A name that is not a field of the message; `nearest` are similar names.
    case unknownField(name: String, type: String, nearest: [String])
    /// A name or number that is not a value of the enum; `nearest` are similar names, and `all` are the names of a
    /// short enum.
    case unknownEnumValue(value: String, type: String, nearest: [String], all: [String])
    /// A value of a type other than the field's.
    case wrongType(expected: String)
    /// A number that is out of the field's range.
    case outOfRange(type: String)
    /// An Any of a type that the schema does not define; `nearest` are similar names.
    case unknownAnyType(String, nearest: [String])
    /// Required fields that are not set, as paths.
    case missingRequired([String])
    /// The schema of the message is invalid.
    case schema(SchemaError)

    // JSON only

    /// A control character in a string.
    case controlCharacter
    /// More text after the value.
    case trailingData
    /// A value, or a message in a stream, that is longer than the reader's limit.
    case tooLong(limitBytes: Int)
    /// A byte order mark of UTF-16.
    case utf16
    /// A duplicate key.
    case duplicateKey(String)
    /// A bytes field that is not base64; `encoded` is the base64 of the characters of a short text, otherwise empty.
    case invalidBase64(encoded: String)
    /// A bytes field whose base64 is probably text, where the options refuse that.
    case textAsBase64(String, byteCount: Int)
    /// A null in a list or a map, where it is not allowed.
    case nullElement
    /// Not an RFC 3339 time between the years 1 and 9999.
    case invalidTimestamp
    /// Not a number of seconds such as `1.5s`, or more than 10,000 years.
    case invalidDuration
    /// Not a list of paths in lower camel case.
    case invalidFieldMask
    /// An Any without `@type`.
    case missingAnyType

    // Text format only

    /// The line ends within a string.
    case unterminatedString
    /// A duplicate of a field that is neither repeated nor a map.
    case duplicateField(String)
    /// A name in brackets that is not an extension of the message.
    case unknownExtension(name: String, type: String)
    /// A field number, as unknown fields are written.
    case numberedField
    /// A type URL in brackets within a message that is not an Any.
    case notAnAny(String)
  }

  /// The cause of the error.
  public var reason: Reason
  /// The position of the error; in a stream of binary messages only the byte.
  public var position: TextPosition
  /// The path of the field, empty at the top level: `user.addresses[2].city`.
  public var fieldPath: String
  /// The format of the text.
  let format: MessageFormat

  init(_ failure: ReadFailure, in text: UnsafeRawBufferPointer, format: MessageFormat) {
    reason = failure.reason
    position = failure.position(in: text)
    fieldPath = failure.fieldPath
    self.format = format
  }

  /// An error that concerns the whole message, or a known position.
  init(_ reason: Reason, at position: TextPosition = TextPosition(), format: MessageFormat) {
    self.reason = reason
    self.position = position
    fieldPath = ""
    self.format = format
  }

  /// The same error in a text that contains the parsed text as a part.
  package func moved(to start: TextPosition) -> MessageParseError {
    var error = self
    error.position = position.moved(to: start)
    return error
  }
}

extension MessageParseError: CustomStringConvertible {
  /// The error message.
  public var description: String {
    if hasLine { return "\(message) (line \(position.line), column \(position.column))" }
    return format == .binary ? "\(message) (byte \(position.byteOffset))" : message
  }

  /// Whether the data has lines, and is a text.
  package var hasLine: Bool { format != .binary && reason != .utf16 }

  /// The error message without the line and the column.
  package var message: String {
    fieldPath.isEmpty ? reason.text(format) : "\(fieldPath): \(reason.text(format))"
  }

  /// A suggestion, if there is one.
  public var hint: String? {
    switch reason {
    case .unknownField(_, _, let nearest) where !nearest.isEmpty,
      .unknownAnyType(_, let nearest) where !nearest.isEmpty:
      Self.question(nearest)
    case .unknownEnumValue(_, let type, let nearest, let all) where !nearest.isEmpty || !all.isEmpty:
      [
        nearest.isEmpty ? nil : Self.question(nearest),
        all.isEmpty ? nil : "\(type) has \(all.joined(separator: ", "))",
      ].compactMap(\.self).joined(separator: " ")
    case .invalidBase64(let encoded):
      encoded.isEmpty ? "bytes are given in base64" : "\"\(encoded)\" is the base64 of this text"
    case .syntax where format == .binary:
      "in a stream of binary messages, a varint length precedes each message"
    case .utf16: "convert it with \"iconv -f UTF-16 -t UTF-8\""
    case .numberedField: "unknown fields are printed by number; --allow-unknown-fields skips them"
    default: nil
    }
  }

  /// The words for base64 that is probably text.
  package static func readAsBase64(_ text: String, byteCount: Int) -> String {
    "\"\(text)\" was read as base64 (\(byteCount) \(byteCount == 1 ? "byte" : "bytes"))"
  }

  private static func question(_ names: [String]) -> String {
    "did you mean \(names.joined(separator: ", "))?"
  }
}

extension MessageParseError.Reason {
  fileprivate func text(_ format: MessageFormat) -> String {
    switch self {
    case .unexpectedEnd:
      format == .binary
        ? "the data ends within the message" : "unexpected end of the \(format == .json ? "JSON" : "text")"
    case .syntax(let expected): "expected \(expected)"
    case .invalidNumber: "not a valid \(format == .json ? "JSON" : "text format") number"
    case .invalidEscape: "invalid escape"
    case .loneSurrogate: "half of a surrogate pair"
    case .invalidUTF8: "not UTF-8"
    case .tooDeep: "nested deeper than \(nestingLimit) levels"
    case .oneofConflict(let oneof, let first, let second):
      "\"\(first)\" and \"\(second)\" are both set, but only one field of the oneof \"\(oneof)\" can be"
    case .unknownField(let name, let type, _): "\(type) has no field \"\(name)\""
    case .unknownEnumValue(let value, let type, _, _): "\(type) has no value \(value)"
    case .wrongType(let expected): "expected \(expected)"
    case .outOfRange(let type): "number out of range for \(type)"
    case .unknownAnyType(let name, _): "the schema does not define the type \(name)"
    case .missingRequired(let paths): missingText(paths)
    case .schema(let error): error.description
    case .controlCharacter: "control character in a string; use an escape"
    case .trailingData: "unexpected text after the value"
    case .tooLong(let limit):
      format == .json ? "a value longer than \(limit) bytes" : "the message is longer than \(limit) bytes"
    case .utf16: "the data is UTF-16"
    case .duplicateKey(let key): "duplicate key \"\(key)\""
    case .invalidBase64: "not base64"
    case .textAsBase64(let text, let count): MessageParseError.readAsBase64(text, byteCount: count)
    case .nullElement: "null is not allowed in a list or a map"
    case .invalidTimestamp: "not a timestamp such as 2024-05-01T12:00:00Z"
    case .invalidDuration: "not a duration such as 1.5s"
    case .invalidFieldMask: "not a field mask such as user.displayName,photo"
    case .missingAnyType: "an Any requires \"@type\""
    case .unterminatedString: "the line ends within a string"
    case .duplicateField(let name): "duplicate field \"\(name)\""
    case .unknownExtension(let name, let type): "\(type) has no extension [\(name)]"
    case .numberedField: "expected a field name, not a number"
    case .notAnAny(let type): "\(type) is not an Any and cannot contain a message of any type"
    }
  }
}

extension MessageParseError {
  /// The text without line and column, which refer to a part of a text.
  package var withoutPlace: String {
    message + (hint.map { "; \($0)" } ?? "")
  }
}
