import RPCurlBase

/// Reads text format into messages.
struct TextParser: ~Copyable {
  var scanner: TextScanner
  let options: TextDecodingOptions

  static func parse(
    _ text: UnsafeRawBufferPointer, type: MessageNode, options: TextDecodingOptions
  ) throws(MessageParseError) -> Message {
    var parser = TextParser(scanner: TextScanner(text), options: options)
    do throws(ReadFailure) {
      let message = try parser.empty(type, at: 0)
      try parser.fields(of: message, until: nil, depth: 0)
      let missing = options.allowPartial ? [] : Message(storage: message).missingRequiredFields()
      guard missing.isEmpty else { throw parser.scanner.failure(.missingRequired(missing), at: 0) }
      return Message(storage: message)
    } catch {
      throw MessageParseError(error, in: text, format: .text)
    }
  }

  private func empty(_ type: MessageNode, at offset: Int) throws(ReadFailure) -> MessageStorage {
    do { return MessageStorage(type, try type.table()) } catch {
      throw scanner.failure(.schema(error), at: offset)
    }
  }

  // MARK: Messages

  /// The fields of a message read so far.
  private struct Seen {
    var fields = SmallSet()
    var oneofs = SmallSet()
  }

  /// Reads fields up to and including `end`, or to the end of the text.
  private mutating func fields(
    of message: MessageStorage, until end: UInt8?, depth: Int
  ) throws(ReadFailure) {
    var seen = Seen()
    while true {
      if scanner.isAtEnd {
        if end == nil { return }
        throw scanner.failure(.unexpectedEnd)
      }
      if let end, scanner.accept(end) { return }
      try fieldOrAny(of: message, &seen, depth: depth)
      scanner.skipSeparator()
    }
  }

  private mutating func fieldOrAny(
    of message: MessageStorage, _ seen: inout Seen, depth: Int
  ) throws(ReadFailure) {
    _ = scanner.peek()
    let start = scanner.position
    if scanner.accept(UInt8(ascii: "[")) {
      let name = try scanner.bracketedName()
      if name.utf8.contains(UInt8(ascii: "/")) {
        return try any(name, in: message, &seen, at: start, depth: depth)
      }
      guard let field = try extensionField(name, of: message.type, at: start) else {
        return try skipField(depth: depth)
      }
      return try self.field(field, of: message, &seen, at: start, name: "[\(name)]", depth: depth)
    }
    if scanner.seesNumber() {
      try fieldNumber()
      return try skipField(depth: depth)
    }
    let name = try scanner.identifier()
    guard let field = try field(named: name, of: message.table, at: start) else {
      return try skipField(depth: depth)
    }
    try self.field(field, of: message, &seen, at: start, name: field.name, depth: depth)
  }

  /// The field with a name; nil if it is to be skipped, such as a reserved name.
  func field(
    named name: UnsafeRawBufferPointer, of table: MessageTable, at offset: Int
  ) throws(ReadFailure) -> FieldNode? {
    if let field = table.field(named: name), sameBytes(field.plan.pointee.protoKey.name, name) {
      return field
    }
    let text = String(decoding: name, as: UTF8.self)
    // A JSON name may hide another field's name, and groups have the names of their types.
    if let field = table.field(otherTextName: text) { return field }
    if options.allowUnknownFields || table.reservedNames.contains(text) { return nil }
    let nearest = EditDistance.nearest(to: text, among: table.fields.map { $0.textName(in: table.name) })
    throw scanner.failure(.unknownField(name: text, type: table.name, nearest: nearest), at: offset)
  }

  /// The extension with a name; nil if it is to be skipped.
  func extensionField(
    _ name: String, of type: MessageNode, at offset: Int
  ) throws(ReadFailure) -> FieldNode? {
    let pool = type.pool
    do throws(SchemaError) {
      if let field = try pool.extensionField(named: name),
        try pool.extensionField(of: type.name, number: field.number) === field
      {
        return field
      }
      if try type.table().isMessageSet, let item = try pool.item(name, of: type.name) { return item }
    } catch {
      throw scanner.failure(.schema(error), at: offset)
    }
    if options.allowUnknownFields { return nil }
    throw scanner.failure(.unknownExtension(name: name, type: type.name), at: offset)
  }

  /// Reads `{ … }` or `< … >`.
  mutating func message(_ type: MessageNode, depth: Int) throws(ReadFailure) -> Message {
    _ = scanner.peek()
    let start = scanner.position
    guard depth <= nestingLimit else { throw scanner.failure(.tooDeep) }
    guard let end = scanner.openMessage() else {
      throw scanner.wrongType("a message (\(type.name))")
    }
    let message = try empty(type, at: start)
    try fields(of: message, until: end, depth: depth)
    return Message(storage: message)
  }

