/// Writing types with a special JSON form.
extension WireToJSON {
  /// Writes a well-known type other than a time in its special form; false if it is not canonical.
  @inline(never)
  mutating func writeSpecial(
    _ kind: WellKnownKind, _ plan: PlanPointer, _ reader: WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    switch kind {
    case .timestamp, .duration: try time(isTimestamp: kind == .timestamp, reader, depth: depth)
    case .wrapper: try wrapper(plan.pointee.fields, reader, depth: depth)
    case .fieldMask: try fieldMask(reader, depth: depth)
    case .structure: return try structure(plan.pointee.fields, reader, depth: depth)
    case .listValue: try listValue(plan.pointee.fields, reader, depth: depth)
    case .value: return try value(plan, reader, depth: depth)
    case .any: try any(plan, reader, depth: depth)
    }
    return true
  }

  /// Writes a timestamp or a duration.
  @inline(never)
  mutating func time(isTimestamp: Bool, _ reader: WireReader, depth: Int) throws(DecodeError) {
    var reader = reader
    let start = reader
    var seconds: Int64 = 0
    var nanos: Int32 = 0
    while !reader.isAtEnd {
      if reader.accept(Tag(1, .varint)) {
        seconds = Int64(bitPattern: try reader.varint())
      } else if reader.accept(Tag(2, .varint)) {
        nanos = Int32(truncatingIfNeeded: try reader.varint())
      } else {
        try otherPart(&seconds, &nanos, &reader, depth: depth)
      }
    }
    out.reserve(TimeText.room)
    let place = out.end
    let length =
      isTimestamp
      ? TimeText.writeTimestamp(seconds: seconds, nanos: nanos, at: place + 1)
      : TimeText.writeDuration(seconds: seconds, nanos: nanos, at: place + 1)
    guard let length else {
      throw start.failure(
        .notRepresentable(
          "a \(isTimestamp ? "timestamp" : "duration") of \(seconds) s and \(nanos) ns is out of range"))
    }
    place[0] = UInt8(ascii: "\"")
    place[length + 1] = UInt8(ascii: "\"")
    out.advance(by: length + 2)
  }

  /// Reads a part of a time with a tag that is not in its shortest form, or skips another field.
  @inline(never)
  private func otherPart(
    _ seconds: inout Int64, _ nanos: inout Int32, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) {
    let tag = try reader.tag()
    switch tag {
    case Tag(1, .varint): seconds = Int64(bitPattern: try reader.varint())
    case Tag(2, .varint): nanos = Int32(truncatingIfNeeded: try reader.varint())
    default: try reader.skip(tag, depth: depth)
    }
  }

  private mutating func wrapper(_ field: FieldPointer, _ reader: WireReader, depth: Int) throws(DecodeError) {
    var reader = reader
    var last: WireReader?
    while !reader.isAtEnd {
      let tag = try reader.tag()
      if tag == field.pointee.elementTag {
        last = reader
        if field.pointee.kind == .string, field.pointee.validatesUTF8 {
          let bytes = try reader.lengthDelimited()
          if !UTF8Validation.isValid(bytes) { throw reader.failure(.invalidUTF8) }
          continue
        }
      }
      try reader.skip(tag, depth: depth)
    }
    if var last { _ = try scalar(field, &last) } else { emitZero(field) }
  }

  private mutating func fieldMask(_ reader: WireReader, depth: Int) throws(DecodeError) {
    var reader = reader
    var isFirst = true
    out.append(UInt8(ascii: "\""))
    while !reader.isAtEnd {
      let tag = try reader.tag()
      guard tag == Tag(1, .lengthDelimited) else {
        try reader.skip(tag, depth: depth)
        continue
      }
      let start = reader
      let path = try reader.lengthDelimited()
      guard let camel = FieldMaskPath.camelCase(path) else {
        throw start.failure(
          .notRepresentable(
            "the field mask path \"\(String(decoding: path, as: UTF8.self))\" has no JSON form")
        )
      }
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      out.append(camel)
    }
    out.append(UInt8(ascii: "\""))
  }

  private mutating func structure(
    _ field: FieldPointer, _ reader: WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    var reader = reader
    let first = entries.count
    defer { entries.removeSubrange(first...) }
    while !reader.isAtEnd {
      let tag = try reader.tag()
      guard tag == field.pointee.elementTag else {
        try reader.skip(tag, depth: depth)
        continue
      }
      // Separated entries are made consecutive in the canonical form.
      guard entries.count == first, try collect(field, &reader, depth: depth) else { return false }
    }
    try write(from: first, field, origin: reader.origin, depth: depth)
    return true
  }

