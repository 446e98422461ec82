/// Writing lists: consecutive elements, and packed ones.
extension WireToJSON {
  /// Writes consecutive elements; the first tag has been read.
  @inline(__always)
  mutating func list(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, depth: Int,
    _ progress: inout Progress
  ) throws(DecodeError) {
    begin(field, plan, &progress)
    open(UInt8(ascii: "["))
    var isFirst = true
    repeat {
      separate(isFirst: isFirst)
      isFirst = false
      switch field.pointee.kind {
      case .message, .group: try nested(field, &reader, depth: depth)
      case .string: _ = try string(field, &reader)
      default: _ = try scalar(field, &reader)
      }
    } while reader.accept(field.pointee.elementTag)
    close(UInt8(ascii: "]"), isEmpty: false)
  }

  @inline(never)
  mutating func closedEnumList(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    var isOpen = false
    repeat {
      let bits = try reader.varint()
      if field.isUnknownEnum(bits) { continue }
      separateElement(field, plan, isOpen: &isOpen, &progress)
      enumeration(field, Int32(truncatingIfNeeded: bits))
    } while reader.accept(field.pointee.elementTag)
    if isOpen { close(UInt8(ascii: "]"), isEmpty: false) }
    return true
  }

  mutating func packed(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    var content = try reader.nested()
    let wireType = field.pointee.kind.wireType
    let size = wireType == .fixed32 ? 4 : wireType == .fixed64 ? 8 : 1
    guard content.remaining % size == 0 else { throw content.failure(.invalidPackedLength) }
    let isClosedEnum = field.pointee.flags.contains(.hasClosedEnum)
    var isOpen = false
    while !content.isAtEnd {
      if isClosedEnum {
        var ahead = content
        if field.isUnknownEnum(try ahead.varint()) {
          content = ahead
          continue
        }
      }
      if !isOpen, field.pointee.number <= progress.lastNumber { return false }
      separateElement(field, plan, isOpen: &isOpen, &progress)
      _ = try scalar(field, &content)
    }
    if isOpen { close(UInt8(ascii: "]"), isEmpty: false) }
    return true
  }

  /// Writes what is before an element of a list whose first element may be dropped.
  @inline(__always)
  private mutating func separateElement(
    _ field: FieldPointer, _ plan: PlanPointer, isOpen: inout Bool, _ progress: inout Progress
  ) {
    if !isOpen {
      begin(field, plan, &progress)
      open(UInt8(ascii: "["))
    }
    separate(isFirst: !isOpen)
    isOpen = true
  }
}
