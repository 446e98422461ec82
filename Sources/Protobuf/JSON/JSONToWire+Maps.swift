/// Reading maps; their entries are sorted by key.
extension JSONToWire {
  /// A serialized entry.
  struct MapEntry {
    let start: Int
    var end: Int
    /// A number in the order of the keys; for a string its offset in the output.
    let key: UInt64
    let keyCount: Int
    let jsonOffset: Int
  }

  @inline(never)
  mutating func map(_ field: FieldPointer, depth: Int) throws(ReadFailure) {
    guard depth <= nestingLimit else { throw scanner.failure(.tooDeep) }
    let (keyField, valueField) = field.partsOfMap()
    guard scanner.accept(UInt8(ascii: "{")) else { throw scanner.wrongType("an object") }
    let base = out.count
    let first = entries.count
    defer { entries.removeSubrange(first...) }
    var count = 0
    while try scanner.nextKey(after: count) {
      count += 1
      let keyOffset = scanner.position
      let start = out.count
      out.appendTag(field.pointee.elementTag)
      let contentStart = out.openLengthDelimited()
      let (key, keyCount) = try mapKey(keyField)
      let keyEnd = out.count
      try scanner.expectColon()
      do throws(ReadFailure) {
        try element(valueField, depth: depth + 1)
      } catch {
        let name = UnsafeRawBufferPointer(rebasing: scanner.bytes[keyOffset...])
        throw error.inside("[" + JSONToWire.token(name) + "]")
      }
      // An ignored unknown enum value removes its entry.
      if out.count == keyEnd {
        out.truncate(to: start)
        continue
      }
      let before = out.count
      out.closeLengthDelimited(contentStart)
      let moved = UInt64(out.count - before)
      entries.append(
        MapEntry(
          start: start, end: out.count, key: keyCount < 0 ? key : key + moved, keyCount: keyCount,
          jsonOffset: keyOffset))
    }
    try sort(from: base, first: first)
  }

  /// The text of the string token at the start of `bytes`.
  private static func token(_ bytes: UnsafeRawBufferPointer) -> String {
    var scanner = JSONScanner(bytes)
    var scratch = OutputBuffer(capacity: 16)
    guard (try? scanner.string(scratch: &scratch)) != nil else { return "" }
    return String(decoding: bytes[..<scanner.position], as: UTF8.self)
  }

  /// Sorts the entries in the output, starting at `base`, by key.
  private mutating func sort(from base: Int, first: Int) throws(ReadFailure) {
    guard entries.count > first + 1 else { return }
    let bytes = UnsafeRawPointer(out.base)
    func precedes(_ a: MapEntry, _ b: MapEntry) -> Bool {
      guard a.keyCount >= 0 else { return a.key < b.key }
      let left = UnsafeRawBufferPointer(start: bytes + Int(a.key), count: a.keyCount)
      let right = UnsafeRawBufferPointer(start: bytes + Int(b.key), count: b.keyCount)
      return left.lexicographicallyPrecedes(right)
    }
    var isSorted = true
    for index in first + 1..<entries.count where !precedes(entries[index - 1], entries[index]) {
      isSorted = false
      break
    }
    if isSorted { return }
    let sorted = entries[first...].sorted(by: precedes)
    for index in 1..<sorted.count where !precedes(sorted[index - 1], sorted[index]) {
      let offset = max(sorted[index - 1].jsonOffset, sorted[index].jsonOffset)
      throw failure(duplicate: scanner.start + offset)
    }
    reorder(from: base, sorted.map { $0.start..<$0.end })
  }

  /// Reads and writes a key; returns its order, or the offset and length of a string.
  private mutating func mapKey(_ field: FieldPointer) throws(ReadFailure) -> (key: UInt64, count: Int) {
    let offset = scanner.position
    let text = try scanner.string(scratch: &scratch)
    out.appendTag(field.pointee.elementTag)
    switch field.pointee.kind {
    case .string:
      out.appendVarint(UInt64(text.count))
      let start = out.count
      out.append(text)
      return (UInt64(start), text.count)
    case .bool:
      let isTrue = text.elementsEqual("true".utf8)
      guard isTrue || text.elementsEqual("false".utf8) else {
        throw scanner.failure(.wrongType(expected: "\"true\" or \"false\" as key"), at: offset)
      }
      out.appendVarint(isTrue ? 1 : 0)
      return (isTrue ? 1 : 0, -1)
    default:
      let bits = try integer(text, field, at: offset)
      out.append(bits: bits, field.pointee.kind)
      switch field.pointee.kind {
      case .uint32, .uint64, .fixed32, .fixed64: return (bits, -1)
      default: return (bits ^ 1 << 63, -1)
      }
    }
  }
}
