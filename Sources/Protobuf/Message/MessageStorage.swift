/// The stored value of a field.
enum FieldStorage: Sendable {
  case none
  case single(Value)
  case list([Value])
  case map([MapKey: Value])

  /// Whether nothing is written for it.
  func isAbsent(_ field: FieldNode) -> Bool {
    switch self {
    case .none: true
    case .single(let value): !field.hasPresence && value.isZero
    case .list(let values): values.isEmpty
    case .map(let entries): entries.isEmpty
    }
  }
}

/// The content of a message, shared by its copies until one changes.
///
/// It is small, because a message may have only two bytes of input: it lists set fields only, and rarely used
/// parts are separate.
///
/// Only a `Message` with a unique reference changes it, which makes it sendable.
final class MessageStorage: @unchecked Sendable {
  /// The value of the field with a slot.
  private struct Present {
    var value: FieldStorage
    let slot: Int32
  }

  /// Rarely used parts.
  private final class Others {
    /// Extensions by number, of which a message may have any count in any order.
    var extensions: [UInt32: (field: FieldNode, value: FieldStorage)] = [:]
    var unknown: [UInt8] = []
    /// The slot of the field of each oneof that was set last, or -1; empty while few fields are set.
    var members: [Int32] = []
  }

  /// Retains the type, and with it everything that the message refers to.
  let pool: PoolCore
  unowned(unsafe) let type: MessageNode
  let table: MessageTable
  /// The fields that were set, by slot; those cleared since are `none`.
  private var present: [Present] = []
  private var others: Others?

  init(_ type: MessageNode, _ table: MessageTable) {
    pool = type.pool
    self.type = type
    self.table = table
  }

  /// Makes an empty message; if the type's schema is invalid, one without fields.
  convenience init(_ type: MessageNode) {
    let table =
      (try? type.table())
      ?? MessageTable(
        name: type.name, file: "", fields: [], oneofs: [], extensionRanges: [], isMessageSet: false)
    self.init(type, table)
  }

  func copy() -> MessageStorage {
    let copy = MessageStorage(type, table)
    copy.present = present
    if let others {
      copy.extended().extensions = others.extensions
      copy.extended().unknown = others.unknown
      copy.extended().members = others.members
    }
    return copy
  }

  // MARK: Fields

  /// The value of a field or an extension.
  subscript(field: FieldNode) -> FieldStorage {
    get {
      if field.slot >= 0 { return self[slot: field.slot] }
      return others?.extensions[field.number]?.value ?? .none
    }
    set {
      if field.slot >= 0 { self[slot: field.slot] = newValue } else { setExtension(field, newValue) }
    }
  }

  /// The value of the field with a slot.
  subscript(slot slot: Int) -> FieldStorage {
    get {
      let index = position(of: slot)
      return isPresent(slot, at: index) ? present[index].value : .none
    }
    set {
      let index = position(of: slot)
      if isPresent(slot, at: index) {
        present[index].value = newValue
      } else if case .none = newValue {
        return
      } else {
        present.insert(Present(value: newValue, slot: Int32(truncatingIfNeeded: slot)), at: index)
      }
    }
  }

  /// The index of a slot in `present`, existing or not.
  @inline(__always)
  private func position(of slot: Int) -> Int {
    // Fields are usually in order: the last one, or a later one.
    guard let last = present.last, slot <= last.slot else { return present.count }
    if slot == last.slot { return present.count - 1 }
    var low = 0
    var high = present.count - 1
    while low < high {
      let middle = (low + high) / 2
      if present[middle].slot < slot { low = middle + 1 } else { high = middle }
    }
    return low
  }

  @inline(__always)
  private func isPresent(_ slot: Int, at index: Int) -> Bool {
    index < present.count && present[index].slot == slot
  }

  private func setExtension(_ field: FieldNode, _ value: FieldStorage) {
    if case .none = value {
      others?.extensions[field.number] = nil
    } else {
      extended().extensions[field.number] = (field, value)
    }
  }

  /// Removes a value, to change it in place and store it again.
  func take(_ field: FieldNode) -> FieldStorage {
    let value = self[field]
    if field.slot >= 0 { self[slot: field.slot] = .none } else { self[field] = .single(.bool(false)) }
    return value
  }

  /// Clears the other members of a field's oneof, before the field is set.
  func clearOthers(of field: FieldNode) {
    guard let oneof = field.oneofIndex else { return }
    guard present.count > 16 else {
      for index in present.indices where present[index].slot != field.slot {
        if table.fields[Int(present[index].slot)].oneofIndex == oneof { present[index].value = .none }
      }
      return
    }
    let others = extended()
    if others.members.isEmpty { others.members = setMembers() }
    let last = Int(others.members[oneof])
    if last >= 0, last != field.slot { self[slot: last] = .none }
    others.members[oneof] = Int32(truncatingIfNeeded: field.slot)
  }

  /// The slot of the set field of each oneof, or -1.
  private func setMembers() -> [Int32] {
    var members = [Int32](repeating: -1, count: table.oneofs.count)
    for item in present {
      guard let oneof = table.fields[Int(item.slot)].oneofIndex else { continue }
      if case .none = item.value { continue }
      members[oneof] = item.slot
    }
    return members
  }

  /// The set fields, by number.
  func forEachPresent<E: Error>(_ body: (FieldNode, FieldStorage) throws(E) -> Void) throws(E) {
    var extensions = (others?.extensions.values.sorted { $0.field.number < $1.field.number } ?? [])[...]
    for item in present {
      let field = table.fields[Int(item.slot)]
      while let next = extensions.first, next.field.number < field.number {
        try body(next.field, next.value)
        extensions.removeFirst()
      }
      if !item.value.isAbsent(field) { try body(field, item.value) }
    }
    for (field, value) in extensions where !value.isAbsent(field) { try body(field, value) }
  }

  // MARK: Others

  /// The serialized fields that the type does not define, in the order received.
  var unknown: [UInt8] { others?.unknown ?? [] }

  func appendUnknown(_ bytes: UnsafeBufferPointer<UInt8>) {
    extended().unknown.append(contentsOf: bytes)
  }

  func removeUnknown() {
    others?.unknown = []
  }

  /// Removes the unknown fields of the message and of all messages in it. No other message may share one of them.
  func removeAllUnknown() {
    removeUnknown()
    for field in present { Self.removeUnknown(in: field.value) }
    for field in (others?.extensions ?? [:]).values { Self.removeUnknown(in: field.value) }
  }

  private static func removeUnknown(in value: FieldStorage) {
    switch value {
    case .none: break
    case .single(let value): removeUnknown(in: [value])
    case .list(let values): removeUnknown(in: values)
    case .map(let entries): removeUnknown(in: Array(entries.values))
    }
  }

  private static func removeUnknown(in values: [Value]) {
    // All elements of a list have the same type.
    guard case .message = values.first else { return }
    for case .message(let message) in values { message.storage.removeAllUnknown() }
  }

  private func extended() -> Others {
    if let others { return others }
    let made = Others()
    others = made
    return made
  }
}
