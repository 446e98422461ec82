/// Rewrites serialized messages in canonical form in one pass, without building them: fields by number, map
/// entries by key, unknown fields last, every number in its shortest form.
///
/// Most messages already have their fields and entries in this order. In others, the parts in order are
/// rewritten in one pass, and each message out of order is decoded and encoded on its own.
struct CanonicalWriter: ~Copyable {
  private var out: OutputBuffer
  private var lacksRequired = false
  /// The remaining number of bytes of messages that may be decoded on their own. Each level of nesting may
  /// decode all levels below it again: above this limit the whole message is decoded once.
  private var allowance: Int
  private let dropsUnknown: Bool

  private init(allowance: Int, dropsUnknown: Bool) {
    out = OutputBuffer()
    self.allowance = allowance
    self.dropsUnknown = dropsUnknown
  }

  /// Appends the canonical form of a message; nothing on an error. Returns whether required fields may
  /// be missing.
  static func rewrite(
    _ bytes: UnsafeRawBufferPointer, type: MessageNode, unknownFields: UnknownFields = .show,
    into buffer: inout OutputBuffer
  ) throws(DecodeError) -> Bool {
    var writer = CanonicalWriter(allowance: bytes.count, dropsUnknown: unknownFields == .drop)
    swap(&writer.out, &buffer)
    let start = writer.out.count
    writer.out.reserve(bytes.count + 16)
    do throws(DecodeError) {
      try writer.message(type.pointerToPlan(), WireReader(bytes), depth: 0)
    } catch {
      // Decodes the whole message, which gives the place of an error.
      writer.out.truncate(to: start)
      let message: Message
      do throws(DecodeError) { message = try Message(type, bytes: bytes) } catch {
        swap(&writer.out, &buffer)
        throw error
      }
      if writer.dropsUnknown { message.storage.removeAllUnknown() }
      BinaryEncoder.encode(message.storage, into: &writer.out)
      writer.lacksRequired = !message.missingRequiredFields().isEmpty
    }
    swap(&writer.out, &buffer)
    return writer.lacksRequired
  }

  // MARK: Messages

  private mutating func message(
    _ plan: PlanPointer, _ reader: WireReader, depth: Int
  ) throws(DecodeError) {
    let start = out.count
    if try fields(plan, reader, depth: depth) { return }
    out.truncate(to: start)
    guard depth == 0 || allowance >= reader.remaining else { throw reader.failure(.tooDeep) }
    allowance -= reader.remaining
    var reader = reader
    let message = MessageStorage(plan.pointee.type.takeUnretainedValue(), plan.pointee.table)
    try BinaryDecoder.decode(&reader, into: message, depth: depth)
    if dropsUnknown { message.removeAllUnknown() }
    BinaryEncoder.encode(message, into: &out)
    if !lacksRequired { lacksRequired = !Message(storage: message).missingRequiredFields().isEmpty }
  }

  /// Writes the fields; false, with an undefined number of bytes written, if they are not in canonical order.
  private mutating func fields(
    _ plan: PlanPointer, _ reader: WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    if plan.pointee.isMessageSet { return false }
    var reader = reader
    var order = FieldOrder()
    var requiredCount = 0
    var hasUnknown = false
    while !reader.isAtEnd {
      let start = reader.cursor
      let known: FieldPointer?
      let tag: Tag
      if let short = reader.shortTag(of: plan) {
        (known, tag) = (short, short.pointee.elementTag)
      } else {
        tag = try reader.tag()
        known = try CanonicalWriter.field(tag, of: plan)
      }
      guard let field = known else {
        try reader.skip(tag, depth: depth)
        if dropsUnknown { continue }
        hasUnknown = true
        out.append(UnsafeRawBufferPointer(start: start, count: reader.cursor - start))
        continue
      }
      guard !hasUnknown, order.enter(field) else { return false }
      requiredCount += field.pointee.requiredCount
      guard try value(field, tag, &reader, depth: depth) else { return false }
    }
    if requiredCount < plan.pointee.requiredCount { lacksRequired = true }
    return true
  }

  /// The field or extension of a tag; nil if its value is unknown.
  @inline(__always)
  static func field(_ tag: Tag, of plan: PlanPointer) throws(DecodeError) -> FieldPointer? {
    var found = plan.pointee.field(tag.number)
    if found == nil { found = try plan.pointee.extensionPlan(tag.number) }
    guard let field = found else { return nil }
    if tag == field.pointee.elementTag { return field }
    let isPacked =
      tag.wireType == .lengthDelimited && field.pointee.isRepeated && field.pointee.kind.isPackable
    return isPacked ? field : nil
  }

  // MARK: Fields

