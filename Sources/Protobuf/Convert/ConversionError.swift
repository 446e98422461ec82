/// Why an input cannot be converted.
package struct ConversionError: Error, Equatable, Sendable {
  /// The cause of the error.
  package enum Reason: Equatable, Sendable {
    /// A message that is not in JSON or text format, or not of its type.
    case text(MessageParseError)
    /// Bytes that are not a message of the type, or that have no JSON form.
    case binary(DecodeError)
    /// The input ends within a message or its length.
    case truncated(byteOffset: Int)
    /// An invalid length of a message.
    case invalidLength(byteOffset: Int)
    /// A message longer than the limit.
    case tooLong(limitBytes: Int, byteOffset: Int)
    /// Required fields that are not set, as paths.
    case missingRequired([String])
    /// The input contains no message.
    case noMessage
    /// The input contains several messages, and the output can contain only one.
    case severalMessages
    /// JSON that begins with a byte order mark of UTF-16.
    case utf16
  }

  /// The cause of the error.
  package var reason: Reason
  /// The index of the message in the input, from 0.
  package var messageIndex: Int
  /// For an input with lines, the text around the error as far as it is available, and the error's offset in
  /// it.
  package internal(set) var surroundings: (text: [UInt8], offset: Int)?

  init(_ reason: Reason, messageIndex: Int) {
    self.reason = reason
    self.messageIndex = messageIndex
  }
}

extension ConversionError {
  /// The position in an input with lines.
  package var position: TextPosition? {
    if case .text(let error) = reason { error.position } else { nil }
  }

  /// Compares the errors, ignoring `surroundings`.
  package static func == (one: ConversionError, other: ConversionError) -> Bool {
    one.reason == other.reason && one.messageIndex == other.messageIndex
  }
}

extension ConversionError: CustomStringConvertible {
  /// The error message.
  package var description: String {
    // In a text with lines, the position identifies the message.
    let place = messageIndex == 0 ? "" : "message \(messageIndex + 1): "
    switch reason {
    case .text(let error): return error.description
    case .binary(let error): return place + error.description
    case .truncated(let offset): return place + "the input ends within a message (byte \(offset))"
    case .invalidLength(let offset):
      return place + "expected the length of a message at byte \(offset); are the messages delimited?"
    case .tooLong(let limit, let offset): return place + "longer than \(limit) bytes (byte \(offset))"
    case .missingRequired(let paths): return place + missingText(paths)
    case .noMessage: return "the input is empty"
    case .severalMessages: return "the input contains more than one message"
    case .utf16: return SplitError.utf16.description
    }
  }

  /// A suggestion, if there is one.
  package var hint: String? {
    switch reason {
    case .text(let error): error.hint
    case .utf16: SplitError.utf16.hint
    default: nil
    }
  }
}
