/// Writing lists: consecutive elements, and packed ones.
extension WireToJSON {
  /// Writes consecutive elements; the first tag has been read.
  @inline(__always)
  mutating func list(
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
}
