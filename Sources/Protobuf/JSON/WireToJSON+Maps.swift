/// Writing maps; their entries are sorted by key.
extension WireToJSON {
  /// The positions of an entry's parts. It is small, because an entry may have only two bytes of input.
  struct MapEntry {
    /// A number in the order of the keys; for a string its length.
    var order: UInt64 = 0
    /// The key, or the text of a string key; nil if it is absent.
    var key: UnsafePointer<UInt8>?
    /// The value; nil if it is absent.
    var value: UnsafePointer<UInt8>?
    /// The end of the entry.
    let end: UnsafePointer<UInt8>

    /// The text of a string key.
    var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: key, count: Int(order)) }

    func precedes(_ other: MapEntry, isText: Bool) -> Bool {
      isText ? text.lexicographicallyPrecedes(other.text) : order < other.order
    }
  }

  /// Writes consecutive entries; the first tag has been read.
  @inline(never)
  mutating func map(
    _ field: FieldPointer, _ plan: PlanPointer, _ reader: inout WireReader, depth: Int,
    _ progress: inout Progress
  ) throws(DecodeError) -> Bool {
    let first = entries.count
    defer { entries.removeSubrange(first...) }
    guard try collect(field, &reader, depth: depth) else { return false }
    guard entries.count > first else { return true }
    begin(field, plan, &progress)
    try write(from: first, field, origin: reader.origin, depth: depth)
    return true
  }

  /// Collects the entries; false if two have the same key, or one is not canonical.
  mutating func collect(
    _ field: FieldPointer, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    let (keyField, valueField) = field.partsOfMap()
    guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
    let isText = keyField.pointee.kind == .string
    let first = entries.count
    var isSorted = true
    var nextCheck = 1024
    repeat {
      let content = try reader.nested()
      guard let entry = try entry(content, keyField, valueField, depth: depth + 1) else { return false }
      if valueField.pointee.flags.contains(.hasClosedEnum), let start = entry.value {
        var value = WireReader(origin: content.origin, from: start, to: content.end)
        if valueField.isUnknownEnum(try value.varint()) { continue }
      }
      if entries.count > first, !entries[entries.count - 1].precedes(entry, isText: isText) {
        isSorted = false
        // A duplicate key is often the last one; otherwise it is found below.
        if !entry.precedes(entries[entries.count - 1], isText: isText) { return false }
      }
      entries.append(entry)
      // A few keys may occur millions of times: they are detected before there are many more entries than
      // keys.
      if entries.count - first == nextCheck {
        guard isSorted || sort(from: first, isText: isText) else { return false }
        isSorted = true
        nextCheck *= 2
      }
    } while reader.accept(field.pointee.elementTag)
    return isSorted || sort(from: first, isText: isText)
  }

  /// Sorts the entries starting at `first`; false if two have the same key.
  private mutating func sort(from first: Int, isText: Bool) -> Bool {
    entries.withUnsafeMutableBufferPointer { entries in
      var entries = UnsafeMutableBufferPointer(rebasing: entries[first...])
      entries.sort { $0.precedes($1, isText: isText) }
      return entries.indices.dropFirst().allSatisfy { entries[$0 - 1].precedes(entries[$0], isText: isText) }
    }
  }

  /// Replacement characters could make two keys equal, and merge two entries.
  static let keyIsNotText = DecodeError.Reason.notRepresentable(
    "a map key that is not UTF-8 has no JSON form")

  /// Reads an entry; nil if a part is duplicated.
  private func entry(
    _ content: WireReader, _ keyField: FieldPointer, _ valueField: FieldPointer, depth: Int
  ) throws(DecodeError) -> MapEntry? {
    var content = content
    var entry = MapEntry(end: content.end)
    while !content.isAtEnd {
      let tag = try content.tag()
      if tag == keyField.pointee.elementTag {
        guard entry.key == nil else { return nil }
        if keyField.pointee.kind == .string {
          let text = try content.lengthDelimited()
          guard UTF8Validation.isValid(text) else {
            if keyField.pointee.validatesUTF8 { throw content.failure(.invalidUTF8) }
            throw content.failure(WireToJSON.keyIsNotText)
          }
          entry.key = content.cursor - text.count
          entry.order = UInt64(text.count)
        } else {
          entry.key = content.cursor
          entry.order = WireToJSON.order(keyField, try WireToJSON.read(keyField, &content))
        }
      } else if tag == valueField.pointee.elementTag {
        guard entry.value == nil else { return nil }
        entry.value = content.cursor
        try content.skip(tag, depth: depth)
      } else {
        try content.skip(tag, depth: depth)
      }
    }
    // A missing key counts as zero.
    if entry.key == nil { entry.order = WireToJSON.order(keyField, 0) }
    return entry
  }

  /// A number in the order of the keys.
  static func order(_ field: FieldPointer, _ bits: UInt64) -> UInt64 {
    switch field.pointee.kind {
    case .int32, .int64, .sint32, .sint64, .sfixed32, .sfixed64: bits ^ 1 << 63
    default: bits
    }
  }

  /// Writes the collected entries starting at `first`; `origin` is that of their reader.
  mutating func write(
    from first: Int, _ field: FieldPointer, origin: UnsafePointer<UInt8>, depth: Int
  ) throws(DecodeError) {
    let (keyField, valueField) = field.partsOfMap()
    let isQuoted = keyField.pointee.kind.isQuoted(options)
    let valuePlan = valueField.pointee.kind.isMessage ? try valueField.planOfMessage() : nil
    let end = entries.count
    open(UInt8(ascii: "{"))
    for index in first..<end {
      let entry = entries[index]
      separate(isFirst: index == first)
      if !isQuoted { out.append(UInt8(ascii: "\"")) }
      try key(of: entry, keyField, origin: origin)
      if !isQuoted { out.append(UInt8(ascii: "\"")) }
      out.append(UInt8(ascii: ":"))
      if options.pretty { out.append(0x20) }
      guard let valuePlan else {
        if let start = entry.value {
          var value = WireReader(origin: origin, from: start, to: entry.end)
          _ = try scalar(valueField, &value)
        } else {
          emitMissing(valueField)
        }
        continue
      }
      guard depth + 1 < nestingLimit else { throw DecodeError(.tooDeep) }
      if let start = entry.value {
        var value = WireReader(origin: origin, from: start, to: entry.end)
        try message(valuePlan, try value.nested(), depth: depth + 2)
      } else {
        try message(valuePlan, WireReader(UnsafeRawBufferPointer(start: nil, count: 0)), depth: depth + 2)
      }
    }
    close(UInt8(ascii: "}"), isEmpty: first == end)
  }

  private mutating func key(
    of entry: MapEntry, _ field: FieldPointer, origin: UnsafePointer<UInt8>
  ) throws(DecodeError) {
    guard let start = entry.key else { return emitZero(field) }
    if field.pointee.kind == .string { return JSONText.appendString(entry.text, to: &out) }
    var key = WireReader(origin: origin, from: start, to: entry.end)
    _ = try scalar(field, &key)
  }

  /// Writes the value of an entry that has none.
  private mutating func emitMissing(_ field: FieldPointer) {
    if field.pointee.kind == .enumeration {
      enumeration(field, field.pointee.field.enumType?.defaultNumber ?? 0)
    } else {
      emitZero(field)
    }
  }
}