  /// Writes a value, or all consecutive elements; false if the canonical form has them elsewhere.
  @inline(__always)
  private mutating func value(
    _ field: FieldPointer, _ tag: Tag, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    if field.pointee.isMap { return try map(field, &reader, depth: depth) }
    if field.pointee.isRepeated { return try list(field, tag, &reader, depth: depth) }
    let start = out.count
    let isZero = try single(field, &reader, depth: depth)
    guard let isZero else { return false }
    if isZero, !field.pointee.hasPresence { out.truncate(to: start) }
    return true
  }

  /// Writes a value with its tag. Returns whether it is zero; nil for an unknown number of a closed enum.
  @inline(__always)
  private mutating func single(
    _ field: FieldPointer, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool? {
    out.appendTag(field.pointee.elementTag)
    switch field.pointee.kind {
    case .message:
      guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
      let content = try reader.nested()
      let start = out.openLengthDelimited()
      try message(field.planOfMessage(), content, depth: depth + 1)
      out.closeLengthDelimited(start)
      return false
    case .group:
      guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
      let content = try reader.group(field.pointee.number, depth: depth + 1)
      try message(field.planOfMessage(), content, depth: depth + 1)
      out.appendTag(Tag(field.pointee.number, .endGroup))
      return false
    case .string, .bytes:
      let bytes = try reader.lengthDelimited()
      if field.pointee.validatesUTF8, field.pointee.kind == .string, !UTF8Validation.isValid(bytes) {
        throw reader.failure(.invalidUTF8)
      }
      out.appendVarint(UInt64(bytes.count))
      out.append(bytes)
      return bytes.isEmpty
    default:
      let bits = try WireToJSON.read(field, &reader)
      if field.pointee.flags.contains(.hasClosedEnum), field.isUnknownEnum(bits) { return nil }
      out.append(bits: bits, field.pointee.kind)
      return bits == 0
    }
  }

  private mutating func list(
    _ field: FieldPointer, _ tag: Tag, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    guard field.pointee.kind.isPackable else {
      repeat { _ = try single(field, &reader, depth: depth) } while reader.accept(tag)
      return true
    }
    let before = out.count
    let isPacked = field.pointee.isPacked
    if isPacked { out.appendTag(Tag(field.pointee.number, .lengthDelimited)) }
    let start = isPacked ? out.openLengthDelimited() : before
    let isEmpty: Bool
    if tag == field.pointee.elementTag {
      repeat { guard try element(field, &reader) else { return false } } while reader.accept(tag)
      isEmpty = false
    } else {
      var content = try reader.nested()
      isEmpty = content.isAtEnd
      while !content.isAtEnd { guard try element(field, &content) else { return false } }
    }
    if isPacked { out.closeLengthDelimited(start) }
    if isEmpty { out.truncate(to: before) }
    return true
  }

  /// Writes an element of a list of numbers; false for an unknown number of a closed enum.
  @inline(__always)
  private mutating func element(
    _ field: FieldPointer, _ reader: inout WireReader
  ) throws(DecodeError) -> Bool {
    let bits = try WireToJSON.read(field, &reader)
    if field.pointee.flags.contains(.hasClosedEnum), field.isUnknownEnum(bits) { return false }
    if !field.pointee.isPacked { out.appendTag(field.pointee.elementTag) }
    out.append(bits: bits, field.pointee.kind)
    return true
  }

  // MARK: Maps

  /// Writes consecutive entries; false unless all have a key and a value, in the order of their keys.
  private mutating func map(
    _ field: FieldPointer, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
    let (keyField, valueField) = field.partsOfMap()
    var last: (order: UInt64, text: UnsafeRawBufferPointer)?
    repeat {
      var entry = try reader.nested()
      let entryStart = entry
      out.appendTag(field.pointee.elementTag)
      let start = out.openLengthDelimited()
      guard entry.accept(keyField.pointee.elementTag) else { return false }
      _ = try single(keyField, &entry, depth: depth + 1)
      let key = try CanonicalWriter.key(keyField, of: entryStart)
      if let last {
        let isAfter =
          keyField.pointee.kind == .string
          ? last.text.lexicographicallyPrecedes(key.text) : last.order < key.order
        guard isAfter else { return false }
      }
      last = key
      guard entry.accept(valueField.pointee.elementTag),
        try single(valueField, &entry, depth: depth + 1) != nil, entry.isAtEnd
      else { return false }
      out.closeLengthDelimited(start)
    } while reader.accept(field.pointee.elementTag)
    return true
  }

  /// The sort key of an entry: the text of its key, or a number.
  private static func key(
    _ field: FieldPointer, of entry: WireReader
  ) throws(DecodeError) -> (order: UInt64, text: UnsafeRawBufferPointer) {
    var entry = entry
    _ = try entry.tag()
    if field.pointee.kind == .string { return (0, try entry.lengthDelimited()) }
    let order = WireToJSON.order(field, try WireToJSON.read(field, &entry))
    return (order, UnsafeRawBufferPointer(start: nil, count: 0))
  }
}
