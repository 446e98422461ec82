/// A field's data for the transcoders' inner loops.
///
/// It contains no counted references, so that copying is free; the field owns what it points to, and the pool
/// of the transcoded type retains the field.
struct FieldPlan {
  struct Flags: OptionSet {
    let rawValue: UInt8
    static let isRepeated = Flags(rawValue: 1)
    static let isMap = Flags(rawValue: 2)
    static let isPacked = Flags(rawValue: 4)
    static let hasPresence = Flags(rawValue: 8)
    static let validatesUTF8 = Flags(rawValue: 16)
    static let hasClosedEnum = Flags(rawValue: 32)
    /// Whether null may be a value of it, instead of its absence.
    static let mayTakeNull = Flags(rawValue: 64)
    /// Whether a message without it is incomplete; never true for extensions.
    static let isRequired = Flags(rawValue: 128)
  }

  let number: UInt32
  /// The tag before a single value.
  let elementTag: Tag
  let kind: FieldKind
  let flags: Flags
  /// The index of its oneof, or -1.
  let oneof: Int16
  let slot: Int32
  /// `,"jsonName":`
  let jsonKey: KeyBytes
  /// `,"name":`
  let protoKey: KeyBytes
  /// The field of this plan.
  let identity: Unmanaged<FieldNode>
  let messageType: Unmanaged<MessageNode>?
  let enumType: Unmanaged<EnumNode>?

  init(_ field: FieldNode) {
    number = field.number
    kind = field.kind
    elementTag = Tag(field.number, field.kind.wireType)
    var flags: Flags = []
    if field.isRepeated { flags.insert(.isRepeated) }
    if field.isMap { flags.insert(.isMap) }
    if field.isPacked { flags.insert(.isPacked) }
    if field.hasPresence { flags.insert(.hasPresence) }
    if field.validatesUTF8 { flags.insert(.validatesUTF8) }
    if field.enumType?.isClosed == true { flags.insert(.hasClosedEnum) }
    if field.enumType?.isNullValue == true || field.messageType?.name == "google.protobuf.Value" {
      flags.insert(.mayTakeNull)
    }
    if field.isRequired, !field.isExtension { flags.insert(.isRequired) }
    self.flags = flags
    oneof = field.oneofIndex.map { Int16(truncatingIfNeeded: min($0, Int(Int16.max))) } ?? -1
    slot = Int32(field.slot)
    jsonKey = KeyBytes(field.jsonName)
    protoKey = KeyBytes(field.isExtension ? field.jsonName : field.name)
    identity = .passUnretained(field)
    messageType = field.messageType.map { .passUnretained($0) }
    enumType = field.enumType.map { .passUnretained($0) }
  }

  @inline(__always)
  var isRepeated: Bool { flags.contains(.isRepeated) }
  /// Whether it has one value, which is not a message.
  @inline(__always)
  var isScalar: Bool { !isRepeated && !kind.isMessage }
  @inline(__always)
  var isMap: Bool { flags.contains(.isMap) }
  @inline(__always)
  var isPacked: Bool { flags.contains(.isPacked) }
  @inline(__always)
  var hasPresence: Bool { flags.contains(.hasPresence) }
  @inline(__always)
  var validatesUTF8: Bool { flags.contains(.validatesUTF8) }
  /// 1 for a required field, otherwise 0: the loops add it up.
  @inline(__always)
  var requiredCount: Int { Int(truncatingIfNeeded: flags.rawValue &>> 7) }

  /// Whether a name is its JSON name or its original name.
  @inline(__always)
  func isNamed(_ name: UnsafeRawBufferPointer) -> Bool {
    sameBytes(jsonKey.name, name) || sameBytes(protoKey.name, name)
  }

  /// The field, for data that is not in the plan.
  var field: FieldNode { identity.takeUnretainedValue() }
}

typealias FieldPointer = UnsafePointer<FieldPlan>

extension FieldPointer {
  /// The plan of the field's message type.
  @inline(__always)
  func planOfMessage() throws(DecodeError) -> PlanPointer {
    guard let type = pointee.messageType else { throw DecodeError(.notRepresentable("no message")) }
    if let plan = type._withUnsafeGuaranteedRef({ $0.plan }) { return plan }
    return try type.takeUnretainedValue().pointerToPlan()
  }

  /// The plans of a map's keys and values; for other fields, the field's own plan.
  @inline(__always)
  func partsOfMap() -> (key: FieldPointer, value: FieldPointer) {
    let field = pointee.field
    return (field.mapKey?.plan ?? self, field.mapValue?.plan ?? self)
  }

  /// Whether a closed enum does not define the number in the low bits.
  @inline(never)
  func isUnknownEnum(_ bits: UInt64) -> Bool {
    pointee.enumType?._withUnsafeGuaranteedRef { !$0.accepts(Int32(truncatingIfNeeded: bits)) } ?? false
  }
}

