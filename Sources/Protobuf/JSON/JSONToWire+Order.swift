/// The order of fields in the output.
extension JSONToWire {
  /// Sorts the fields in the output, starting at `base`, by number.
  @inline(never)
  mutating func sortFields(from base: Int, inMessageSet: Bool) {
    var parts: [(number: UInt32, range: Range<Int>)] = []
    var reader = WireReader(UnsafeRawBufferPointer(start: out.base + base, count: out.count - base))
    while !reader.isAtEnd {
      let start = reader.offset
      // The bytes were written above, so they are valid.
      guard let tag = try? reader.tag() else { return }
      var number = tag.number
      if inMessageSet, tag == MessageSet.itemStart {
        guard let group = try? reader.group(number, depth: 0),
          let item = try? MessageSet.item(group, depth: 0)
        else { return }
        number = item.number
      } else {
        guard (try? reader.skip(tag, depth: 0)) != nil else { return }
      }
      if let last = parts.last, last.number == number {
        parts[parts.count - 1].range = last.range.lowerBound..<base + reader.offset
      } else {
        parts.append((number, base + start..<base + reader.offset))
      }
    }
    parts.sort { $0.number < $1.number }
    reorder(from: base, parts.map(\.range))
  }

  /// Reorders consecutive parts of the output that start at `base`.
  mutating func reorder(from base: Int, _ parts: [Range<Int>]) {
    var copy = OutputBuffer(capacity: max(out.count - base, 1))
    copy.append(UnsafeRawBufferPointer(start: out.base + base, count: out.count - base))
    out.truncate(to: base)
    for part in parts {
      out.append(UnsafeRawBufferPointer(start: copy.base + (part.lowerBound - base), count: part.count))
    }
  }
}
