/// Converts a serialized message to JSON in one pass, without building the message.
///
/// Canonical bytes (fields by number, no duplicate field) are written as they are read. Others, which are
/// detected on the way, are first converted to canonical form through a `Message`.
///
/// The loops use unretained plans; the caller retains the type, and with it all plans.
struct WireToJSON: ~Copyable {
  var out: OutputBuffer
  let options: JSONEncodingOptions
  /// The level of indentation.
  private(set) var level = 0
  /// The entries of the maps being written, innermost last.
  var entries: [MapEntry] = []
  /// Whether a message was written that lacks required fields, or may lack them.
  var mayLackRequired = false
  /// Whether a string that is not UTF-8 was written with replacement characters.
  var repairsText = false

  private init(options: JSONEncodingOptions, capacity: Int) {
    self.options = options
    out = OutputBuffer(capacity: capacity)
  }

  /// Appends the JSON of a message; nothing on an error. Required fields may be missing.
  ///
  /// - Returns: Whether they may be missing (the caller then decodes the message to name them), and whether a
  ///   string that is not UTF-8 was written with replacement characters.
  static func transcode(
    _ bytes: UnsafeRawBufferPointer, type: MessageType, options: JSONEncodingOptions,
    into buffer: inout OutputBuffer
  ) throws(DecodeError) -> (mayLackRequired: Bool, repairsText: Bool) {
    var writer = WireToJSON(options: options, capacity: 0)
    swap(&writer.out, &buffer)
    let start = writer.out.count
    writer.out.reserve(bytes.count * 2 + 64)
    do throws(DecodeError) {
      do throws(DecodeError) {
        try writer.message(type.pointerToPlan(), WireReader(bytes), depth: 0)
      } catch {
        guard case .notRepresentable = error.reason else { throw error }
        writer.rewind(to: start, level: 0)
        try writer.retry(bytes, type, after: error)
      }
    } catch {
      writer.out.truncate(to: start)
      swap(&writer.out, &buffer)
      throw error
    }
    swap(&writer.out, &buffer)
    return (writer.mayLackRequired, writer.repairsText)
  }

  /// Writes a message with a value that has no JSON form: a later duplicate may replace it.
  @inline(never)
  private mutating func retry(
    _ bytes: UnsafeRawBufferPointer, _ type: MessageType, after first: DecodeError
  ) throws(DecodeError) {
    let message = try Message(type.node, bytes: bytes)
    var canonical = OutputBuffer(capacity: bytes.count + 16)
    BinaryEncoder.encode(message.storage, into: &canonical)
    let reader = WireReader(UnsafeRawBufferPointer(start: canonical.base, count: canonical.count))
    do throws(DecodeError) {
      try self.message(type.pointerToPlan(), reader, depth: 0)
    } catch {
      // The first error has the place in the input.
      throw error.fieldPath == first.fieldPath ? first : error
    }
  }

  /// Writes the value of a field of a message that is serialized with only this field.
  static func transcode(
    field: FieldNode, value: FieldStorage, options: JSONEncodingOptions
  ) throws(DecodeError) -> [UInt8] {
    var writer = WireToJSON(options: options, capacity: 256)
    switch value {
    case .none: writer.out.append("null")
    case .single(let value): try writer.value(value, field)
    case .list(let values):
      writer.open(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        writer.separate(isFirst: index == 0)
        try writer.value(value, field)
      }
      writer.close(UInt8(ascii: "]"), isEmpty: values.isEmpty)
    case .map(let entries):
      guard let keyField = field.mapKey, let valueField = field.mapValue else { break }
      writer.open(UInt8(ascii: "{"))
      for (index, entry) in entries.sorted(by: { $0.key < $1.key }).enumerated() {
        writer.separate(isFirst: index == 0)
        if case .bytes = entry.key { throw DecodeError(keyIsNotText) }
        let isQuoted = keyField.kind.isQuoted
        if !isQuoted { writer.out.append(UInt8(ascii: "\"")) }
        try writer.value(entry.key.value(kind: keyField.kind), keyField)
        if !isQuoted { writer.out.append(UInt8(ascii: "\"")) }
        writer.out.append(options.pretty ? ": " : ":" as StaticString)
        try writer.value(entry.value, valueField)
      }
      writer.close(UInt8(ascii: "}"), isEmpty: entries.isEmpty)
    }
    return writer.out.copyBytes()
  }