/// A key in its written form, with comma, quotes and colon, followed by padding so that it can be copied and
/// compared in blocks.
struct KeyBytes {
  static let block = 16

  let start: UnsafePointer<UInt8>
  let count: Int
  /// The unescaped name, also with padding behind it; it may be escaped in the key.
  let nameStart: UnsafePointer<UInt8>
  let nameCount: Int

  init(_ text: String) {
    var buffer = OutputBuffer(capacity: text.utf8.count + 4 + KeyBytes.block)
    buffer.append(UInt8(ascii: ","))
    JSONText.appendString(text, to: &buffer)
    buffer.append(UInt8(ascii: ":"))
    count = buffer.count
    nameCount = text.utf8.count
    let isEscaped = nameCount != count - 4
    let nameOffset = isEscaped ? count + KeyBytes.block : 2
    let size = count + KeyBytes.block + (isEscaped ? nameCount + KeyBytes.block : 0)
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    copy.initialize(repeating: 0, count: size)
    copy.update(from: buffer.base, count: count)
    if isEscaped { for (index, byte) in text.utf8.enumerated() { copy[nameOffset + index] = byte } }
    start = UnsafePointer(copy)
    nameStart = start + nameOffset
  }

  @inline(__always)
  var name: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nameStart, count: nameCount) }

  func deallocate() { start.deallocate() }

  /// The bytes from the quote to the colon.
  @inline(__always)
  var withColon: UnsafePointer<UInt8> { start + 1 }
}

/// A message type's data for the transcoders' inner loops; owned by its `MessageNode`.
struct MessagePlan {
  /// The fields by number.
  let fields: FieldPointer
  let count: Int
  /// The index in `fields` of each number below `denseCount`, or -1.
  let dense: UnsafePointer<Int16>
  let denseCount: UInt32
  private let names: NameTable.Frozen
  let wellKnown: WellKnownKind?
  let isMessageSet: Bool
  let isExtensible: Bool
  /// The number of required fields.
  let requiredCount: Int
  let type: Unmanaged<MessageNode>
  private let owner: Unmanaged<MessageTable>

  /// The plan of the extension with a number; nil if the schema has none.
  @inline(__always)
  func extensionPlan(_ number: UInt32) throws(DecodeError) -> FieldPointer? {
    guard isExtensible else { return nil }
    if let known = type._withUnsafeGuaranteedRef({ $0.extensions.find(number) }) { return known }
    return try type.takeUnretainedValue().extensionPlan(number)
  }

  /// Allocates a plan; `deallocate` frees it.
  static func make(for table: MessageTable, type: MessageNode) -> UnsafePointer<MessagePlan> {
    let count = table.fields.count
    let fields = UnsafeMutablePointer<FieldPlan>.allocate(capacity: max(count, 1))
    for (index, field) in table.fields.enumerated() { (fields + index).initialize(to: field.plan.pointee) }
    let denseCount = denseNumbers(upTo: table.fields.last?.number ?? 0, fields: count)
    let dense = UnsafeMutablePointer<Int16>.allocate(capacity: denseCount)
    dense.initialize(repeating: -1, count: denseCount)
    for field in table.fields where Int(field.number) < denseCount {
      dense[Int(field.number)] = Int16(field.slot)
    }
    let plan = UnsafeMutablePointer<MessagePlan>.allocate(capacity: 1)
    plan.initialize(
      to: MessagePlan(
        fields: fields, count: count, dense: dense, denseCount: UInt32(denseCount),
        names: NameTable.Frozen(table.names), wellKnown: table.wellKnown, isMessageSet: table.isMessageSet,
        isExtensible: !table.extensionRanges.isEmpty,
        requiredCount: table.fields.count { $0.isRequired }, type: .passUnretained(type),
        owner: .passUnretained(table)))
    return UnsafePointer(plan)
  }

  static func deallocate(_ plan: UnsafePointer<MessagePlan>) {
    plan.pointee.fields.deallocate()
    plan.pointee.dense.deallocate()
    plan.pointee.names.deallocate()
    plan.deallocate()
  }

  var table: MessageTable { owner.takeUnretainedValue() }

  /// The field with a number, without extensions.
  @inline(__always)
  func field(_ number: UInt32) -> FieldPointer? {
    if number < denseCount {
      let slot = dense[Int(number)]
      return slot < 0 ? nil : fields + Int(slot)
    }
    return search(number)
  }

  /// The field with a JSON name or an original name, without extensions.
  @inline(__always)
  func field(named name: UnsafeRawBufferPointer) -> FieldPointer? {
    let slot = names.find(NameTable.hash(name)) { fields[$0].isNamed(name) }
    return slot.map { fields + $0 }
  }

  private func search(_ number: UInt32) -> FieldPointer? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if fields[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < count && fields[low].number == number ? fields + low : nil
  }
}

typealias PlanPointer = UnsafePointer<MessagePlan>
