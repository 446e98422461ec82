/// Why an input cannot be converted.
package struct ConversionError: Error, Equatable, Sendable {
  /// The cause of the error.
  package enum Reason: Equatable, Sendable {
    /// A message that is not in JSON or text format, or not of its type; or binary messages that do not follow each other.
    case text(MessageParseError)
    /// Bytes that are not a message of the type, or that have no JSON form.
    case binary(DecodeError)
    /// Required fields that are not set, as paths.
    case missingRequired([String])
    /// The input contains no message.
    case noMessage
    /// The input contains several messages, and the output can contain only one.
    case severalMessages
  }

  /// The cause of the error.
  package internal(set) var reason: Reason
  /// The index of the message in the input, from 0.
  package internal(set) var messageIndex = 0
  /// For an input with lines, the text around the error as far as it is available, and the error's offset in
  /// it.
  package internal(set) var surroundings: (text: [UInt8], offset: Int)?

  init(_ reason: Reason) { self.reason = reason }

  /// The error of a message with this index, in an input that contains it at a place.
  func moved(to place: TextPosition, messageIndex: Int) -> ConversionError {
    var error = self
    error.messageIndex = messageIndex
    switch reason {
    case .text(let text): error.reason = .text(text.moved(to: place))
    case .binary(let binary): error.reason = .binary(binary.moved(by: place.byteOffset))
    case .missingRequired, .noMessage, .severalMessages: break
    }
    return error
  }
}

extension ConversionError {
  /// The position in an input with lines.
  package var position: TextPosition? {
    if case .text(let error) = reason, error.hasLine { error.position } else { nil }
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
    case .text(let error): return (error.hasLine ? "" : place) + error.description
    case .binary(let error): return place + error.description
    case .missingRequired(let paths): return place + missingText(paths)
    case .noMessage: return "the input is empty"
    case .severalMessages: return "the input contains more than one message"
    }
  }

  /// A suggestion, if there is one.
  package var hint: String? {
    if case .text(let error) = reason { error.hint } else { nil }
  }
}
