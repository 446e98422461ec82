/// Whether the fields of a message arrive in canonical order: by number, at most one field of each oneof.
struct FieldOrder {
  private var lastNumber: UInt32 = 0
  private var oneofs: UInt64 = 0

  /// Enters the next field; false if it is out of order, or its oneof has an index that is too large to track.
  @inline(__always)
  mutating func enter(_ field: FieldPointer) -> Bool {
    guard field.pointee.number > lastNumber else { return false }
    lastNumber = field.pointee.number
    guard field.pointee.oneof >= 0 else { return true }
    guard field.pointee.oneof < 64 else { return false }
    let bit: UInt64 = 1 << UInt64(field.pointee.oneof)
    defer { oneofs |= bit }
    return oneofs & bit == 0
  }

  /// Whether a field is a list that was entered last: another element may follow.
  @inline(__always)
  func continues(_ field: FieldPointer) -> Bool {
    field.pointee.number == lastNumber && field.pointee.isRepeated
  }
}
