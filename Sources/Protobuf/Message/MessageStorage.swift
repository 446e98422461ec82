/// What is stored for a field.
enum FieldStorage: Sendable {
  case none
  case single(Value)
  case list([Value])
  case map([MapKey: Value])

  /// Whether there is nothing to write.
  func isAbsent(_ field: Field) -> Bool {
    switch self {
    case .none: true
    case .single(let value): !field.hasPresence && value.isZero
    case .list(let values): values.isEmpty
    case .map(let entries): entries.isEmpty
    }
  }
}

/// The content of a message; shared by copies of it until one is changed.
///
/// Only ever changed by the one `Message` that refers to it uniquely, which makes it sendable.
final class MessageStorage: @unchecked Sendable {
  let type: MessageType
  let table: MessageTable
  /// By the fields' slots.
  var slots: [FieldStorage]
  /// By number.
  var extensions: [(field: Field, value: FieldStorage)] = []
  /// Serialized fields that the type does not define, in the order in which they came.
  var unknown: [UInt8] = []

  init(_ type: MessageType, _ table: MessageTable) {
    self.type = type
    self.table = table
    slots = Array(repeating: .none, count: table.fields.count)
  }

  /// An empty message; of a type whose schema is broken, one without fields.
  convenience init(_ type: MessageType) {
    let table =
      (try? type.table())
      ?? MessageTable(
        name: type.name, file: "", fields: [], oneofNames: [], extensionRanges: [], isMessageSet: false)
    self.init(type, table)
  }

  func copy() -> MessageStorage {
    let copy = MessageStorage(type, table)
    copy.slots = slots
    copy.extensions = extensions
    copy.unknown = unknown
    return copy
  }

  /// The value of a field or an extension.
  subscript(field: Field) -> FieldStorage {
    get {
      if field.slot >= 0 { return slots[field.slot] }
      return extensions.first { $0.field.number == field.number }?.value ?? .none
    }
    set {
      if field.slot >= 0 {
        slots[field.slot] = newValue
        return
      }
      let index = extensions.firstIndex { $0.field.number >= field.number } ?? extensions.count
      let isThere = index < extensions.count && extensions[index].field.number == field.number
      if case .none = newValue {
        if isThere { extensions.remove(at: index) }
      } else if isThere {
        extensions[index].value = newValue
      } else {
        extensions.insert((field, newValue), at: index)
      }
    }
  }

  /// Takes a value out, so that it can be changed in place and put back.
  func take(_ field: Field) -> FieldStorage {
    let value = self[field]
    if field.slot >= 0 { slots[field.slot] = .none } else { self[field] = .single(.bool(false)) }
    return value
  }

  /// Clears the other members of a field's oneof.
  func clearOthers(of field: Field) {
    guard let oneof = field.oneofIndex else { return }
    for other in table.fields where other.oneofIndex == oneof && other.slot != field.slot {
      slots[other.slot] = .none
    }
  }

  /// What is set, by number.
  func forEachPresent<E: Error>(_ body: (Field, FieldStorage) throws(E) -> Void) throws(E) {
    var nextExtension = 0
    for field in table.fields {
      while nextExtension < extensions.count, extensions[nextExtension].field.number < field.number {
        try body(extensions[nextExtension].field, extensions[nextExtension].value)
        nextExtension += 1
      }
      let value = slots[field.slot]
      if !value.isAbsent(field) { try body(field, value) }
    }
    while nextExtension < extensions.count {
      let (field, value) = extensions[nextExtension]
      if !value.isAbsent(field) { try body(field, value) }
      nextExtension += 1
    }
  }
}
