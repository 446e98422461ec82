import Synchronization

/// The content of a ``MessageType``; its pool owns it, see ``FieldNode``.
final class MessageNode: Sendable {
  let name: String
  unowned(unsafe) let pool: PoolCore
  private let compiled = AtomicLazyReference<MessageTable>()
  private let planned = Atomic<UInt>(0)
  /// The extensions found so far.
  let extensions = ExtensionCache()

  init(name: String, pool: PoolCore) {
    self.name = name
    self.pool = pool
  }

  deinit { if let plan { MessagePlan.deallocate(plan) } }

  /// The plan, if it was made.
  @inline(__always)
  var plan: PlanPointer? { PlanPointer(bitPattern: planned.load(ordering: .acquiring)) }

  /// The plan; valid as long as the type.
  @inline(__always)
  func pointerToPlan() throws(DecodeError) -> PlanPointer {
    if let plan { return plan }
    return try makePlan()
  }

  @inline(never)
  private func makePlan() throws(DecodeError) -> PlanPointer {
    let table: MessageTable
    do { table = try self.table() } catch { throw DecodeError(.schema(error)) }
    let made = MessagePlan.make(for: table, type: self)
    let (isStored, earlier) = planned.compareExchange(
      expected: 0, desired: UInt(bitPattern: made), ordering: .acquiringAndReleasing)
    if isStored { return made }
    MessagePlan.deallocate(made)
    return PlanPointer(bitPattern: earlier) ?? made
  }

  /// The plan of an extension that was not found yet.
  @inline(never)
  func extensionPlan(_ number: UInt32) throws(DecodeError) -> FieldPointer? {
    guard let field = try BinaryDecoder.findExtension(number, of: self, pointerToPlan().pointee.table) else {
      return nil
    }
    extensions.add(field.plan)
    return field.plan
  }

  /// Whether the type was found and compiled.
  var isCompiled: Bool { compiled.load() != nil }

  /// The compiled table.
  @inline(__always)
  func table() throws(SchemaError) -> MessageTable {
    if let table = compiled.load() { return table }
    return compiled.storeIfNil(try pool.compile(self))
  }
}

/// The count of numbers, from 0 on, that are looked up in an array: not much larger than the number of
/// fields, so that a small type uses little memory.
func denseNumbers(upTo highest: UInt32, fields: Int) -> Int {
  Int(min(highest, 255, UInt32(truncatingIfNeeded: fields * 4 + 16))) + 1
}

/// A compiled message type for the codecs.
final class MessageTable: Sendable {
  let name: String
  let file: String
  /// The fields by number; a field's index is its `slot`.
  let fields: [FieldNode]
  let oneofs: [(name: String, options: SerializedOptions)]
  let extensionRanges: [(numbers: Range<UInt32>, options: SerializedOptions)]
  let isMessageSet: Bool
  /// Names that text format ignores.
  let reservedNames: Set<String>
  let options: SerializedOptions
  let wellKnown: WellKnownKind?

  /// The slot of each number below `dense.count`, or -1.
  private let dense: [Int16]
  let names: NameTable
  /// The JSON names of several fields, of which `names` contains the first.
  let sharedJSONNames: Set<String>
  /// The slots of the fields that `names` does not contain under their name in text format.
  private let otherTextNames: [String: Int]
  /// The extension ranges in order, joined.
  private let extensionNumbers: [Range<UInt32>]

  init(
    name: String, file: String, fields: [FieldNode],
    oneofs: [(name: String, options: SerializedOptions)],
    extensionRanges: [(numbers: Range<UInt32>, options: SerializedOptions)], isMessageSet: Bool,
    reservedNames: Set<String> = [], options: SerializedOptions = .none
  ) {
    self.name = name
    self.file = file
    self.fields = fields
    self.oneofs = oneofs
    self.extensionRanges = extensionRanges
    self.isMessageSet = isMessageSet
    self.reservedNames = reservedNames
    self.options = options
    wellKnown = WellKnownKind(typeName: name, fields: fields)
    var dense = [Int16](
      repeating: -1, count: denseNumbers(upTo: fields.last?.number ?? 0, fields: fields.count))
    for field in fields where Int(field.number) < dense.count { dense[Int(field.number)] = Int16(field.slot) }
    self.dense = dense
    var names = NameTable(capacity: fields.count * 2)
    /// Adds a name unless it is that of an earlier field; returns the slot of the field that is found by it.
    func insert(_ name: String, of field: FieldNode) -> Int {
      var name = name
      return name.withUTF8 { bytes in
        let name = UnsafeRawBufferPointer(bytes)
        return names.insert(NameTable.hash(name), field.slot) { fields[$0].plan.pointee.isNamed(name) }
      }
    }
    // JSON names first: they take precedence over another field's original name.
    var sharedJSONNames: Set<String> = []
    for field in fields where insert(field.jsonName, of: field) != field.slot {
      sharedJSONNames.insert(field.jsonName)
    }
    self.sharedJSONNames = sharedJSONNames
    var otherTextNames: [String: Int] = [:]
    for field in fields {
      let textName = field.textName(in: name)
      if insert(field.name, of: field) != field.slot {
        otherTextNames[field.name] = otherTextNames[field.name] ?? field.slot
      }
      if textName != field.name { otherTextNames[textName] = otherTextNames[textName] ?? field.slot }
    }
    self.names = names
    self.otherTextNames = otherTextNames
    extensionNumbers = MessageTable.joined(extensionRanges.map(\.numbers))
  }

  /// Ranges in order, without those that touch each other.
  private static func joined(_ ranges: [Range<UInt32>]) -> [Range<UInt32>] {
    var result: [Range<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = result.last, range.lowerBound <= last.upperBound {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    return result
  }

  @inline(__always)
  func field(_ number: UInt32) -> FieldNode? {
    if Int(number) < dense.count {
      let slot = dense[Int(number)]
      return slot < 0 ? nil : fields[Int(slot)]
    }
    return search(number)
  }

  @inline(never)
  private func search(_ number: UInt32) -> FieldNode? {
    var low = 0
    var high = fields.count
    while low < high {
      let middle = (low + high) / 2
      if fields[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < fields.count && fields[low].number == number ? fields[low] : nil
  }

  @inline(__always)
  func field(named name: UnsafeRawBufferPointer) -> FieldNode? {
    let slot = names.find(NameTable.hash(name)) { fields[$0].plan.pointee.isNamed(name) }
    return slot.map { fields[$0] }
  }

  /// The field with a name of text format that does not find it as a JSON name or an original name: its original name
  /// if it is another field's JSON name, or the name of a group.
  func field(otherTextName name: String) -> FieldNode? {
    otherTextNames[name].map { fields[$0] }
  }

  @inline(__always)
  func mayExtend(_ number: UInt32) -> Bool {
    !extensionRanges.isEmpty && (isMessageSet || isInExtensionRange(number))
  }

  @inline(never)
  private func isInExtensionRange(_ number: UInt32) -> Bool {
    var low = 0
    var high = extensionNumbers.count
    while low < high {
      let middle = (low + high) / 2
      if extensionNumbers[middle].upperBound <= number { low = middle + 1 } else { high = middle }
    }
    return low < extensionNumbers.count && extensionNumbers[low].contains(number)
  }
}
