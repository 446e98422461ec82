/// Writes messages in text format.
struct TextPrinter: ~Copyable {
  private var out = OutputBuffer()
  private let options: TextEncodingOptions
  private var indentation = 0
  private var isFirst = true

  private init(options: TextEncodingOptions) { self.options = options }

  static func print(_ message: Message, options: TextEncodingOptions) -> [UInt8] {
    var printer = TextPrinter(options: options)
    printer.message(message.storage, depth: 0)
    return printer.out.copyBytes()
  }

  // MARK: Layout

  /// Starts a field: a new line, or a space.
  private mutating func startField() {
    if options.singleLine {
      if !isFirst { out.append(UInt8(ascii: " ")) }
      isFirst = false
    } else {
      for _ in 0..<indentation { out.append("  ") }
    }
  }

  private mutating func endLine() {
    if !options.singleLine { out.append(UInt8(ascii: "\n")) }
  }

  private mutating func open() {
    out.append(" {")
    endLine()
    indentation += 1
  }

  private mutating func close() {
    indentation -= 1
    startField()
    out.append(UInt8(ascii: "}"))
    endLine()
  }

  // MARK: Messages

  private mutating func message(_ message: MessageStorage, depth: Int) {
    if options.expandAny, any(message, depth: depth) { return }
    message.forEachPresent { field, value in self.field(field, value, of: message, depth: depth) }
    if options.unknownFields {
      message.unknown.withUnsafeBytes { unknown(WireReader($0), isMessageSet: message.table.isMessageSet) }
    }
  }

