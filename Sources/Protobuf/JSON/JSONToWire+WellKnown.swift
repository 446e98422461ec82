/// Reading types with a special JSON form.
extension JSONToWire {
  mutating func special(_ kind: WellKnownKind, _ plan: PlanPointer, depth: Int) throws(ReadFailure) {
    let fields = plan.pointee.fields
    switch kind {
    case .timestamp: try timestamp()
    case .duration: try time(.invalidDuration, expected: "a duration such as \"1.5s\"", TimeText.duration)
    case .wrapper: try scalarField(fields, omitZero: true)
    case .fieldMask: try fieldMask(fields)
    case .structure: try map(fields, depth: depth)
    case .listValue: try list(fields, depth: depth)
    case .value: try value(plan, depth: depth)
    case .any: try any(plan, depth: depth)
    }
  }

  @inline(never)
  mutating func timestamp() throws(ReadFailure) {
    // Usually the string is the timestamp as it is, and its end need not be searched first.
    if scanner.cursor < scanner.end, scanner.cursor.pointee == UInt8(ascii: "\"") {
      let first = scanner.cursor + 1
      let rest = UnsafeRawBufferPointer(start: first, count: scanner.end - first)
      if let time = TimeText.prefix(rest), time.length < rest.count, rest[time.length] == UInt8(ascii: "\"") {
        scanner.cursor = first + time.length + 1
        return write(seconds: time.seconds, nanos: time.nanos)
      }
    }
    try time(.invalidTimestamp, expected: "a timestamp such as \"2024-05-01T12:00:00Z\"", TimeText.timestamp)
  }

  @inline(never)
  private mutating func time(
    _ reason: MessageParseError.Reason, expected: String,
    _ parse: (UnsafeRawBufferPointer) -> (seconds: Int64, nanos: Int32)?
  ) throws(ReadFailure) {
    let offset = skipToValue()
    guard scanner.peek() == UInt8(ascii: "\"") else { throw scanner.wrongType(expected, at: offset) }
    let text = try scanner.string(scratch: &scratch)
    guard let (seconds, nanos) = parse(text) else { throw scanner.failure(reason, at: offset) }
    write(seconds: seconds, nanos: nanos)
  }

  /// Writes the fields of a timestamp or a duration.
  @inline(__always)
  private mutating func write(seconds: Int64, nanos: Int32) {
    if seconds != 0 {
      out.appendTag(Tag(1, .varint))
      out.appendVarint(UInt64(bitPattern: seconds))
    }
    if nanos != 0 {
      out.appendTag(Tag(2, .varint))
      out.appendVarint(UInt64(bitPattern: Int64(nanos)))
    }
  }

