/// Why an input cannot be converted.
public struct ConversionError: Error, Equatable, Sendable {
  /// What is wrong.
  public enum Reason: Equatable, Sendable {
    /// A message that is not the JSON of its type.
    case json(JSONError)
    /// A message that is not in text format, or not of its type.
    case text(TextError)
    /// Bytes that are not a message of the type, or that have no JSON form.
    case binary(DecodeError)
    /// The input ends within a message or its length.
    case truncated(byteOffset: Int)
    /// What should be the length of a message is none.
    case invalidLength(byteOffset: Int)
    /// A message longer than the limit.
    case tooLong(limitBytes: Int, byteOffset: Int)
    /// Required fields that are not set, by their paths.
    case missingRequired([String])
    /// The input holds no message.
    case noMessage
    /// The input holds more than one message, and the output has no room for them.
    case severalMessages
  }

  /// What is wrong.
  public var reason: Reason
  /// The message of the input, counted from 0.
  public var messageIndex: Int
  /// What is around the place in an input that has lines, as far as it is at hand, and the place in it.
  public internal(set) var surroundings: (text: [UInt8], offset: Int)?

  init(_ reason: Reason, messageIndex: Int) {
    self.reason = reason
    self.messageIndex = messageIndex
  }
}

extension ConversionError {
  /// Where it is, in an input that has lines.
  public var position: JSONPosition? {
    switch reason {
    case .json(let error): error.position
    case .text(let error): error.position
    default: nil
    }
  }

  /// Whether both are the same, whatever is around them.
  public static func == (one: ConversionError, other: ConversionError) -> Bool {
    one.reason == other.reason && one.messageIndex == other.messageIndex
  }
}

extension ConversionError: CustomStringConvertible {
  /// The text that is shown to a person.
  public var description: String {
    // Where the text of a message has lines, they say which message it is.
    let place = messageIndex == 0 ? "" : "message \(messageIndex + 1): "
    switch reason {
    case .json(let error): return error.description
    case .text(let error): return error.description
    case .binary(let error): return place + error.description
    case .truncated(let offset): return place + "the input ends within a message (byte \(offset))"
    case .invalidLength(let offset):
      return place + "expected the length of a message at byte \(offset); are the messages delimited?"
    case .tooLong(let limit, let offset): return place + "longer than \(limit) bytes (byte \(offset))"
    case .missingRequired(let paths): return place + missingText(paths)
    case .noMessage: return "the input is empty"
    case .severalMessages: return "the input holds more than one message"
    }
  }

  /// What to try, if there is something.
  public var hint: String? {
    switch reason {
    case .json(let error): error.hint
    case .text(let error): error.hint
    default: nil
    }
  }
}
