/// Reading the fields of a message in the order of their numbers, and writing them as members.
extension WireToJSON {
  /// The progress within a message.
  struct Progress {
    /// The number of the last written field.
    var lastNumber: UInt32 = 0
    var isEmpty: Bool
    /// Whether the bytes are known to be canonical, so that oneofs need no check.
    let isCanonical: Bool
    var oneofs: UInt64 = 0
    var nextSlot = 0

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
      let field: FieldPointer
      if let found = shortTag(plan, &reader) {
        field = found
      } else {
        switch try nextField(plan, &reader, depth: depth, &progress) {
        case .single(let found): field = found
        case .done: continue
        case .notCanonical: return false
        }
      }
      do throws(DecodeError) {
        guard try self.field(field, plan, &reader, depth: depth, &progress) else { return false }
      } catch {
        throw error.inside(field.pointee.field)
      }
    }
    if options.emitDefaults { emitDefaults(plan, upTo: UInt32.max, &progress) }
    isEmpty = progress.isEmpty
    return true
  }

  /// Reads a tag of one byte that is the one before the values of a field; nil, with nothing read, for others.
  @inline(__always)
  private func shortTag(_ plan: PlanPointer, _ reader: inout WireReader) -> FieldPointer? {
    let byte = UInt32(reader.cursor.pointee)
    guard byte < 0x80, byte &>> 3 < plan.pointee.denseCount, let field = plan.pointee.field(byte &>> 3),
      field.pointee.elementTag.raw == byte
    else { return nil }
    reader.cursor += 1
    return field
  }

  /// What follows in a message.
  private enum Next {
    /// The value of a field, or the first element of a list.
    case single(FieldPointer)
    /// Something that has been read, and written if it belongs to the message.
    case done
    case notCanonical
  }

  /// Reads a tag, and what follows it unless that is the value of a field.
  @inline(never)
  private mutating func nextField(
    _ plan: PlanPointer, _ reader: inout WireReader, depth: Int, _ progress: inout Progress
  ) throws(DecodeError) -> Next {
    let tag = try reader.tag()
    if plan.pointee.isMessageSet, tag == MessageSet.itemStart {
      return try messageSetItem(plan, &reader, depth: depth, &progress)
    }
    var found = plan.pointee.field(tag.number)
    if found == nil { found = try plan.pointee.extensionPlan(tag.number) }
    guard let field = found else {
      try reader.skip(tag, depth: depth)
      return .done
    }
    if tag == field.pointee.elementTag { return .single(field) }
    do throws(DecodeError) {
      if field.pointee.isRepeated, field.pointee.kind.isPackable, tag.wireType == .lengthDelimited {
        return try packed(field, plan, &reader, &progress) ? .done : .notCanonical
      }
      try reader.skip(tag, depth: depth)
      return .done
    } catch {
      throw error.inside(field.pointee.field)
    }
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

  /// Reads an item of a message set, whose start has been read.
  private mutating func messageSetItem(
    _ plan: PlanPointer, _ reader: inout WireReader, depth: Int, _ progress: inout Progress
  ) throws(DecodeError) -> Next {
    let group = try reader.group(MessageSet.itemStart.number, depth: depth + 1)
    guard let (number, content) = try MessageSet.item(group, depth: depth + 1),
      let field = try plan.pointee.extensionPlan(number), field.pointee.kind == .message,
      !field.pointee.isRepeated
    else { return .done }
    guard number > progress.lastNumber else { return .notCanonical }
    begin(field, plan, &progress)
    do throws(DecodeError) {
      guard depth + 1 < nestingLimit else { throw content.failure(.tooDeep) }
      try message(field.planOfMessage(), content, depth: depth + 2)
    } catch {
      throw error.inside(field.pointee.field)
    }
    return .done
  }

  /// Reads and writes a field and, for a list, the elements that follow; false if the canonical form has it
  /// elsewhere.
  @inline(__always)
  private mutating func field(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, depth: Int,
    _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    guard field.pointee.number > progress.lastNumber else { return try drop(field, &reader) }
    if !field.pointee.flags.isDisjoint(with: [.isRepeated, .hasClosedEnum]) {
      if field.pointee.isMap { return try map(field, plan, &reader, depth: depth, &progress) }
      if field.pointee.flags.contains(.hasClosedEnum) {
        return try closedEnum(field, plan, &reader, &progress)
      }
      try list(field, plan, &reader, depth: depth, &progress)
      return true
    }
    guard progress.enter(oneof: field.pointee.oneof) else { return false }
    let start = out.count
    let wasEmpty = progress.isEmpty
    begin(field, plan, &progress)
    let isZero: Bool
    switch field.pointee.kind {
    case .message, .group:
      try nested(field, &reader, depth: depth)
      return true
    case .string: isZero = try string(field, &reader)
    default: isZero = try scalar(field, &reader)
    }
    // With default values, the zero is the one that is written for an unset field.
    if isZero, !field.pointee.hasPresence, !options.emitDefaults {
      out.truncate(to: start)
      progress.isEmpty = wasEmpty
    }
    return true
  }

  /// Reads and writes a value, or the elements of a list, of an enum whose unknown numbers are dropped.
  @inline(never)
  private mutating func closedEnum(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    if field.pointee.isRepeated { return try closedEnumList(field, plan, &reader, &progress) }
    let bits = try WireToJSON.read(field, &reader)
    if !field.pointee.hasPresence && bits == 0 || field.isUnknownEnum(bits) { return true }
    guard progress.enter(oneof: field.pointee.oneof) else { return false }
    begin(field, plan, &progress)
    enumeration(field, Int32(truncatingIfNeeded: bits))
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
    if isPlain {
      compactKey(field.pointee.jsonKey, isFirst: progress.isEmpty)
    } else {
      beginOther(field, plan, &progress)
    }
    progress.isEmpty = false
    progress.lastNumber = field.pointee.number
  }

  @inline(never)
  private mutating func beginOther(_ field: FieldPointer, _ plan: PlanPointer, _ progress: inout Progress) {
    if options.emitDefaults {
      emitDefaults(plan, upTo: field.pointee.number, &progress)
      // An extension has no slot.
      progress.nextSlot = max(progress.nextSlot, Int(field.pointee.slot) + 1)
    }
    key(field, isFirst: progress.isEmpty)
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
