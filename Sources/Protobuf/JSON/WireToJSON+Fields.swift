/// Reading the fields of a message in the order of their numbers, and writing them as members.
extension WireToJSON {
  /// The progress within a message.
  struct Progress {
    /// The number of the last written field.
    var lastNumber: UInt32 = 0
    var isEmpty: Bool
    var oneofs: UInt64 = 0
    var nextSlot = 0
    /// Whether the bytes are known to be canonical, so that oneofs need no check.
    let isCanonical: Bool

    /// Returns false if the oneof already has a value, or its index is too large to track.
    @inline(__always)
    mutating func enter(oneof: Int16) -> Bool {
      if oneof < 0 || isCanonical { return true }
      guard oneof < 64 else { return false }
      let bit: UInt64 = 1 << UInt64(oneof)
      defer { oneofs |= bit }
      return oneofs & bit == 0
    }
  }

  /// Writes the fields; false, with an undefined number of bytes written, if they are not canonical.
  mutating func fields(
    _ plan: PlanPointer, _ reader: WireReader, depth: Int, isEmpty: inout Bool, isCanonical: Bool
  ) throws(DecodeError) -> Bool {
    var reader = reader
    var progress = Progress(isEmpty: isEmpty, isCanonical: isCanonical)
    while !reader.isAtEnd {
      let tag = try reader.tag()
      guard let field = plan.pointee.field(tag.number) else {
        guard try other(plan, tag, &reader, depth: depth, &progress) else { return false }
        continue
      }
      do throws(DecodeError) {
        guard try self.field(field, tag, plan, &reader, depth: depth, &progress) else { return false }
      } catch {
        throw error.inside(field.pointee.field)
      }
    }
    if options.emitDefaults { emitDefaults(plan, upTo: UInt32.max, &progress) }
    isEmpty = progress.isEmpty
    return true
  }

  /// Whether required fields are missing from a canonical message. A separate pass: few types have required
  /// fields, and the others need not count them.
  @inline(never)
  func lacksRequired(
    _ plan: PlanPointer, _ reader: WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    var reader = reader
    var count = 0
    while !reader.isAtEnd {
      let tag = try reader.tag()
      guard let field = plan.pointee.field(tag.number), tag == field.pointee.elementTag,
        field.pointee.requiredCount > 0
      else {
        try reader.skip(tag, depth: depth)
        continue
      }
      if field.pointee.flags.contains(.hasClosedEnum) {
        if field.isUnknownEnum(try reader.varint()) { continue }
      } else {
        try reader.skip(tag, depth: depth)
      }
      count += 1
    }
    return count < plan.pointee.requiredCount
  }

  /// Handles a number that is not a field of the type: an extension, a message set item, an unknown field.
  @inline(never)
  private mutating func other(
    _ plan: PlanPointer, _ tag: Tag, _ reader: inout WireReader, depth: Int, _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    guard plan.pointee.isExtensible else {
      try reader.skip(tag, depth: depth)
      return true
    }
    if plan.pointee.isMessageSet, tag == MessageSet.itemStart {
      let group = try reader.group(tag.number, depth: depth + 1)
      guard let (number, content) = try MessageSet.item(group, depth: depth + 1),
        let field = try plan.pointee.extensionPlan(number), field.pointee.kind == .message,
        !field.pointee.isRepeated
      else { return true }
      guard number > progress.lastNumber else { return false }
      begin(field, plan, &progress)
      do throws(DecodeError) {
        guard depth + 1 < nestingLimit else { throw content.failure(.tooDeep) }
        try message(field.planOfMessage(), content, depth: depth + 2)
      } catch {
        throw error.inside(field.pointee.field)
      }
      return true
    }
    guard let field = try plan.pointee.extensionPlan(tag.number) else {
      try reader.skip(tag, depth: depth)
      return true
    }
    do throws(DecodeError) {
      return try self.field(field, tag, plan, &reader, depth: depth, &progress)
    } catch {
      throw error.inside(field.pointee.field)
    }
  }