  private mutating func value(_ value: Value, _ field: FieldNode) throws(DecodeError) {
    var bytes = OutputBuffer(capacity: 64)
    if case .message(let message) = value {
      BinaryEncoder.encode(message.storage, into: &bytes)
      let reader = WireReader(UnsafeRawBufferPointer(start: bytes.base, count: bytes.count))
      try self.message(message.storage.type.pointerToPlan(), reader, depth: 1)
      return
    }
    BinaryEncoder.append(value, of: field, into: &bytes)
    var reader = WireReader(UnsafeRawBufferPointer(start: bytes.base, count: bytes.count))
    _ = try reader.tag()
    try scalar(field.plan, &reader)
  }

  // MARK: Layout

  @inline(__always)
  mutating func open(_ bracket: UInt8) {
    out.append(bracket)
    level &+= 1
  }

  /// Writes the separator before a value in an object or an array.
  @inline(__always)
  mutating func separate(isFirst: Bool) {
    if !isFirst { out.append(UInt8(ascii: ",")) }
    if options.pretty { newLine() }
  }

  @inline(__always)
  mutating func close(_ bracket: UInt8, isEmpty: Bool) {
    level &-= 1
    if options.pretty, !isEmpty { newLine() }
    out.append(bracket)
  }

  @inline(never)
  private mutating func newLine() {
    out.reserve(1 + level * 2)
    out.appendReserved(10)
    for _ in 0..<level * 2 { out.appendReserved(0x20) }
  }

  @inline(__always)
  private mutating func key(_ field: FieldPointer, isFirst: Bool) {
    let key = options.protoNames ? field.pointee.protoKey : field.pointee.jsonKey
    if options.pretty { return prettyKey(key, isFirst: isFirst) }
    // With room for the number that may follow.
    out.reserve(key.count &+ KeyBytes.block &+ JSONText.numberRoom)
    let skipped = isFirst ? 1 : 0
    copyBlocks(from: key.start + skipped, to: out.end, count: key.count &- skipped)
    out.advance(by: key.count &- skipped)
  }

  @inline(never)
  private mutating func prettyKey(_ key: KeyBytes, isFirst: Bool) {
    separate(isFirst: isFirst)
    out.append(UnsafeRawBufferPointer(start: key.start + 1, count: key.count - 1))
    out.append(0x20)
  }

  /// Removes what was written since.
  mutating func rewind(to count: Int, level: Int) {
    out.truncate(to: count)
    self.level = level
  }

  // MARK: Messages

  mutating func message(_ plan: PlanPointer, _ reader: WireReader, depth: Int) throws(DecodeError) {
    guard depth <= nestingLimit else { throw reader.failure(.tooDeep) }
    guard let wellKnown = plan.pointee.wellKnown else { return try object(plan, reader, depth: depth) }
    if wellKnown == .timestamp || wellKnown == .duration {
      if plan.pointee.requiredCount > 0 { mayLackRequired = true }
      return try time(isTimestamp: wellKnown == .timestamp, reader, depth: depth)
    }
    // A custom schema may define such a type with required fields.
    if plan.pointee.requiredCount > 0 { mayLackRequired = true }
    let start = out.count
    let startLevel = level
    if try special(wellKnown, plan, reader, depth: depth) { return }
    rewind(to: start, level: startLevel)
    try canonically(plan, reader, depth: depth) { (writer, reader) throws(DecodeError) in
      try writer.special(wellKnown, plan, reader, depth: depth)
    }
  }

  @inline(__always)
  private mutating func object(_ plan: PlanPointer, _ reader: WireReader, depth: Int) throws(DecodeError) {
    open(UInt8(ascii: "{"))
    try content(plan, reader, depth: depth, isEmpty: true)
  }

