/// Writes messages in text format.
struct TextPrinter: ~Copyable {
  var out = OutputBuffer()
  let options: TextEncodingOptions
  var indentation = 0
  private var isFirst = true

  private init(options: TextEncodingOptions) { self.options = options }

  static func print(_ message: Message, options: TextEncodingOptions) -> [UInt8] {
    var serialized = OutputBuffer()
    BinaryEncoder.encode(message.storage, into: &serialized)
    var out = OutputBuffer()
    serialized.withBytes { print(canonical: $0, type: message.storage.type, options: options, into: &out) }
    return out.copyBytes()
  }

  /// Appends the text of a canonical serialized message.
  static func print(
    canonical bytes: UnsafeRawBufferPointer, type: MessageNode, options: TextEncodingOptions,
    into buffer: inout OutputBuffer
  ) {
    var printer = TextPrinter(options: options)
    swap(&printer.out, &buffer)
    // Canonical bytes are valid, and so is their schema.
    if let plan = try? type.pointerToPlan() { try? printer.message(plan, WireReader(bytes), depth: 0) }
    swap(&printer.out, &buffer)
  }

  // MARK: Layout

  /// Starts a field: a new line, or a space.
  mutating func startField() {
    if options.singleLine {
      if !isFirst { out.append(UInt8(ascii: " ")) }
      isFirst = false
    } else {
      out.reserve(2 * indentation)
      for _ in 0..<2 * indentation { out.appendReserved(0x20) }
    }
  }

  mutating func endLine() {
    if !options.singleLine { out.append(UInt8(ascii: "\n")) }
  }

  private mutating func open() {
    out.append(" {")
    endLine()
    indentation += 1
  }

  mutating func close() {
    indentation -= 1
    startField()
    out.append(UInt8(ascii: "}"))
    endLine()
  }

  // MARK: Messages

  private mutating func message(_ plan: PlanPointer, _ fields: WireReader, depth: Int) throws(DecodeError) {
    if options.expandAny, plan.pointee.wellKnown == .any, any(plan, fields, depth: depth) { return }
    var reader = fields
    while !reader.isAtEnd {
      let rest = reader
      guard try field(plan, &reader, depth: depth) else {
        // All fields that follow are unknown too.
        if options.unknownFields { unknown(rest, isMessageSet: plan.pointee.isMessageSet) }
        return
      }
    }
  }

  /// Prints the next value of a field, or its packed elements; false, with nothing printed, if it is unknown.
  private mutating func field(
    _ plan: PlanPointer, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    let tag = try reader.tag()
    if plan.pointee.isMessageSet, tag == MessageSet.itemStart {
      let group = try reader.group(tag.number, depth: 0)
      guard let (number, content) = try MessageSet.item(group, depth: 0),
        let field = try plan.pointee.extensionPlan(number), field.pointee.kind == .message,
        !field.pointee.isRepeated
      else { return false }
      startField()
      name(field, in: plan)
      try nested(field, content, depth: depth)
      return true
    }
    guard let field = try CanonicalWriter.field(tag, of: plan) else { return false }
    if field.pointee.isMap { return try entry(field, plan, reader.nested(), depth: depth) }
    if tag == field.pointee.elementTag { return try value(field, plan, &reader, depth: depth) }
    var content = try reader.nested()
    while !content.isAtEnd { _ = try value(field, plan, &content, depth: depth) }
    return true
  }

  /// Prints a value with the name of its field; false, with nothing printed, for an unknown number of a closed enum.
  private mutating func value(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    if field.pointee.flags.contains(.hasClosedEnum) {
      var ahead = reader
      if field.isUnknownEnum(try ahead.varint()) { return false }
    }
    startField()
    name(field, in: plan)
    switch field.pointee.kind {
    case .message: try nested(field, reader.nested(), depth: depth)
    case .group: try nested(field, reader.group(field.pointee.number, depth: 0), depth: depth)
    default:
      out.append(": ")
      try scalar(field, &reader)
      endLine()
    }
    return true
  }

  private mutating func name(_ field: FieldPointer, in plan: PlanPointer) {
    let isPlain = field.pointee.kind != .group && field.pointee.slot >= 0
    if isPlain { return out.append(field.pointee.protoKey.name) }
    let node = field.pointee.field
    out.append(
      node.isExtension
        ? node.textExtensionName(of: plan.pointee.table) : node.textName(in: plan.pointee.table.name))
  }

