/// Converts a serialized message to JSON in one pass, without building the message.
///
/// Canonical bytes (fields by number, no duplicate field) are written as they are read. Others, which are
/// detected on the way, are first converted to canonical form through a `Message`.
///
/// The loops use unretained plans; the caller retains the type, and with it all plans.
struct WireToJSON: ~Copyable {
  var out: OutputBuffer
  let options: JSONEncodingOptions
  /// Whether keys are JSON names without white space, and unset fields are omitted.
  let isPlain: Bool
  /// The level of indentation.
  private(set) var level = 0
  /// The entries of the maps being written, innermost last.
  var entries: [MapEntry] = []
  /// Whether a message was written that lacks required fields, or may lack them.
  var mayLackRequired = false
  /// Whether a string that is not UTF-8 was written with replacement characters.
  var repairsText = false

  init(options: JSONEncodingOptions, capacity: Int) {
    self.options = options
    isPlain = !options.pretty && !options.emitDefaults && !options.protoNames
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
    defer { swap(&writer.out, &buffer) }
    try writer.append(bytes, type)
    return (writer.mayLackRequired, writer.repairsText)
  }

  /// The size of the output of lines that are written together, before the last of them, in bytes.
  private static let bytesOfLines = 1 << 16

  /// Appends the JSON of each message and a line feed, up to one that has an error, or until there is much output.
  ///
  /// - Returns: The number of messages that were written.
  static func transcodeLines(
    _ places: Span<Range<Int>>, of piece: UnsafeRawBufferPointer, type: MessageType,
    options: JSONEncodingOptions, into buffer: inout OutputBuffer
  ) -> Int {
    var writer = WireToJSON(options: options, capacity: 0)
    swap(&writer.out, &buffer)
    defer { swap(&writer.out, &buffer) }
    let end = writer.out.count + bytesOfLines
    var count = 0
    while count < places.count, writer.out.count < end {
      let bytes = UnsafeRawBufferPointer(rebasing: piece[places[count]])
      guard (try? writer.append(bytes, type)) != nil else { break }
      writer.out.append(UInt8(ascii: "\n"))
      count += 1
    }
    return count
  }

  /// Appends the JSON of a message; nothing on an error.
  @inline(__always)
  private mutating func append(_ bytes: UnsafeRawBufferPointer, _ type: MessageType) throws(DecodeError) {
    let start = out.count
    out.reserve(bytes.count * 2 + 64)
    do throws(DecodeError) {
      try message(type.pointerToPlan(), WireReader(bytes), depth: 0)
    } catch {
      rewind(to: start, level: 0)
      guard case .notRepresentable = error.reason else { throw error }
      try retry(bytes, type, after: error)
    }
  }

  /// Appends a message with a value that has no JSON form, which a later duplicate may replace; nothing on an error.
  @inline(never)
  private mutating func retry(
    _ bytes: UnsafeRawBufferPointer, _ type: MessageType, after first: DecodeError
  ) throws(DecodeError) {
    let start = out.count
    let message = try Message(type.node, bytes: bytes)
    var canonical = OutputBuffer(capacity: bytes.count + 16)
    BinaryEncoder.encode(message.storage, into: &canonical)
    let reader = WireReader(UnsafeRawBufferPointer(start: canonical.base, count: canonical.count))
    do throws(DecodeError) {
      try self.message(type.pointerToPlan(), reader, depth: 0)
    } catch {
      out.truncate(to: start)
      // The first error has the place in the input.
      throw error.fieldPath == first.fieldPath ? first : error
    }
  }

  /// Writes a message; the result includes whether a string that is not UTF-8 has replacement characters.
  static func transcode(
    _ message: Message, options: JSONEncodingOptions
  ) throws(DecodeError) -> (json: [UInt8], isRepaired: Bool) {
    let bytes = message.serialized()
    var out = OutputBuffer(capacity: bytes.count)
    let isRepaired = try bytes.withRawBytes { (bytes) throws(DecodeError) in
      try transcode(bytes, type: message.type, options: options, into: &out).repairsText
    }
    return (out.copyBytes(), isRepaired)
  }

  /// Writes the value of a field of a message that is serialized with only this field.
  static func transcode(
    field: FieldNode, value: FieldStorage, options: JSONEncodingOptions
  ) throws(DecodeError) -> (json: [UInt8], isRepaired: Bool) {
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
        let isQuoted = keyField.kind.isQuoted(options)
        if !isQuoted { writer.out.append(UInt8(ascii: "\"")) }
        try writer.value(entry.key.value(kind: keyField.kind), keyField)
        if !isQuoted { writer.out.append(UInt8(ascii: "\"")) }
        writer.out.append(options.pretty ? ": " : ":" as StaticString)
        try writer.value(entry.value, valueField)
      }
      writer.close(UInt8(ascii: "}"), isEmpty: entries.isEmpty)
    }
    return (writer.out.copyBytes(), writer.repairsText)
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
    _ = try scalar(field.plan, &reader)
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

  /// Writes the separator, the key and the colon of a field. There is room for a number after them.
  @inline(__always)
  mutating func key(_ field: FieldPointer, isFirst: Bool) {
    if options.pretty { return prettyKey(field, isFirst: isFirst) }
    compactKey(options.protoNames ? field.pointee.protoKey : field.pointee.jsonKey, isFirst: isFirst)
  }

  @inline(__always)
  mutating func compactKey(_ key: KeyBytes, isFirst: Bool) {
    out.reserve(key.count &+ KeyBytes.block &+ JSONText.numberRoom)
    let skipped = isFirst ? 1 : 0
    copyBlocks(from: key.start + skipped, to: out.end, count: key.count &- skipped)
    out.advance(by: key.count &- skipped)
  }

  @inline(never)
  private mutating func prettyKey(_ field: FieldPointer, isFirst: Bool) {
    let key = options.protoNames ? field.pointee.protoKey : field.pointee.jsonKey
    separate(isFirst: isFirst)
    out.append(UnsafeRawBufferPointer(start: key.start + 1, count: key.count - 1))
    out.append(0x20)
    out.reserve(JSONText.numberRoom)
  }

  /// Removes what was written since.
  mutating func rewind(to count: Int, level: Int) {
    out.truncate(to: count)
    self.level = level
  }

  // MARK: Messages

  @inline(__always)
  mutating func message(_ plan: PlanPointer, _ reader: WireReader, depth: Int) throws(DecodeError) {
    guard depth <= nestingLimit else { throw reader.failure(.tooDeep) }
    guard let wellKnown = plan.pointee.wellKnown else { return try object(plan, reader, depth: depth) }
    // A custom schema may define such a type with required fields.
    if plan.pointee.requiredCount > 0 { mayLackRequired = true }
    if wellKnown == .timestamp || wellKnown == .duration {
      return try time(isTimestamp: wellKnown == .timestamp, reader, depth: depth)
    }
    try special(wellKnown, plan, reader, depth: depth)
  }

  /// Writes a well-known type other than a time.
  @inline(never)
  private mutating func special(
    _ wellKnown: WellKnownKind, _ plan: PlanPointer, _ reader: WireReader, depth: Int
  ) throws(DecodeError) {
    let start = out.count
    let startLevel = level
    if try writeSpecial(wellKnown, plan, reader, depth: depth) { return }
    rewind(to: start, level: startLevel)
    try canonically(plan, reader, depth: depth) { (writer, reader) throws(DecodeError) in
      try writer.writeSpecial(wellKnown, plan, reader, depth: depth)
    }
  }

  @inline(never)
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
    if options.unknownFields == .show { try unknownFields(plan, reader, isEmpty: &isStillEmpty) }
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
}
