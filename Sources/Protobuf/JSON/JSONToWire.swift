import RPCurlBase

/// Converts JSON to a serialized message in one pass, without building the message.
///
/// The result is the same as the message's serialization: fields by number, map entries by key. Parts in
/// another order are moved at the end of their message.
struct JSONToWire: ~Copyable {
  var scanner: JSONScanner
  var out = OutputBuffer()
  var scratch = OutputBuffer()
  let options: JSONDecodingOptions
  /// The entries of the maps being read, innermost last.
  var entries: [MapEntry] = []
  /// Fields of the messages being read that were set and do not fit in their bit sets: fields by slot, and oneofs by
  /// their index and the number of fields.
  private var met = FieldOccurrences()
  /// Whether a message was read that lacks required fields, or may lack them.
  var mayLackRequired = false

  private init(_ json: UnsafeRawBufferPointer, options: JSONDecodingOptions) {
    scanner = JSONScanner(json)
    self.options = options
  }

  /// Reads a text with one value and appends the message; nothing on an error. Required fields may be
  /// missing.
  ///
  /// - Returns: Whether they may be missing; the caller then decodes the message to name them.
  static func transcode(
    _ json: UnsafeRawBufferPointer, type: MessageType, options: JSONDecodingOptions,
    into buffer: inout OutputBuffer
  ) throws(MessageParseError) -> Bool {
    var reader = JSONToWire(json, options: options)
    swap(&reader.out, &buffer)
    let start = reader.out.count
    reader.out.reserve(json.count / 2 + 64)
    do throws(ReadFailure) {
      let plan: PlanPointer
      do { plan = try type.pointerToPlan() } catch { throw reader.failure(error) }
      try reader.message(plan, depth: 0)
      try reader.scanner.expectEnd()
    } catch {
      reader.out.truncate(to: start)
      swap(&reader.out, &buffer)
      throw MessageParseError(error, in: json, format: .json)
    }
    swap(&reader.out, &buffer)
    return reader.mayLackRequired
  }

  /// Reads a text with the value of `field`, and writes a message with only this field.
  static func transcode(
    _ json: UnsafeRawBufferPointer, field: FieldNode, asElement: Bool, options: JSONDecodingOptions
  ) throws(MessageParseError) -> [UInt8] {
    var reader = JSONToWire(json, options: options)
    do throws(ReadFailure) {
      if asElement {
        try reader.element(field.plan, depth: 0)
      } else {
        // Only an item of a MessageSet may have a number that does not fit in a tag.
        _ = try reader.field(field.plan, depth: 0, inMessageSet: field.number >= 1 << 29)
      }
      try reader.scanner.expectEnd()
    } catch {
      throw MessageParseError(error, in: json, format: .json)
    }
    return reader.out.copyBytes()
  }

  // MARK: Messages

  func plan(of type: MessageNode) throws(ReadFailure) -> PlanPointer {
    do { return try type.pointerToPlan() } catch { throw failure(error) }
  }

  @inline(__always)
  private func planOfMessage(_ field: FieldPointer) throws(ReadFailure) -> PlanPointer {
    do { return try field.planOfMessage() } catch { throw failure(error) }
  }

  private func failure(_ error: DecodeError) -> ReadFailure {
    guard case .schema(let schemaError) = error.reason else { return scanner.expected("a message") }
    return scanner.failure(.schema(schemaError))
  }

  @inline(__always)
  mutating func message(_ plan: PlanPointer, depth: Int) throws(ReadFailure) {
    guard depth <= nestingLimit else { throw scanner.failure(.tooDeep) }
    guard let wellKnown = plan.pointee.wellKnown else { return try object(plan, depth: depth, inAny: false) }
    // A custom schema may define such a type with required fields.
    if plan.pointee.requiredCount > 0 { mayLackRequired = true }
    if wellKnown == .timestamp { return try timestamp() }
    try special(wellKnown, plan, depth: depth)
  }

  /// The progress within a message.
  private struct Progress {
    /// The slot of the field expected next.
    var next = 0
    /// What precedes the next key: the bracket, then commas.
    var separator = UInt8(ascii: "{")
    var isSorted = true
    /// The number of the last written field.
    var written: UInt32 = 0
    /// The number of required fields written.
    var required = 0
    var slots: UInt64 = 0
    var oneofs: UInt64 = 0
    /// What does not fit in `slots` and `oneofs`.
    var others: FieldOccurrences.Level
  }