  private mutating func nested(_ field: FieldPointer, _ content: WireReader, depth: Int) throws(DecodeError) {
    open()
    try message(field.planOfMessage(), content, depth: depth + 1)
    close()
  }

  /// Prints an entry of a map; false, with nothing printed, if its value is an unknown number of a closed enum.
  private mutating func entry(
    _ field: FieldPointer, _ plan: PlanPointer, _ fields: WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    let (_, valueField) = field.partsOfMap()
    if valueField.pointee.flags.contains(.hasClosedEnum) {
      var ahead = fields
      var number: UInt64 = 0
      while !ahead.isAtEnd {
        let tag = try ahead.tag()
        if tag == valueField.pointee.elementTag {
          number = try ahead.varint()
        } else {
          try ahead.skip(tag, depth: 0)
        }
      }
      if valueField.isUnknownEnum(number) { return false }
    }
    startField()
    name(field, in: plan)
    open()
    try message(field.planOfMessage(), fields, depth: depth + 1)
    close()
    return true
  }

  private mutating func scalar(_ field: FieldPointer, _ reader: inout WireReader) throws(DecodeError) {
    switch field.pointee.kind {
    case .string:
      let bytes = try reader.lengthDelimited()
      TextEscapes.append(bytes, isText: UTF8Validation.isValid(bytes), to: &out)
    case .bytes: TextEscapes.append(try reader.lengthDelimited(), isText: false, to: &out)
    default: number(field, try WireToJSON.read(field, &reader))
    }
  }

  private mutating func number(_ field: FieldPointer, _ bits: UInt64) {
    switch field.pointee.kind {
    case .bool: out.append(bits != 0 ? "true" : "false" as StaticString)
    case .uint64, .fixed64: JSONText.appendInteger(bits, to: &out)
    case .float:
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
      if value.isFinite { JSONText.append(value, to: &out) } else { special(Double(value)) }
    case .double:
      let value = Double(bitPattern: bits)
      if value.isFinite { JSONText.append(value, to: &out) } else { special(value) }
    case .enumeration:
      let number = Int32(truncatingIfNeeded: bits)
      let type = field.pointee.enumType
      if let key = type?._withUnsafeGuaranteedRef({ $0.key(of: number) }) {
        out.append(key.name)
      } else if let name = type?._withUnsafeGuaranteedRef({ $0.name(of: number) }) {
        out.append(name)
      } else {
        JSONText.appendInteger(Int64(number), to: &out)
      }
    default: JSONText.appendInteger(Int64(bitPattern: bits), to: &out)
    }
  }

  mutating func special(_ value: Double) {
    out.append(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf" as StaticString)
  }

  // MARK: Any

  /// Writes an Any as its message; false if its type is unknown or its value is not of this type.
  private mutating func any(_ plan: PlanPointer, _ fields: WireReader, depth: Int) -> Bool {
    guard depth < nestingLimit, let parts = try? anyParts(plan, fields), TextScanner.isTypeURL(parts.url),
      let type = try? plan.pointee.type.takeUnretainedValue().pool.messageType(
        named: AnyOutline.typeName(String(decoding: parts.url, as: UTF8.self)))
    else { return false }
    var content = OutputBuffer()
    do throws(DecodeError) {
      _ = try CanonicalWriter.rewrite(parts.value, type: type, into: &content)
    } catch {
      return false
    }
    startField()
    out.append(UInt8(ascii: "["))
    out.append(parts.url)
    out.append(UInt8(ascii: "]"))
    open()
    content.withBytes { bytes in
      if let plan = try? type.pointerToPlan() { try? message(plan, WireReader(bytes), depth: depth + 1) }
    }
    close()
    return true
  }

  /// The type URL and the value of an Any; nil if it has unknown fields.
  private func anyParts(
    _ plan: PlanPointer, _ fields: WireReader
  ) throws(DecodeError) -> (url: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
    guard plan.pointee.count >= 2 else { return nil }
    var reader = fields
    var parts = (
      url: UnsafeRawBufferPointer(start: nil, count: 0), value: UnsafeRawBufferPointer(start: nil, count: 0)
    )
    while !reader.isAtEnd {
      let tag = try reader.tag()
      if tag == plan.pointee.fields[0].elementTag {
        parts.url = try reader.lengthDelimited()
      } else if tag == plan.pointee.fields[1].elementTag {
        parts.value = try reader.lengthDelimited()
      } else {
        return nil
      }
    }
    return parts
  }
}