  /// Writes the fields of an open object, and its end.
  mutating func content(
    _ plan: PlanPointer, _ reader: WireReader, depth: Int, isEmpty: Bool
  ) throws(DecodeError) {
    let start = out.count
    let startLevel = level
    var isStillEmpty = isEmpty
    if try !fields(plan, reader, depth: depth, isEmpty: &isStillEmpty, isCanonical: false) {
      rewind(to: start, level: startLevel)
      isStillEmpty = isEmpty
      if plan.pointee.requiredCount > 0 { mayLackRequired = true }
      try canonically(plan, reader, depth: depth) { (writer, reader) throws(DecodeError) in
        try writer.fields(plan, reader, depth: depth, isEmpty: &isStillEmpty, isCanonical: true)
      }
    }
    if plan.pointee.requiredCount > 0, try lacksRequired(plan, reader, depth: depth) {
      mayLackRequired = true
    }
    close(UInt8(ascii: "}"), isEmpty: isStillEmpty)
  }

  /// Converts a message to canonical form and passes its bytes to `body`.
  @inline(never)
  private mutating func canonically(
    _ plan: PlanPointer, _ reader: WireReader, depth: Int,
    _ body: (inout WireToJSON, WireReader) throws(DecodeError) -> Bool
  ) throws(DecodeError) {
    var reader = reader
    let message = MessageStorage(plan.pointee.type.takeUnretainedValue())
    try BinaryDecoder.decode(&reader, into: message, depth: depth)
    // This includes map entries with unknown enum values, which would otherwise follow other fields again.
    message.removeUnknown()
    var bytes = OutputBuffer(capacity: reader.end - reader.origin + 16)
    BinaryEncoder.encode(message, into: &bytes)
    let isDone = try body(&self, WireReader(UnsafeRawBufferPointer(start: bytes.base, count: bytes.count)))
    if !isDone { throw reader.failure(.notRepresentable("the message has no canonical form")) }
  }

  // MARK: Fields

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
  private mutating func fields(
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
  private func lacksRequired(
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
  private mutating func nested(
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

  // MARK: Lists

  /// Writes consecutive elements; the first tag has been read.
  @inline(__always)
  private mutating func list(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, depth: Int,
    _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    if field.pointee.flags.contains(.hasClosedEnum) {
      return try closedEnumList(field, plan, &reader, &progress)
    }
    begin(field, plan, &progress)
    open(UInt8(ascii: "["))
    var isFirst = true
    repeat {
      separate(isFirst: isFirst)
      isFirst = false
      if field.pointee.kind.isMessage {
        try nested(field, &reader, depth: depth)
      } else {
        try scalar(field, &reader)
      }
    } while reader.accept(field.pointee.elementTag)
    close(UInt8(ascii: "]"), isEmpty: false)
    return true
  }

  @inline(never)
  private mutating func closedEnumList(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    var isOpen = false
    repeat {
      let bits = try reader.varint()
      if field.isUnknownEnum(bits) { continue }
      element(field, plan, bits, isOpen: &isOpen, &progress)
    } while reader.accept(field.pointee.elementTag)
    if isOpen { close(UInt8(ascii: "]"), isEmpty: false) }
    return true
  }

  private mutating func packed(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    var content = try reader.nested()
    let wireType = field.pointee.kind.wireType
    let size = wireType == .fixed32 ? 4 : wireType == .fixed64 ? 8 : 1
    guard content.remaining % size == 0 else { throw content.failure(.invalidPackedLength) }
    let isClosedEnum = field.pointee.flags.contains(.hasClosedEnum)
    var isOpen = false
    while !content.isAtEnd {
      let bits = try WireToJSON.read(field, &content)
      if isClosedEnum, field.isUnknownEnum(bits) { continue }
      if !isOpen, field.pointee.number <= progress.lastNumber { return false }
      element(field, plan, bits, isOpen: &isOpen, &progress)
    }
    if isOpen { close(UInt8(ascii: "]"), isEmpty: false) }
    return true
  }

  @inline(__always)
  private mutating func element(
    _ field: FieldPointer, _ plan: PlanPointer, _ bits: UInt64, isOpen: inout Bool, _ progress: inout Progress
  ) {
    if !isOpen {
      begin(field, plan, &progress)
      open(UInt8(ascii: "["))
    }
    separate(isFirst: !isOpen)
    isOpen = true
    number(field, bits)
  }

  // MARK: Defaults

  /// Writes unset fields without presence, up to a number.
  @inline(never)
  private mutating func emitDefaults(_ plan: PlanPointer, upTo number: UInt32, _ progress: inout Progress) {
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