  private mutating func fieldMask(_ field: FieldPointer) throws(ReadFailure) {
    let offset = skipToValue()
    guard scanner.peek() == UInt8(ascii: "\"") else {
      throw scanner.wrongType(
        "a field mask such as \"user.displayName,photo\", a string with commas", at: offset)
    }
    let text = try scanner.string(scratch: &scratch)
    if text.isEmpty { return }
    for path in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard !path.isEmpty else { throw scanner.failure(.invalidFieldMask, at: offset) }
      out.appendTag(field.pointee.elementTag)
      let start = out.openLengthDelimited()
      for byte in path {
        switch byte {
        case UInt8(ascii: "_"): throw scanner.failure(.invalidFieldMask, at: offset)
        case 65...90:
          out.append(UInt8(ascii: "_"))
          out.append(byte + 32)
        default: out.append(byte)
        }
      }
      out.closeLengthDelimited(start)
    }
  }

  /// Reads any JSON value as `google.protobuf.Value`.
  private mutating func value(_ plan: PlanPointer, depth: Int) throws(ReadFailure) {
    switch scanner.peek() {
    case UInt8(ascii: "{"): try messageField(plan.pointee.fields + 4, depth: depth)
    case UInt8(ascii: "["): try messageField(plan.pointee.fields + 5, depth: depth)
    case UInt8(ascii: "\""): try scalarField(plan.pointee.fields + 2, omitZero: false)
    case UInt8(ascii: "-"), 48...57: try scalarField(plan.pointee.fields + 1, omitZero: false)
    case UInt8(ascii: "n") where scanner.acceptWord("null"):
      out.appendTag(Tag(1, .varint))
      out.append(0)
    default:
      let offset = skipToValue()
      guard scanner.peek() == UInt8(ascii: "t") || scanner.peek() == UInt8(ascii: "f") else {
        throw scanner.expected("a value")
      }
      do throws(ReadFailure) {
        try scalarField(plan.pointee.fields + 3, omitZero: false)
      } catch {
        throw scanner.failure(.syntax(expected: "a value"), at: offset)
      }
    }
  }

  /// Reads an Any: an object with `@type` and the fields of the message, or `value` for types with a special
  /// JSON form and for `google.protobuf.Empty`, or `@value` with the serialized message in base64 for unknown types.
  private mutating func any(_ plan: PlanPointer, depth: Int) throws(ReadFailure) {
    let offset = skipToValue()
    guard scanner.peek() == UInt8(ascii: "{") else { throw scanner.wrongType("an object") }
    var outline = AnyOutline()
    try outline.read(scanner, depth: depth, scratch: &scratch)
    if outline.isEmpty {
      try scanner.skipValue(depth: depth, scratch: &scratch)
      return
    }
    guard let url = outline.url else { throw scanner.failure(.missingAnyType, at: offset) }
    if !url.isEmpty {
      out.appendTag(Tag(1, .lengthDelimited))
      out.appendVarint(UInt64(url.utf8.count))
      out.append(url)
    }
    let start = out.count
    out.appendTag(Tag(2, .lengthDelimited))
    let contentStart = out.openLengthDelimited()
    if let position = outline.encodedPosition {
      var inner = scanner
      inner.position = position
      guard inner.peek() == UInt8(ascii: "\"") else { throw inner.wrongType("a string (base64)") }
      let text = try inner.string(scratch: &scratch)
      try base64(text, at: position)
      guard outline.count == 2 else {
        throw scanner.failure(.syntax(expected: "only \"@type\" and \"@value\""), at: offset)
      }
      try scanner.skipValue(depth: depth, scratch: &scratch)
    } else {
      try anyContent(url, outline, pool: plan.pointee.type.takeUnretainedValue().pool, depth: depth)
    }
    if out.count == contentStart { out.truncate(to: start) } else { out.closeLengthDelimited(contentStart) }
  }

  private mutating func anyContent(
    _ url: String, _ outline: AnyOutline, pool: PoolCore, depth: Int
  ) throws(ReadFailure) {
    let type: MessageNode?
    do { type = try pool.messageType(named: AnyOutline.typeName(url)) } catch {
      throw scanner.failure(.schema(error), at: outline.urlOffset)
    }
    guard let type else {
      throw scanner.failure(pool.unknownType(AnyOutline.typeName(url)), at: outline.urlOffset).inside("@type")
    }
    let plan = try plan(of: type)
    // The content of an Any is bytes; binary decoding does not check required fields in them either.
    let mayLackRequired = mayLackRequired
    defer { self.mayLackRequired = mayLackRequired }
    // Go's libraries write an Empty as a type with a special form.
    let isEmpty =
      type.name == "google.protobuf.Empty" && plan.pointee.count == 0 && outline.valuePosition != nil
    guard plan.pointee.wellKnown != nil || isEmpty else {
      return try object(plan, depth: depth + 1, inAny: true)
    }
    guard let position = outline.valuePosition else {
      throw scanner.failure(.syntax(expected: "\"value\" with the \(type.name)"))
    }
    if outline.count > 2, !options.allowUnknownFields {
      throw scanner.failure(.syntax(expected: "only \"@type\" and \"value\""))
    }
    let start = scanner.position
    scanner.position = position
    try message(plan, depth: depth + 1)
    scanner.position = start
    try scanner.skipValue(depth: depth, scratch: &scratch)
  }
}
