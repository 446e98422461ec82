import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf

/// Prints only a field of each converted message (`--filter`).
struct ConvertFilter {
  /// How the field is found.
  private enum Selector {
    case path(FieldFilter)
    /// Without a schema, by numbers.
    case numbers(NumberSelector)
  }

  private let selector: Selector
  private let type: MessageType
  private let text: String
  private let missing: FieldFilter.MissingAction
  /// Whether bytes are written as they are (`--raw`).
  let isRaw: Bool
  /// The line with the names of the columns; nil without one.
  var head: String? { if case .path(let filter) = selector { filter.head } else { nil } }

  /// Creates a filter; returns nil if `--filter` is not given.
  ///
  /// - Parameters:
  ///   - options: The options.
  ///   - type: The type of the messages.
  ///   - hasSchema: Whether fields have names.
  /// - Throws: `Failure` if the path is invalid.
  init?(_ options: Invocation, of type: MessageType, hasSchema: Bool) throws(Failure) {
    let arguments = options.all(.filter)
    let argument = arguments.first
    text = argument?.text ?? ""
    isRaw = options.has(.raw)
    missing = options.choice(.filterMissing) ?? .fail
    self.type = type
    if !hasSchema, let filter = argument {
      guard arguments.count == 1 else {
        throw Failure(.usage, "--no-schema", "one field is printed, but \(arguments.count) are given")
      }
      guard let numbers = NumberSelector(try FieldFilter.path(filter)) else {
        throw Failure(
          .usage, "--filter \(text)", "not a path of field numbers", hint: "use a path such as 3[0].1")
      }
      selector = .numbers(numbers)
    } else {
      guard let filter = try FieldFilter(FieldFilter.settings(options), of: type) else {
        return nil
      }
      selector = .path(filter)
    }
  }

  /// Appends the field of a message.
  ///
  /// - Parameters:
  ///   - message: The message, serialized.
  ///   - index: Its index in the input.
  ///   - options: The options of JSON.
  ///   - escapesControls: Whether control characters of strings are escaped.
  ///   - out: Receives the text.
  /// - Returns: Whether a string that is not UTF-8 was written with replacement characters.
  /// - Throws: `Failure` if the message lacks the field.
  func append(
    _ message: RawSpan, at index: Int, _ options: JSONEncodingOptions, escapesControls: Bool,
    to out: inout [UInt8]
  ) throws -> Bool {
    switch selector {
    case .path(let filter):
      return try filter.append(
        Message(type, serialized: message), named: "message \(index + 1)", options: options,
        escapesControls: escapesControls, to: &out)
    case .numbers(let numbers):
      let values = try numbers.append(message, options: isRaw ? nil : options, to: &out)
      guard values.refused == 0 else {
        throw Failure(
          .assertion, "--filter \(text) --raw", "message \(index + 1) has a number there, which has no bytes")
      }
      guard values.found == 0 else { return false }
      switch missing {
      case .fail:
        throw Failure(
          .assertion, "--filter \(text)", "message \(index + 1) has no such field",
          hint: "--filter-missing skip, or null, accepts such messages")
      case .null: out += "null\n".utf8
      case .skip: break
      }
      return false
    }
  }
}
