/// Writes messages in text format.
struct TextPrinter: ~Copyable {
  var out = OutputBuffer()
  let options: TextEncodingOptions
  var indentation = 0
  private var isFirst = true

  /// Whether the bytes are in canonical form, so that their order needs no check.
  private let isCanonical: Bool

  private init(options: TextEncodingOptions, isCanonical: Bool) {
    self.options = options
    self.isCanonical = isCanonical
  }

  static func print(_ message: Message, options: TextEncodingOptions) -> [UInt8] {
    var serialized = OutputBuffer()
    BinaryEncoder.encode(message.storage, into: &serialized)
    var out = OutputBuffer()
    // What the encoder writes is valid.
    serialized.withBytes {
      try? print(canonical: $0, type: message.storage.type, options: options, into: &out)
    }
    return out.copyBytes()
  }

  /// Appends the text of a serialized message; nothing on an error. Returns whether required fields are missing.
  ///
  /// Messages in canonical order, as most are, are printed as they are read. Others are rewritten first.
  static func print(
    _ bytes: UnsafeRawBufferPointer, type: MessageNode, options: TextEncodingOptions,
    into buffer: inout OutputBuffer
  ) throws(DecodeError) -> Bool {
    let start = buffer.count
    do throws(DecodeError) {
      buffer.reserve(bytes.count * 3)
      try print(bytes, type: type, options: options, isCanonical: false, into: &buffer)
      return false
    } catch {
      // The canonical writer finds the place of the error, if it is one.
      buffer.truncate(to: start)
    }
    var canonical = OutputBuffer()
    let lacksRequired = try CanonicalWriter.rewrite(
      bytes, type: type, unknownFields: options.unknownFields ? .show : .drop, into: &canonical)
    try canonical.withBytes { (bytes) throws(DecodeError) in
      try print(canonical: bytes, type: type, options: options, into: &buffer)
    }
    return lacksRequired
  }

  private static func print(
    canonical bytes: UnsafeRawBufferPointer, type: MessageNode, options: TextEncodingOptions,
    into buffer: inout OutputBuffer
  ) throws(DecodeError) {
    try print(bytes, type: type, options: options, isCanonical: true, into: &buffer)
  }

  private static func print(
    _ bytes: UnsafeRawBufferPointer, type: MessageNode, options: TextEncodingOptions, isCanonical: Bool,
    into buffer: inout OutputBuffer
  ) throws(DecodeError) {
    var printer = TextPrinter(options: options, isCanonical: isCanonical)
    swap(&printer.out, &buffer)
    defer { swap(&printer.out, &buffer) }
    try printer.message(type.pointerToPlan(), WireReader(bytes), depth: 0)
  }

  // MARK: Layout

  /// Starts a field, in a new line or after a space.
  mutating func startField() { startField(room: 0) }

  /// Starts a field, and makes room for `room` more bytes.
  @inline(__always)
  private mutating func startField(room: Int) {
    out.reserve(2 &* indentation &+ KeyBytes.block &+ room)
    guard options.singleLine else { return indent() }
    if !isFirst { out.appendReserved(UInt8(ascii: " ")) }
    isFirst = false
  }

  /// Indents the line, in reserved room with a block more.
  @inline(__always)
  private mutating func indent() {
    let count = 2 &* indentation
    var index = 0
    while index < count {
      UnsafeMutableRawPointer(out.end + index).storeBytes(
        of: SIMD2(repeating: 0x2020_2020_2020_2020), as: SIMD2<UInt64>.self)
      index &+= KeyBytes.block
    }
    out.advance(by: count)
  }

  /// Starts a field with its name, and makes room for `room` more bytes.
  @inline(__always)
  private mutating func start(_ field: FieldPointer, in plan: PlanPointer, room: Int) {
    let key = field.pointee.protoKey
    startField(room: key.nameCount &+ KeyBytes.block &+ room)
    guard field.pointee.kind != .group, field.pointee.slot >= 0 else {
      return otherName(field, in: plan, room: room)
    }
    copyBlocks(from: key.nameStart, to: out.end, count: key.nameCount)
    out.advance(by: key.nameCount)
  }

  @inline(never)
  private mutating func otherName(_ field: FieldPointer, in plan: PlanPointer, room: Int) {
    let node = field.pointee.field
    out.append(
      node.isExtension
        ? node.textExtensionName(of: plan.pointee.table) : node.textName(in: plan.pointee.table.name))
    out.reserve(room)
  }

  @inline(__always)
  mutating func endLine() {
    if !options.singleLine { out.append(UInt8(ascii: "\n")) }
  }

  @inline(__always)
  private mutating func open() {
    out.reserve(3)
    out.appendReserved(UInt8(ascii: " "))
    out.appendReserved(UInt8(ascii: "{"))
    if !options.singleLine { out.appendReserved(UInt8(ascii: "\n")) }
    indentation += 1
  }

  mutating func close() {
    indentation -= 1
    startField(room: 2)
    out.appendReserved(UInt8(ascii: "}"))
    if !options.singleLine { out.appendReserved(UInt8(ascii: "\n")) }
  }

  // MARK: Messages

  /// Why bytes are rewritten before they are printed; no message shows it.
  private static var notCanonical: DecodeError { DecodeError(.notRepresentable("not in canonical form")) }