  /// Reads an object whose keys are the fields of a message.
  @inline(never)
  mutating func object(_ plan: PlanPointer, depth: Int, inAny: Bool) throws(ReadFailure) {
    guard scanner.accept(UInt8(ascii: "{")) else { throw failure(notAnObject: plan) }
    let base = out.count
    let content = scanner.cursor
    // The bracket precedes the first key as a comma does the others.
    scanner.cursor -= 1
    var progress = Progress(others: met.open())
    while true {
      let before = scanner.cursor
      let field: FieldPointer
      if scanner.startsKey(after: progress.separator),
        let expected = expectedField(plan, &progress, at: before + 1)
      {
        field = expected
      } else {
        switch try nextField(plan, &progress, depth: depth, inAny: inAny) {
        case .field(let found): field = found
        case .skipped: continue
        case .end:
          if progress.required < plan.pointee.requiredCount { mayLackRequired = true }
          met.close(progress.others)
          if !progress.isSorted { sortFields(from: base, inMessageSet: plan.pointee.isMessageSet) }
          return
        }
      }
      guard isNew(field, &progress) else {
        throw duplicate(plan, field, from: content, at: key(after: before))
      }
      let start = out.count
      var isSet = true
      do throws(ReadFailure) {
        if field.pointee.isScalar, scanner.peek() != UInt8(ascii: "n") {
          try inlinedScalarField(field, omitZero: !field.pointee.hasPresence)
        } else if field.pointee.isRepeated, !field.pointee.isMap, scanner.peek() == UInt8(ascii: "[") {
          try list(field, depth: depth)
        } else {
          isSet = try self.field(field, depth: depth, inMessageSet: plan.pointee.isMessageSet)
        }
      } catch {
        throw error.inside(spelling(of: field, at: key(after: before)))
      }
      if field.pointee.oneof >= 0, isSet, !enter(oneof: field.pointee.oneof, of: plan, &progress) {
        throw conflict(plan, field, from: content, at: key(after: before))
      }
      if out.count == start { continue }
      if field.pointee.number < progress.written { progress.isSorted = false }
      progress.written = field.pointee.number
      progress.required &+= field.pointee.requiredCount
    }
  }

  // MARK: Keys

  /// Reads the key at `place` and its colon, if it is that of one of the next fields and there is no white space; nil,
  /// with nothing read, for others.
  @inline(__always)
  private mutating func expectedField(
    _ plan: PlanPointer, _ progress: inout Progress, at place: UnsafePointer<UInt8>
  ) -> FieldPointer? {
    // Most writers keep the order of the schema and omit unset fields.
    var slot = progress.next
    let limit = min(slot &+ 3, plan.pointee.count)
    while slot < limit {
      let field = plan.pointee.fields + slot
      slot &+= 1
      if scanner.accept(field.pointee.jsonKey, at: place) {
        progress.separator = UInt8(ascii: ",")
        progress.next = slot
        return field
      }
    }
    return nil
  }

  /// What follows in an object.
  private enum Next {
    /// The value of a field.
    case field(FieldPointer)
    /// A member that was skipped.
    case skipped
    case end
  }

  /// Reads a comma, a key and its colon, or the end.
  @inline(never)
  private mutating func nextField(
    _ plan: PlanPointer, _ progress: inout Progress, depth: Int, inAny: Bool
  ) throws(ReadFailure) -> Next {
    let isFirst = progress.separator == UInt8(ascii: "{")
    if isFirst { scanner.cursor += 1 }
    guard try scanner.nextKey(after: isFirst ? 0 : 1) else { return .end }
    progress.separator = UInt8(ascii: ",")
    if let field = expectedField(plan, &progress, at: scanner.cursor) { return .field(field) }
    if let field = try otherKey(plan, &progress, inAny: inAny) { return .field(field) }
    try scanner.skipValue(depth: depth + 1, scratch: &scratch)
    return .skipped
  }

  @inline(never)
  private mutating func otherKey(
    _ plan: PlanPointer, _ progress: inout Progress, inAny: Bool
  ) throws(ReadFailure) -> FieldPointer? {
    let offset = scanner.position
    let key = try scanner.string(scratch: &scratch)
    var field = plan.pointee.field(named: key)
    if let field {
      progress.next = Int(field.pointee.slot) &+ 1
    } else {
      field = try extensionKey(key, plan, inAny: inAny, at: offset)
    }
    try scanner.expectColon()
    return field
  }

  private func extensionKey(
    _ key: UnsafeRawBufferPointer, _ plan: PlanPointer, inAny: Bool, at offset: Int
  ) throws(ReadFailure) -> FieldPointer? {
    let type = plan.pointee.type.takeUnretainedValue()
    if key.first == UInt8(ascii: "["), let known = type.extensions.find(named: key) { return known }
    let name = String(decoding: key, as: UTF8.self)
    if inAny, name == "@type" { return nil }
    if name.hasPrefix("["), name.hasSuffix("]") {
      do throws(SchemaError) {
        if let field = try type.pool.extensionField(named: String(name.dropFirst().dropLast())),
          try type.pool.extensionField(of: type.name, number: field.number) === field
        {
          type.extensions.add(field.plan)
          return field.plan
        }
      } catch {
        throw scanner.failure(.schema(error), at: offset)
      }
    }
    if options.allowUnknownFields { return nil }
    let nearest = EditDistance.nearest(to: name, among: plan.pointee.table.fields.map(\.jsonName))
    throw scanner.failure(.unknownField(name: name, type: type.name, nearest: nearest), at: offset)
  }

