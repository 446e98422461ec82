extension Message {
  /// Parses a message from text format. Uses at most 100 times the text's length in memory.
  ///
  /// - Parameters:
  ///   - type: The type of the message.
  ///   - text: The text, in UTF-8.
  ///   - options: What is accepted besides.
  /// - Throws: ``MessageParseError`` if the text is invalid, or does not fit the type.
  public init(
    _ type: MessageType, text: [UInt8], options: TextDecodingOptions = TextDecodingOptions()
  ) throws(MessageParseError) {
    self = try text.withUnsafeBufferPointer { (bytes) throws(MessageParseError) in
      try TextParser.parse(UnsafeRawBufferPointer(bytes), type: type.node, options: options)
    }
  }

  /// Parses a message from text format. Uses at most 100 times the text's length in memory.
  ///
  /// - Parameters:
  ///   - type: The type of the message.
  ///   - text: The text, in UTF-8.
  ///   - options: What is accepted besides.
  /// - Throws: ``MessageParseError`` if the text is invalid, or does not fit the type.
  public init(
    _ type: MessageType, text: String, options: TextDecodingOptions = TextDecodingOptions()
  ) throws(MessageParseError) {
    self = try Message(type, text: Array(text.utf8), options: options)
  }

  /// The message in text format, as UTF-8.
  ///
  /// - Parameter options: The form of the text.
  public func text(options: TextEncodingOptions = TextEncodingOptions()) -> [UInt8] {
    TextPrinter.print(self, options: options)
  }
}

extension MessageType {
  /// Appends the text format of a serialized message, as ``Message/text(options:)`` writes it, without building the
  /// message. On an error nothing is appended.
  package func appendText(
    of serialized: RawSpan, options: TextEncodingOptions, to out: inout OutputBuffer
  ) throws(DecodeError) {
    try serialized.withUnsafeBytes { (bytes) throws(DecodeError) in
      _ = try TextPrinter.print(bytes, type: node, options: options, into: &out)
    }
  }
}

extension FieldNode {
  /// The name of an extension in brackets.
  ///
  /// An item of a message set that is declared in its own message has the name of this message.
  func textExtensionName(of table: MessageTable) -> String {
    guard table.isMessageSet, kind == .message, !isRepeated, let type = messageType?.name,
      fullName.hasPrefix(type + "."), !fullName.dropFirst(type.count + 1).contains(".")
    else { return jsonName }
    return "[\(type)]"
  }

  /// The name in text format, where `owner` is the message type of the field.
  ///
  /// A field declared by `group Name = 1 { … }` has the name of its type.
  func textName(in owner: String) -> String {
    guard kind == .group, let type = messageType?.name else { return name }
    let start = type.utf8.lastIndex(of: UInt8(ascii: ".")).map { type.index(after: $0) } ?? type.startIndex
    let simpleName = type[start...]
    guard simpleName.lowercased() == name else { return name }
    let scope = owner.isEmpty ? "" : owner + "."
    return type[..<start] == scope ? String(simpleName) : name
  }
}