  private mutating func message(_ plan: PlanPointer, _ fields: WireReader, depth: Int) throws(DecodeError) {
    let expandsAny = options.expandAny && plan.pointee.wellKnown == .any
    if !isCanonical, expandsAny || plan.pointee.isMessageSet || plan.pointee.requiredCount > 0 {
      throw Self.notCanonical
    }
    if expandsAny, any(plan, fields, depth: depth) { return }
    var order = FieldOrder()
    var reader = fields
    while !reader.isAtEnd {
      let rest = reader
      guard try field(plan, &reader, &order, depth: depth) else {
        if !isCanonical { try checkUnknown(rest, of: plan, depth: depth) }
        // All fields that follow are unknown too.
        if options.unknownFields { unknown(rest, isMessageSet: plan.pointee.isMessageSet) }
        return
      }
    }
  }

  /// Checks that the type of a message has no field of those that follow.
  private func checkUnknown(_ rest: WireReader, of plan: PlanPointer, depth: Int) throws(DecodeError) {
    var reader = rest
    while !reader.isAtEnd {
      let tag = try reader.tag()
      guard try CanonicalWriter.field(tag, of: plan) == nil else { throw Self.notCanonical }
      try reader.skip(tag, depth: depth)
    }
  }

  /// Prints the next field, of a list one element; false, with nothing printed, if it is unknown.
  @inline(__always)
  private mutating func field(
    _ plan: PlanPointer, _ reader: inout WireReader, _ order: inout FieldOrder, depth: Int
  ) throws(DecodeError) -> Bool {
    let field: FieldPointer
    if let known = reader.shortTag(of: plan) {
      field = known
    } else {
      let tag = try reader.tag()
      if plan.pointee.isMessageSet, tag == MessageSet.itemStart {
        return try setItem(plan, &reader, depth: depth)
      }
      guard let known = try CanonicalWriter.field(tag, of: plan) else { return false }
      guard tag == known.pointee.elementTag else {
        guard isCanonical || order.enter(known) else { throw Self.notCanonical }
        return try packed(known, plan, &reader)
      }
      field = known
    }
    if !isCanonical {
      guard !field.pointee.isMap, order.continues(field) || order.enter(field) else {
        throw Self.notCanonical
      }
    } else if field.pointee.isMap {
      return try entry(field, plan, reader.nested(), depth: depth)
    }
    return try value(field, plan, &reader, depth: depth)
  }

  private mutating func packed(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader
  ) throws(DecodeError) -> Bool {
    var content = try reader.nested()
    while !content.isAtEnd {
      guard try number(field, plan, &content) else { throw Self.notCanonical }
    }
    return true
  }

  private mutating func setItem(
    _ plan: PlanPointer, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    let group = try reader.group(MessageSet.itemStart.number, depth: 0)
    guard let (number, content) = try MessageSet.item(group, depth: 0),
      let field = try plan.pointee.extensionPlan(number), field.pointee.kind == .message,
      !field.pointee.isRepeated
    else { return false }
    start(field, in: plan, room: 0)
    try nested(field, content, depth: depth)
    return true
  }

  /// Prints a value with the name of its field; false, with nothing printed, for an unknown number of a closed enum.
  @inline(__always)
  private mutating func value(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    switch field.pointee.kind {
    case .message, .group:
      guard isCanonical || depth < nestingLimit else { throw reader.failure(.tooDeep) }
      let content =
        field.pointee.kind == .message
        ? try reader.nested() : try reader.group(field.pointee.number, depth: isCanonical ? 0 : depth + 1)
      start(field, in: plan, room: 0)
      try nested(field, content, depth: depth)
      return true
    case .string, .bytes:
      let bytes = try reader.lengthDelimited()
      if bytes.isEmpty, isAbsentIfZero(field) { return true }
      start(field, in: plan, room: 2)
      appendColon()
      if !TextEscapes.appendPlain(bytes, to: &out) { try text(bytes, of: field) }
      endLine()
      return true
    default: return try number(field, plan, &reader)
    }
  }

  /// Prints a number with the name of its field; false, with nothing printed, for an unknown one of a closed enum.
  @inline(never)
  private mutating func number(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader
  ) throws(DecodeError) -> Bool {
    let bits = try WireToJSON.read(field, &reader)
    if field.pointee.flags.contains(.hasClosedEnum), field.isUnknownEnum(bits) { return false }
    if bits == 0, isAbsentIfZero(field) { return true }
    start(field, in: plan, room: 2)
    appendColon()
    number(field, bits)
    endLine()
    return true
  }

  /// Writes what separates a name and a value, in reserved room.
  @inline(__always)
  private mutating func appendColon() {
    out.appendReserved(UInt8(ascii: ":"))
    out.appendReserved(UInt8(ascii: " "))
  }

  /// Whether the canonical form does not have the field if its value is zero.
  @inline(__always)
  private func isAbsentIfZero(_ field: FieldPointer) -> Bool {
    !isCanonical && !field.pointee.hasPresence && !field.pointee.isRepeated
  }

  /// Writes a string or bytes that need escapes.
  private mutating func text(_ bytes: UnsafeRawBufferPointer, of field: FieldPointer) throws(DecodeError) {
    let isText = field.pointee.kind == .string && UTF8Validation.isValid(bytes)
    if !isCanonical, !isText, field.pointee.kind == .string, field.pointee.validatesUTF8 {
      throw Self.notCanonical
    }
    TextEscapes.append(bytes, isText: isText, to: &out)
  }

  @inline(__always)
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
    start(field, in: plan, room: 0)
    try nested(field, fields, depth: depth)
    return true
  }

  @inline(__always)
  private mutating func number(_ field: FieldPointer, _ bits: UInt64) {
    switch field.pointee.kind {
    case .bool: if bits != 0 { out.append("true") } else { out.append("false") }
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
    let isNegative = value.isNaN ? options.showsSignOfNaN && value.sign == .minus : value < 0
    if isNegative { out.append(UInt8(ascii: "-")) }
    out.append(value.isNaN ? "nan" : "inf" as StaticString)
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
