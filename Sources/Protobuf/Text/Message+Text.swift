extension Message {
  /// Reads a message from text format, in memory of no more than 100 times its length.
  public init(
    _ type: MessageType, text: [UInt8], options: TextDecodingOptions = TextDecodingOptions()
  ) throws(TextError) {
    self = try text.withUnsafeBufferPointer { (bytes) throws(TextError) in
      try TextParser.parse(UnsafeRawBufferPointer(bytes), type: type.node, options: options)
    }
  }

  /// Reads a message from text format, in memory of no more than 100 times its length.
  public init(
    _ type: MessageType, text: String, options: TextDecodingOptions = TextDecodingOptions()
  ) throws(TextError) {
    self = try Message(type, text: Array(text.utf8), options: options)
  }

  /// The message in text format, as UTF-8.
  public func text(options: TextEncodingOptions = TextEncodingOptions()) -> [UInt8] {
    TextPrinter.print(self, options: options)
  }
}

extension FieldNode {
  /// The name in brackets of an extension.
  ///
  /// An item of a message set that is declared in the message that it holds goes by the name of this message.
  func textExtensionName(of table: MessageTable) -> String {
    guard table.isMessageSet, kind == .message, !isRepeated, let type = messageType?.name,
      fullName.hasPrefix(type + "."), !fullName.dropFirst(type.count + 1).contains(".")
    else { return jsonName }
    return "[\(type)]"
  }

  /// The name in text format, where `owner` is the message type that has the field.
  ///
  /// What `group Name = 1 { … }` declares has the name of the type that it declares with it.
  func textName(in owner: String) -> String {
    guard kind == .group, let type = messageType?.name else { return name }
    let start = type.utf8.lastIndex(of: UInt8(ascii: ".")).map { type.index(after: $0) } ?? type.startIndex
    let simpleName = type[start...]
    guard simpleName.lowercased() == name else { return name }
    let scope = owner.isEmpty ? "" : owner + "."
    return type[..<start] == scope ? String(simpleName) : name
  }
}