  /// Reads and writes a field and, for a list, the elements that follow; false if the canonical form has it
  /// elsewhere.
  @inline(__always)
  private mutating func field(
    _ field: FieldPointer, _ tag: Tag, _ plan: PlanPointer, _ reader: inout WireReader, depth: Int,
    _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    guard tag == field.pointee.elementTag else {
      guard field.pointee.isRepeated, field.pointee.kind.isPackable, tag.wireType == .lengthDelimited else {
        try reader.skip(tag, depth: depth)
        return true
      }
      return try packed(field, plan, &reader, &progress)
    }
    guard field.pointee.number > progress.lastNumber else { return try drop(field, &reader) }
    if field.pointee.isRepeated {
      if field.pointee.isMap { return try map(field, plan, &reader, depth: depth, &progress) }
      return try list(field, plan, &reader, depth: depth, &progress)
    }
    switch field.pointee.kind {
    case .message, .group:
      guard progress.enter(oneof: field.pointee.oneof) else { return false }
      begin(field, plan, &progress)
      try nested(field, &reader, depth: depth)
    case .string, .bytes:
      let start = reader
      let bytes = try reader.lengthDelimited()
      if !field.pointee.hasPresence, bytes.isEmpty { return true }
      guard progress.enter(oneof: field.pointee.oneof) else { return false }
      begin(field, plan, &progress)
      if field.pointee.kind == .string {
        if !JSONText.appendIfValid(bytes, to: &out) { try repaired(field, bytes, start) }
      } else {
        base64(bytes)
      }
    default:
      let bits = try WireToJSON.read(field, &reader)
      if !field.pointee.hasPresence, bits == 0 { return true }
      if field.pointee.flags.contains(.hasClosedEnum), field.isUnknownEnum(bits) { return true }
      guard progress.enter(oneof: field.pointee.oneof) else { return false }
      begin(field, plan, &progress)
      number(field, bits)
    }
    return true
  }

  /// Skips a value that is dropped wherever it occurs: an unknown number of a closed enum.
  @inline(never)
  private func drop(_ field: FieldPointer, _ reader: inout WireReader) throws(DecodeError) -> Bool {
    guard field.pointee.flags.contains(.hasClosedEnum) else { return false }
    return field.isUnknownEnum(try reader.varint())
  }

  /// Writes the message that is the value of a field.
  @inline(__always)
  mutating func nested(
    _ field: FieldPointer, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) {
    guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
    let content =
      field.pointee.kind == .group
      ? try reader.group(field.pointee.number, depth: depth + 1) : try reader.nested()
    try message(field.planOfMessage(), content, depth: depth &+ 1)
  }

  /// Writes the key of the next field.
  @inline(__always)
  mutating func begin(_ field: FieldPointer, _ plan: PlanPointer, _ progress: inout Progress) {
    if options.emitDefaults { emitDefaults(plan, upTo: field.pointee.number, &progress) }
    key(field, isFirst: progress.isEmpty)
    progress.isEmpty = false
    progress.lastNumber = field.pointee.number
    if options.emitDefaults { progress.nextSlot = max(progress.nextSlot, Int(field.pointee.slot) + 1) }
  }

  // MARK: Defaults

  /// Writes unset fields without presence, up to a number.
  @inline(never)
  mutating func emitDefaults(_ plan: PlanPointer, upTo number: UInt32, _ progress: inout Progress) {
    while progress.nextSlot < plan.pointee.count {
      let field = plan.pointee.fields + progress.nextSlot
      guard field.pointee.number < number else { return }
      progress.nextSlot += 1
      if field.pointee.hasPresence { continue }
      key(field, isFirst: progress.isEmpty)
      progress.isEmpty = false
      if field.pointee.isMap {
        out.append("{}")
      } else if field.pointee.isRepeated {
        out.append("[]")
      } else {
        emitZero(field)
      }
    }
  }
}
