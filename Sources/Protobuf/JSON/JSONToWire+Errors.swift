/// The errors for an object and its keys. These read the text again, so that the way without errors stores no names.
extension JSONToWire {
  /// The error for a value that is no object.
  @inline(never)
  func failure(notAnObject plan: PlanPointer) -> ReadFailure {
    scanner.wrongType("an object (\(plan.pointee.type.takeUnretainedValue().name))")
  }

  /// The key after a place where only white space and a comma may precede it.
  func key(after place: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
    var place = place
    while place < scanner.end, place.pointee != UInt8(ascii: "\"") { place += 1 }
    return place
  }

  /// The name of a field as the text has it, without its quotation marks.
  @inline(never)
  func spelling(of field: FieldPointer, at key: UnsafePointer<UInt8>) -> String {
    field.pointee.slot < 0 ? field.pointee.field.pathName : name(at: key)
  }

  private func name(at key: UnsafePointer<UInt8>) -> String {
    var scanner = scanner
    var scratch = OutputBuffer()
    scanner.cursor = key
    guard let name = try? scanner.string(scratch: &scratch) else { return "" }
    return String(decoding: name, as: UTF8.self)
  }

  /// The error for `field`, of whose oneof another field is set between `content` and its key.
  @inline(never)
  mutating func conflict(
    _ plan: PlanPointer, _ field: FieldPointer, from content: UnsafePointer<UInt8>,
    at key: UnsafePointer<UInt8>
  ) -> ReadFailure {
    let second = name(at: key)
    let first = earlierKey(plan, from: content, before: key) { other, isNull in
      other.pointee.oneof == field.pointee.oneof && !isNull
    }
    let oneof = plan.pointee.table.oneofs[Int(field.pointee.oneof)].name
    return scanner.failure(
      .oneofConflict(oneof: oneof, first: first ?? second, second: second), at: key - scanner.start
    ).inside(second)
  }

  /// The error for a field that is given a second time, maybe by its other name.
  @inline(never)
  mutating func duplicate(
    _ plan: PlanPointer, _ field: FieldPointer, from content: UnsafePointer<UInt8>,
    at key: UnsafePointer<UInt8>
  ) -> ReadFailure {
    let second = name(at: key)
    guard let first = earlierKey(plan, from: content, before: key, where: { other, _ in other == field }),
      first != second
    else { return failure(duplicate: key) }
    return scanner.failure(
      .syntax(expected: "one of \"\(first)\" and \"\(second)\", which are the same field"),
      at: key - scanner.start)
  }

  /// The name of the first field between `content` and a key that `isSought`, which also learns whether its value is a null
  /// that does not set it.
  private mutating func earlierKey(
    _ plan: PlanPointer, from content: UnsafePointer<UInt8>, before key: UnsafePointer<UInt8>,
    where isSought: (_ field: FieldPointer, _ isNull: Bool) -> Bool
  ) -> String? {
    scanner.cursor = content
    var count = 0
    while (try? scanner.nextKey(after: count)) == true, scanner.cursor < key {
      count += 1
      let start = scanner.cursor
      guard let bytes = try? scanner.string(scratch: &scratch) else { break }
      let other = plan.pointee.field(named: bytes)
      guard (try? scanner.expectColon()) != nil else { break }
      let isNull = scanner.peek() == UInt8(ascii: "n") && other?.pointee.flags.contains(.mayTakeNull) != true
      if let other, isSought(other, isNull) { return name(at: start) }
      guard (try? scanner.skipValue(depth: 0, scratch: &scratch)) != nil else { break }
    }
    return nil
  }

  @inline(never)
  mutating func failure(duplicate key: UnsafePointer<UInt8>) -> ReadFailure {
    let offset = key - scanner.start
    scanner.cursor = key
    guard let name = try? scanner.string(scratch: &scratch) else { return scanner.failure(.unexpectedEnd) }
    return scanner.failure(.duplicateKey(String(decoding: name, as: UTF8.self)), at: offset)
  }
}