  // MARK: Any

  /// Reads the message that follows `[type.googleapis.com/pkg.Name]` in an Any.
  private mutating func any(
    _ url: String, in message: MessageStorage, _ seen: inout Seen, at start: Int, depth: Int
  ) throws(ReadFailure) {
    guard message.table.wellKnown == .any else {
      throw scanner.failure(.notAnAny(message.type.name), at: start)
    }
    let fields = message.table.fields
    guard seen.fields.insert(1), seen.fields.insert(2) else {
      throw scanner.failure(.duplicateField("[\(url)]"), at: start)
    }
    let name = AnyOutline.typeName(url)
    let type: MessageNode?
    do { type = try message.type.pool.messageType(named: name) } catch {
      throw scanner.failure(.schema(error), at: start)
    }
    guard let type else { throw scanner.failure(message.type.pool.unknownType(name), at: start) }
    _ = scanner.accept(UInt8(ascii: ":"))
    let content: Message
    do throws(ReadFailure) { content = try self.message(type, depth: depth + 1) } catch {
      throw error.inside("[\(url)]")
    }
    message[fields[0]] = .single(.string(url))
    message[fields[1]] = .single(.bytes(content.serialized()))
  }

  // MARK: Fields

  private mutating func field(
    _ field: FieldNode, of message: MessageStorage, _ seen: inout Seen, at start: Int, name: String,
    depth: Int
  ) throws(ReadFailure) {
    if !field.isRepeated {
      guard seen.fields.insert(Int(field.number)) else {
        throw scanner.failure(.duplicateField(name), at: start)
      }
      if let oneof = field.oneofIndex, !seen.oneofs.insert(oneof) {
        let table = message.table
        let other = table.fields.first { other in
          if case .single? = other.oneofIndex == oneof ? message[other] : nil { true } else { false }
        }
        throw scanner.failure(
          .oneofConflict(oneof: table.oneofs[oneof].name, first: other?.name ?? name, second: name), at: start
        ).inside(field.pathName)
      }
    }
    let hasColon = scanner.accept(UInt8(ascii: ":"))
    guard hasColon || field.kind.isMessage else { throw scanner.expected("\":\"").inside(field.pathName) }
    do throws(ReadFailure) {
      guard field.isRepeated else {
        message[field] = .single(try value(of: field, depth: depth))
        return
      }
      try elements(of: field, in: message, depth: depth)
    } catch {
      throw error.inside(field.pathName)
    }
  }

  /// Reads one element of a list or a map, or several in brackets.
  private mutating func elements(
    of field: FieldNode, in message: MessageStorage, depth: Int
  ) throws(ReadFailure) {
    guard scanner.accept(UInt8(ascii: "[")) else {
      return try element(of: field, in: message, depth: depth)
    }
    var count = 0
    while try scanner.nextElement(after: count) {
      try element(of: field, in: message, depth: depth)
      count += 1
    }
  }

  private mutating func element(
    of field: FieldNode, in message: MessageStorage, depth: Int
  ) throws(ReadFailure) {
    if field.isMap { return try entry(of: field, in: message, depth: depth) }
    var values: [Value] = []
    if case .list(let earlier) = message[field] {
      values = earlier
      message[field] = .none
    }
    do throws(ReadFailure) { values.append(try value(of: field, depth: depth)) } catch {
      throw error.inside("[\(values.count)]")
    }
    message[field] = .list(values)
  }

  private mutating func entry(of field: FieldNode, in message: MessageStorage, depth: Int) throws(ReadFailure)
  {
    guard let type = field.messageType, let keyField = field.mapKey, let valueField = field.mapValue else {
      return
    }
    let entry = try self.message(type, depth: depth + 1).storage
    var key = DefaultValue.zero(of: keyField)
    var value = DefaultValue.zero(of: valueField)
    for part in entry.table.fields {
      guard case .single(let stated) = entry[part] else { continue }
      if part.number == 1 { key = stated } else { value = stated }
    }
    if value == nil, let type = valueField.messageType {
      value = .message(Message(storage: try empty(type, at: scanner.position)))
    }
    guard let key, let mapKey = MapKey(key), let value else { return }
    var entries: [MapKey: Value] = [:]
    if case .map(let earlier) = message[field] {
      entries = earlier
      message[field] = .none
    }
    entries[mapKey] = value
    message[field] = .map(entries)
  }
}