  /// Whether a field occurs for the first time.
  @inline(__always)
  private mutating func isNew(_ field: FieldPointer, _ progress: inout Progress) -> Bool {
    let slot = field.pointee.slot
    if UInt32(bitPattern: slot) < 64 {
      let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: slot)
      defer { progress.slots |= bit }
      return progress.slots & bit == 0
    }
    return slot < 0
      ? met.insert(extension: field.pointee.number, in: &progress.others)
      : met.insert(Int(slot), in: progress.others)
  }

  @inline(__always)
  private mutating func enter(oneof: Int16, of plan: PlanPointer, _ progress: inout Progress) -> Bool {
    guard oneof < 64 else { return met.insert(plan.pointee.count &+ Int(oneof), in: progress.others) }
    let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: oneof)
    defer { progress.oneofs |= bit }
    return progress.oneofs & bit == 0
  }

  // MARK: Fields

  /// Reads the value of a field and writes tag and value; false for a null that means unset.
  @inline(never)
  private mutating func field(
    _ field: FieldPointer, depth: Int, inMessageSet: Bool = false
  ) throws(ReadFailure) -> Bool {
    if scanner.peek() == UInt8(ascii: "n"), try acceptNull(field, asElement: false) { return false }
    if field.pointee.isRepeated {
      if field.pointee.isMap {
        try map(field, depth: depth)
      } else {
        try list(field, depth: depth)
      }
    } else if field.pointee.kind.isMessage {
      if inMessageSet, field.pointee.slot < 0 {
        out.appendTag(MessageSet.itemStart)
        out.appendTag(MessageSet.typeID)
        out.appendVarint(UInt64(field.pointee.number))
        out.appendTag(MessageSet.message)
        try delimited(field, depth: depth)
        out.appendTag(MessageSet.itemEnd)
      } else {
        try messageField(field, depth: depth)
      }
    } else {
      try scalarField(field, omitZero: !field.pointee.hasPresence)
    }
    return true
  }

  /// Reads a null, unless it is a value of the field.
  @inline(never)
  private mutating func acceptNull(_ field: FieldPointer, asElement: Bool) throws(ReadFailure) -> Bool {
    if field.pointee.flags.contains(.mayTakeNull), asElement || !field.pointee.isRepeated {
      guard field.pointee.kind.isMessage else { return false }
      if try planOfMessage(field).pointee.wellKnown == .value { return false }
    }
    return scanner.acceptWord("null")
  }

  @inline(__always)
  mutating func messageField(_ field: FieldPointer, depth: Int) throws(ReadFailure) {
    out.appendTag(field.pointee.elementTag)
    guard field.pointee.kind == .group else { return try delimited(field, depth: depth) }
    try message(planOfMessage(field), depth: depth &+ 1)
    out.appendTag(Tag(field.pointee.number, .endGroup))
  }

  @inline(__always)
  private mutating func delimited(_ field: FieldPointer, depth: Int) throws(ReadFailure) {
    let start = out.openLengthDelimited()
    try message(planOfMessage(field), depth: depth &+ 1)
    // Parts after this message move if the space for its length grows.
    out.closeLengthDelimited(start)
  }

  /// Reads an element of a list or a map, and writes tag and value.
  @inline(__always)
  mutating func element(_ field: FieldPointer, depth: Int) throws(ReadFailure) {
    try refuseNull(field)
    if field.pointee.kind.isMessage {
      try messageField(field, depth: depth)
    } else {
      try inlinedScalarField(field, omitZero: false)
    }
  }

  @inline(__always)
  private mutating func refuseNull(_ field: FieldPointer) throws(ReadFailure) {
    if scanner.peek() == UInt8(ascii: "n"), try acceptNull(field, asElement: true) {
      throw scanner.failure(.nullElement, at: scanner.position - 4)
    }
  }

  @inline(never)
  mutating func list(_ field: FieldPointer, depth: Int) throws(ReadFailure) {
    guard depth <= nestingLimit else { throw scanner.failure(.tooDeep) }
    try scanner.openArray()
    let start = out.count
    let isPacked = field.pointee.isPacked
    var contentStart = 0
    if isPacked {
      out.appendTag(Tag(field.pointee.number, .lengthDelimited))
      contentStart = out.openLengthDelimited()
    }
    var count = 0
    while try scanner.nextElement(after: count) {
      do throws(ReadFailure) {
        if isPacked {
          try refuseNull(field)
          _ = try scalar(field)
        } else {
          try element(field, depth: depth)
        }
      } catch {
        throw error.inside("[\(count)]")
      }
      count &+= 1
    }
    guard isPacked else { return }
    if out.count == contentStart { out.truncate(to: start) } else { out.closeLengthDelimited(contentStart) }
  }
}