  private mutating func field(
    _ field: FieldNode, _ value: FieldStorage, of message: MessageStorage, depth: Int
  ) {
    let name =
      field.isExtension ? field.textExtensionName(of: message.table) : field.textName(in: message.table.name)
    switch value {
    case .none: break
    case .single(let value): self.value(value, field, name, depth: depth)
    case .list(let values): for value in values { self.value(value, field, name, depth: depth) }
    case .map(let entries):
      guard let keyField = field.mapKey, let valueField = field.mapValue else { return }
      for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
        startField()
        out.append(name)
        open()
        self.value(key.value(kind: keyField.kind), keyField, "key", depth: depth + 1)
        self.value(value, valueField, "value", depth: depth + 1)
        close()
      }
    }
  }

  private mutating func value(_ value: Value, _ field: FieldNode, _ name: String, depth: Int) {
    startField()
    out.append(name)
    if case .message(let nested) = value {
      open()
      message(nested.storage, depth: depth + 1)
      close()
    } else {
      out.append(": ")
      scalar(value, field)
      endLine()
    }
  }

  private mutating func scalar(_ value: Value, _ field: FieldNode) {
    switch value {
    case .bool(let value): out.append(value ? "true" : "false" as StaticString)
    case .int32(let value): JSONText.appendInteger(Int64(value), to: &out)
    case .int64(let value): JSONText.appendInteger(value, to: &out)
    case .uint32(let value): JSONText.appendInteger(UInt64(value), to: &out)
    case .uint64(let value): JSONText.appendInteger(value, to: &out)
    case .float(let value):
      if value.isFinite { JSONText.append(value, to: &out) } else { special(Double(value)) }
    case .double(let value):
      if value.isFinite { JSONText.append(value, to: &out) } else { special(value) }
    case .string(var text):
      text.withUTF8 { TextEscapes.append(UnsafeRawBufferPointer($0), isText: true, to: &out) }
    case .bytes(let bytes): bytes.withUnsafeBytes { TextEscapes.append($0, isText: false, to: &out) }
    case .enum(let number):
      if let name = field.enumType?.name(of: number) {
        out.append(name)
      } else {
        JSONText.appendInteger(Int64(number), to: &out)
      }
    case .message: break
    }
  }

  private mutating func special(_ value: Double) {
    out.append(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf" as StaticString)
  }

  // MARK: Any

  /// Writes an Any as the message that it holds; false when its type is not known or its value is not of this type.
  private mutating func any(_ message: MessageStorage, depth: Int) -> Bool {
    guard message.table.wellKnown == .any, message.unknown.isEmpty, depth < nestingLimit,
      case .single(.string(let url)) = message[slot: 0], url.utf8.contains(UInt8(ascii: "/")),
      url.utf8.allSatisfy(TextScanner.isURLByte)
    else { return false }
    var bytes: [UInt8] = []
    if case .single(.bytes(let stored)) = message[slot: 1] { bytes = stored }
    guard let type = try? message.type.pool.messageType(named: AnyOutline.typeName(url)),
      let content = try? Message(MessageType(type), serialized: bytes)
    else { return false }
    startField()
    out.append(UInt8(ascii: "["))
    out.append(url)
    out.append(UInt8(ascii: "]"))
    open()
    self.message(content.storage, depth: depth + 1)
    close()
    return true
  }

  // MARK: Unknown fields

  /// How deep length-delimited unknown fields are taken for messages.
  private static let guessingLimit = 10

  private mutating func unknown(
    _ fields: WireReader, isMessageSet: Bool, budget: Int = TextPrinter.guessingLimit
  ) {
    var reader = fields
    while !reader.isAtEnd, let tag = try? reader.tag() {
      startField()
      if isMessageSet, tag == MessageSet.itemStart, let item = try? setItem(&reader) {
        nested(item.content, number: item.number, budget: budget)
      } else if !unknownField(tag, &reader, budget: budget) {
        return
      }
    }
  }

  private func setItem(_ reader: inout WireReader) throws -> (number: UInt32, content: WireReader)? {
    var ahead = reader
    let content = try ahead.group(MessageSet.itemStart.number, depth: 0)
    guard let item = try MessageSet.item(content, depth: 0) else { return nil }
    reader = ahead
    return item
  }

  private mutating func unknownField(_ tag: Tag, _ reader: inout WireReader, budget: Int) -> Bool {
    switch tag.wireType {
    case .varint:
      guard let value = try? reader.varint() else { return false }
      number(tag)
      JSONText.appendInteger(value, to: &out)
    case .fixed32:
      guard let value = try? reader.fixed32() else { return false }
      number(tag)
      hexadecimal(UInt64(value), digits: 8)
    case .fixed64:
      guard let value = try? reader.fixed64() else { return false }
      number(tag)
      hexadecimal(value, digits: 16)
    case .lengthDelimited:
      guard let content = try? reader.nested() else { return false }
      if !content.isAtEnd, budget > 0, TextPrinter.isMessage(content) {
        nested(content, number: tag.number, budget: budget - 1)
        return true
      }
      number(tag)
      TextEscapes.append(
        UnsafeRawBufferPointer(start: content.cursor, count: content.remaining), isText: false, to: &out)
    case .startGroup:
      guard let content = try? reader.group(tag.number, depth: 0) else { return false }
      nested(content, number: tag.number, budget: budget)
      return true
    case .endGroup: return false
    }
    endLine()
    return true
  }

  private mutating func number(_ tag: Tag) {
    JSONText.appendInteger(UInt64(tag.number), to: &out)
    out.append(": ")
  }

  private mutating func nested(_ content: WireReader, number: UInt32, budget: Int) {
    JSONText.appendInteger(UInt64(number), to: &out)
    open()
    unknown(content, isMessageSet: false, budget: budget)
    close()
  }

  /// Whether bytes can be read as a message.
  private static func isMessage(_ content: WireReader) -> Bool {
    var reader = content
    do throws(DecodeError) {
      while !reader.isAtEnd { try reader.skip(try reader.tag(), depth: 0) }
      return true
    } catch {
      return false
    }
  }

  private mutating func hexadecimal(_ value: UInt64, digits: Int) {
    out.append("0x")
    for position in stride(from: digits - 1, through: 0, by: -1) {
      let digit = UInt8(truncatingIfNeeded: value >> UInt64(4 * position) & 15)
      out.append(digit < 10 ? 48 + digit : 87 + digit)
    }
  }
}