  private mutating func listValue(_ field: FieldPointer, _ reader: WireReader, depth: Int) throws(DecodeError)
  {
    var reader = reader
    var isFirst = true
    let plan = try field.planOfMessage()
    open(UInt8(ascii: "["))
    while !reader.isAtEnd {
      let tag = try reader.tag()
      guard tag == field.pointee.elementTag else {
        try reader.skip(tag, depth: depth)
        continue
      }
      separate(isFirst: isFirst)
      isFirst = false
      guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
      try message(plan, try reader.nested(), depth: depth + 1)
    }
    close(UInt8(ascii: "]"), isEmpty: isFirst)
  }

  private mutating func value(
    _ plan: PlanPointer, _ reader: WireReader, depth: Int
  ) throws(DecodeError) -> Bool {
    var reader = reader
    var isFound = false
    while !reader.isAtEnd {
      let tag = try reader.tag()
      guard let field = plan.pointee.field(tag.number), tag == field.pointee.elementTag else {
        try reader.skip(tag, depth: depth)
        continue
      }
      guard !isFound else { return false }
      isFound = true
      if field.pointee.kind.isMessage {
        guard depth < nestingLimit else { throw reader.failure(.tooDeep) }
        try message(field.planOfMessage(), try reader.nested(), depth: depth + 1)
      } else {
        let start = reader
        if field.pointee.kind == .double, !Double(bitPattern: try reader.fixed64()).isFinite {
          throw start.failure(.notRepresentable("a google.protobuf.Value that is infinite or not a number"))
        }
        reader = start
        _ = try scalar(field, &reader)
      }
    }
    if !isFound { out.append("null") }
    return true
  }

  private mutating func any(_ plan: PlanPointer, _ reader: WireReader, depth: Int) throws(DecodeError) {
    var reader = reader
    var url = UnsafeRawBufferPointer(start: nil, count: 0)
    var content: WireReader?
    while !reader.isAtEnd {
      let tag = try reader.tag()
      switch tag {
      case Tag(1, .lengthDelimited):
        let start = reader
        url = try reader.lengthDelimited()
        guard UTF8Validation.isValid(url) else { throw start.failure(.invalidUTF8) }
      case Tag(2, .lengthDelimited): content = try reader.nested()
      default: try reader.skip(tag, depth: depth)
      }
    }
    if url.isEmpty, content?.isAtEnd != false { return out.append("{}") }
    let value = content ?? WireReader(origin: reader.origin, from: reader.end, to: reader.end)
    let name = AnyOutline.typeName(String(decoding: url, as: UTF8.self))
    let target: MessageNode?
    do { target = try plan.pointee.type.takeUnretainedValue().pool.messageType(named: name) } catch {
      throw reader.failure(.schema(error))
    }
    if let target { return try any(target, url, value, depth: depth) }
    openAny(url)
    keyOfAny("@value")
    base64(UnsafeRawBufferPointer(start: value.cursor, count: value.remaining))
    close(UInt8(ascii: "}"), isEmpty: false)
  }

  private mutating func any(
    _ type: MessageNode, _ url: UnsafeRawBufferPointer, _ value: WireReader, depth: Int
  ) throws(DecodeError) {
    guard depth < nestingLimit else { throw value.failure(.tooDeep) }
    let plan = try type.pointerToPlan()
    // The content of an Any is bytes; binary decoding does not check required fields in them either.
    let mayLackRequired = mayLackRequired
    defer { self.mayLackRequired = mayLackRequired }
    openAny(url)
    if plan.pointee.wellKnown == nil {
      return try content(plan, value, depth: depth + 1, isEmpty: false)
    }
    keyOfAny("value")
    try message(plan, value, depth: depth + 1)
    close(UInt8(ascii: "}"), isEmpty: false)
  }

  private mutating func openAny(_ url: UnsafeRawBufferPointer) {
    open(UInt8(ascii: "{"))
    separate(isFirst: true)
    out.append(options.pretty ? "\"@type\": " : "\"@type\":" as StaticString)
    JSONText.appendString(url, to: &out)
  }

  private mutating func keyOfAny(_ key: String) {
    separate(isFirst: false)
    JSONText.appendString(key, to: &out)
    out.append(options.pretty ? ": " : ":" as StaticString)
  }
}

/// Conversion of field mask paths.
enum FieldMaskPath {
  /// `user.display_name` → `user.displayName`; nil if that is not reversible.
  static func camelCase(_ path: UnsafeRawBufferPointer) -> [UInt8]? {
    var result: [UInt8] = []
    var raise = false
    for byte in path {
      switch byte {
      case UInt8(ascii: "_"):
        if raise { return nil }
        raise = true
        continue
      case 97...122: result.append(raise ? byte - 32 : byte)
      case 48...57, UInt8(ascii: "."):
        if raise { return nil }
        result.append(byte)
      default: return nil
      }
      raise = false
    }
    return raise || path.isEmpty ? nil : result
  }
}
