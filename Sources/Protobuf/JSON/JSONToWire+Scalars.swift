/// Reading scalar values.
extension JSONToWire {
  /// Writes tag and value, or nothing for a zero that is omitted.
  @inline(never)
  mutating func scalarField(_ field: FieldPointer, omitZero: Bool) throws(ReadFailure) {
    try inlinedScalarField(field, omitZero: omitZero)
  }

  /// The same, for the loop over fields and that over elements.
  @inline(__always)
  mutating func inlinedScalarField(_ field: FieldPointer, omitZero: Bool) throws(ReadFailure) {
    let start = out.count
    out.appendTag(field.pointee.elementTag)
    let written: Written
    switch field.pointee.kind {
    case .string: written = try string(field)
    case .double: written = try double(field)
    case .int64, .uint64, .int32, .uint32: written = try varint(field)
    default: written = try scalar(field)
    }
    if written == .nothing || written == .zero && omitZero { out.truncate(to: start) }
  }

  /// Reads a string and writes its length and its bytes.
  @inline(__always)
  private mutating func string(_ field: FieldPointer) throws(ReadFailure) -> Written {
    let first = scanner.cursor
    if scanner.end - first > 40, first.pointee == UInt8(ascii: "\"") {
      // Most strings are short: they are copied while their end is searched.
      out.reserve(48)
      let source = UnsafeRawPointer(first + 1)
      let target = UnsafeMutableRawPointer(out.end + 1)
      var count = 0
      while count < 32 {
        let word = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: count, as: UInt64.self))
        target.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        let marks = Words.endsOfPlainText(word)
        if marks == 0 {
          count &+= 8
          continue
        }
        count &+= marks.trailingZeroBitCount &>> 3
        guard source.load(fromByteOffset: count, as: UInt8.self) == UInt8(ascii: "\"") else { break }
        out.appendReserved(UInt8(truncatingIfNeeded: count))
        out.advance(by: count)
        scanner.cursor = first + count + 2
        return count == 0 ? .zero : .value
      }
    }
    return try otherString(field)
  }

  /// Reads a string that is long, has escapes or other than ASCII characters, or is near the end of the text.
  @inline(never)
  private mutating func otherString(_ field: FieldPointer) throws(ReadFailure) -> Written {
    let offset = skipToValue()
    guard scanner.peek() == UInt8(ascii: "\"") else { throw wrongType(field, at: offset) }
    let text = try scanner.string(scratch: &scratch)
    out.append(delimited: text, within: scanner.bytes)
    return text.isEmpty ? .zero : .value
  }

  enum Written { case nothing, zero, value }

  /// Reads a whole number that is written as a varint, without ZigZag.
  @inline(never)
  private mutating func varint(_ field: FieldPointer) throws(ReadFailure) -> Written {
    guard let bits = plainInteger(field) else { return try scalar(field) }
    out.appendVarint(bits)
    return bits == 0 ? .zero : .value
  }

  /// Reads a value and writes it without a tag.
  mutating func scalar(_ field: FieldPointer) throws(ReadFailure) -> Written {
    let offset = skipToValue()
    switch field.pointee.kind {
    case .bool:
      if scanner.acceptWord("true") {
        out.append(1)
        return .value
      }
      guard scanner.acceptWord("false") else { throw wrongType(field, at: offset) }
      out.append(0)
      return .zero
    case .string: return try string(field)
    case .bytes:
      guard scanner.peek() == UInt8(ascii: "\"") else { throw wrongType(field, at: offset) }
      let text = try scanner.string(scratch: &scratch)
      let start = out.openLengthDelimited()
      try base64(text, at: offset)
      let isEmpty = out.count == start
      out.closeLengthDelimited(start)
      return isEmpty ? .zero : .value
    case .enumeration: return try enumeration(field, at: offset)
    case .double: return try double(field)
    case .float: return try floatingPoint(field, at: offset)
    case .message, .group: return .nothing
    default:
      if let bits = plainInteger(field) {
        out.append(bits: bits, field.pointee.kind)
        return bits == 0 ? .zero : .value
      }
      let token = try numberText(field, at: offset)
      let bits = try integer(token, field, at: offset)
      out.append(bits: bits, field.pointee.kind)
      return bits == 0 ? .zero : .value
    }
  }

  mutating func skipToValue() -> Int {
    scanner.skipSpace()
    return scanner.position
  }

  private func wrongType(_ field: FieldPointer, at offset: Int) -> ReadFailure {
    let expected =
      switch field.pointee.kind {
      case .bool: "true or false"
      case .string: "a string"
      case .bytes: "a string (base64)"
      case .enumeration: "a name or number of \(field.pointee.field.enumType?.name ?? "an enum")"
      default: "a number (\(field.pointee.kind.protoName))"
      }
    return scanner.wrongType(expected, at: offset)
  }

  /// Decodes a string of base64.
  @inline(__always)
  mutating func base64(_ text: UnsafeRawBufferPointer, at offset: Int) throws(ReadFailure) {
    guard Base64.decode(text, into: &out), !options.refusesText || !Base64.resemblesText(text) else {
      throw notBase64(text, at: offset)
    }
  }

  /// The error for a string that is not base64, or that is probably text.
  @inline(never)
  private func notBase64(_ text: UnsafeRawBufferPointer, at offset: Int) -> ReadFailure {
    if let bytes = Base64.decode(Array(text)) {
      return scanner.failure(
        .textAsBase64(String(decoding: text, as: UTF8.self), byteCount: bytes.count), at: offset)
    }
    let encoded = text.isEmpty || text.count > 48 ? "" : Base64.encode(Array(text))
    return scanner.failure(.invalidBase64(encoded: encoded), at: offset)
  }

  /// Reads a number or a string with a number.
  private mutating func numberText(_ field: FieldPointer, at offset: Int) throws(ReadFailure)
    -> UnsafeRawBufferPointer
  {
    let next = scanner.peek()
    if next == UInt8(ascii: "\"") { return try scanner.string(scratch: &scratch) }
    guard next == UInt8(ascii: "-") || (48...57).contains(next) else { throw wrongType(field, at: offset) }
    return try scanner.number()
  }

  /// Parses the text of a number as 64 bits in two's complement.
  func integer(
    _ text: UnsafeRawBufferPointer, _ field: FieldPointer, at offset: Int
  ) throws(ReadFailure) -> UInt64 {
    guard !text.isEmpty, JSONNumber.length(text) == text.count else { throw wrongType(field, at: offset) }
    guard let (negative, magnitude) = JSONNumber.integer(text) else {
      if JSONNumber.hasFraction(text) {
        throw scanner.wrongType("a whole number (\(field.pointee.kind.protoName))", at: offset)
      }
      throw outOfRange(field, at: offset)
    }
    guard magnitude <= field.pointee.kind.limit(isNegative: negative) else {
      throw outOfRange(field, at: offset)
    }
    return negative ? 0 &- magnitude : magnitude
  }

  private func outOfRange(_ field: FieldPointer, at offset: Int) -> ReadFailure {
    scanner.failure(.outOfRange(type: field.pointee.kind.protoName), at: offset)
  }

  /// Reads an integer in plain notation, with or without quotes; nil, with nothing read, for others.
  @inline(__always)
  private mutating func plainInteger(_ field: FieldPointer) -> UInt64? {
    let end = scanner.end
    var place = scanner.cursor
    guard place < end else { return nil }
    let isQuoted = place.pointee == UInt8(ascii: "\"")
    if isQuoted {
      place += 1
      guard place < end else { return nil }
    }
    guard let (bits, after) = DecimalReader.integer(place, end, field.pointee.kind), after < end else {
      return nil
    }
    place = after
    if isQuoted {
      guard place.pointee == UInt8(ascii: "\"") else { return nil }
      place += 1
    } else if !DecimalReader.isEnd(place.pointee) {
      return nil
    }
    scanner.cursor = place
    return bits
  }

  @inline(never)
  private mutating func double(_ field: FieldPointer) throws(ReadFailure) -> Written {
    guard let value = scanner.plainDouble() else { return try floatingPoint(field, at: skipToValue()) }
    out.appendFixed64(value.bitPattern)
    return value.bitPattern == 0 ? .zero : .value
  }

  @inline(never)
  private mutating func floatingPoint(_ field: FieldPointer, at offset: Int) throws(ReadFailure) -> Written {
    let isString = scanner.peek() == UInt8(ascii: "\"")
    let text = try numberText(field, at: offset)
    var value: Double?
    if isString {
      if text.elementsEqual("NaN".utf8) { value = .nan }
      if text.elementsEqual("Infinity".utf8) { value = .infinity }
      if text.elementsEqual("-Infinity".utf8) { value = -.infinity }
    }
    if let value {
      if field.pointee.kind == .double {
        out.appendFixed64(value.bitPattern)
      } else {
        out.appendFixed32(Float(value).bitPattern)
      }
      return .value
    }
    guard !text.isEmpty, JSONNumber.length(text) == text.count else { throw wrongType(field, at: offset) }
    if field.pointee.kind == .double {
      let value = JSONNumber.double(text)
      guard value.isFinite else { throw scanner.failure(.outOfRange(type: "double"), at: offset) }
      out.appendFixed64(value.bitPattern)
      return value.bitPattern == 0 ? .zero : .value
    }
    let float = JSONNumber.float(text)
    guard float.isFinite else { throw scanner.failure(.outOfRange(type: "float"), at: offset) }
    out.appendFixed32(float.bitPattern)
    return float.bitPattern == 0 ? .zero : .value
  }

  private mutating func enumeration(_ field: FieldPointer, at offset: Int) throws(ReadFailure) -> Written {
    guard let reference = field.pointee.enumType else { return .nothing }
    let next = scanner.peek()
    if next == UInt8(ascii: "\"") {
      let before = scanner.cursor
      let name = try scanner.string(scratch: &scratch)
      if let number = reference._withUnsafeGuaranteedRef({ $0.number(ofBytes: name) }) {
        out.appendVarint(UInt64(bitPattern: Int64(number)))
        return number == 0 ? .zero : .value
      }
      scanner.cursor = before
    }
    return try otherEnumeration(reference.takeUnretainedValue(), field, at: offset)
  }

  /// Reads an enum value that is not a name of the enum.
  @inline(never)
  private mutating func otherEnumeration(
    _ type: EnumNode, _ field: FieldPointer, at offset: Int
  ) throws(ReadFailure) -> Written {
    let number: Int32
    let next = scanner.peek()
    if next == UInt8(ascii: "\"") {
      let name = try scanner.string(scratch: &scratch)
      guard let found = type.number(ofBytes: name) else {
        if options.allowUnknownFields { return .nothing }
        let text = String(decoding: name, as: UTF8.self)
        throw scanner.failure(type.unknown("\"\(text)\"", name: text), at: offset)
      }
      number = found
    } else if type.isNullValue, scanner.acceptWord("null") {
      number = 0
    } else {
      guard next == UInt8(ascii: "-") || (48...57).contains(next) else { throw wrongType(field, at: offset) }
      let token = try scanner.number()
      guard let (negative, magnitude) = JSONNumber.integer(token), magnitude <= 1 << 31 else {
        throw scanner.failure(.outOfRange(type: type.name), at: offset)
      }
      guard let exact = Int32(exactly: negative ? -Int64(magnitude) : Int64(magnitude)) else {
        throw scanner.failure(.outOfRange(type: type.name), at: offset)
      }
      guard type.accepts(exact) else {
        if options.allowUnknownFields { return .nothing }
        throw scanner.failure(type.unknown("\(exact)", name: nil), at: offset)
      }
      number = exact
    }
    out.appendVarint(UInt64(bitPattern: Int64(number)))
    return number == 0 ? .zero : .value
  }
}
