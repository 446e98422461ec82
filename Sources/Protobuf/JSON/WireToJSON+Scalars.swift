/// Writing scalar values.
extension WireToJSON {
  /// Reads a number of any kind and returns its bits: for integers the sign-extended value, for
  /// floating-point numbers the bit pattern. They are zero exactly if the number is.
  @inline(__always)
  static func read(_ field: FieldPointer, _ reader: inout WireReader) throws(DecodeError) -> UInt64 {
    // One copy of the code for each wire type is shorter than one for each kind.
    let bits: UInt64
    if field.pointee.elementTag.has(.varint) {
      bits = try reader.varint()
    } else if field.pointee.elementTag.has(.fixed64) {
      bits = try reader.fixed64()
    } else {
      bits = UInt64(try reader.fixed32())
    }
    switch field.pointee.kind {
    case .uint32: return bits & 0xffff_ffff
    case .bool: return bits == 0 ? 0 : 1
    case .sint32: return UInt64(bitPattern: ZigZag.decode(bits & 0xffff_ffff))
    case .sint64: return UInt64(bitPattern: ZigZag.decode(bits))
    case .int32, .enumeration, .sfixed32: return UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: bits)))
    default: return bits
    }
  }

  /// Reads and writes a value of a kind other than message and group; true if it is zero or empty.
  @inline(never)
  mutating func scalar(_ field: FieldPointer, _ reader: inout WireReader) throws(DecodeError) -> Bool {
    let kind = field.pointee.kind
    switch kind {
    case .string: return try string(field, &reader)
    case .bytes:
      let bytes = try reader.lengthDelimited()
      if options.bytes == .base64 { base64(bytes) } else { otherForm(bytes) }
      return bytes.isEmpty
    case .message, .group: return false
    default: break
    }
    let bits = try WireToJSON.read(field, &reader)
    number(field, bits)
    return bits == 0
  }

  /// Writes a number from its bits.
  @inline(__always)
  private mutating func number(_ field: FieldPointer, _ bits: UInt64) {
    switch field.pointee.kind {
    case .double: JSONText.append(Double(bitPattern: bits), to: &out)
    case .float: JSONText.append(Float(bitPattern: UInt32(truncatingIfNeeded: bits)), to: &out)
    case .uint64, .fixed64: wholeNumber(bits, isNegative: false)
    case .int64, .sfixed64, .sint64:
      let value = Int64(bitPattern: bits)
      wholeNumber(value.magnitude, isNegative: value < 0)
    case .bool: bool(bits != 0)
    case .enumeration: enumeration(field, Int32(truncatingIfNeeded: bits))
    default: JSONText.appendInteger(Int64(bitPattern: bits), to: &out)
    }
  }

  /// Reads and writes a string; true if it is empty.
  @inline(__always)
  mutating func string(_ field: FieldPointer, _ reader: inout WireReader) throws(DecodeError) -> Bool {
    if reader.remaining > 0 {
      // Most lengths are one byte.
      let count = Int(reader.cursor.pointee)
      let text = UnsafeRawBufferPointer(start: reader.cursor + 1, count: reader.remaining &- 1)
      if JSONText.appendShort(count, of: text, to: &out) {
        reader.cursor += count &+ 1
        return count == 0
      }
    }
    return try otherString(field, &reader)
  }

  /// Reads and writes a string that is long, has characters to be escaped, or is near the end of the message.
  @inline(never)
  private mutating func otherString(
    _ field: FieldPointer, _ reader: inout WireReader
  ) throws(DecodeError) -> Bool {
    let start = reader
    let bytes = try reader.lengthDelimited()
    if !JSONText.appendIfValid(bytes, to: &out) { try repaired(field, bytes, start) }
    return bytes.isEmpty
  }

  /// Writes a 64-bit integer in quotes, unless numbers are asked for.
  @inline(__always)
  mutating func wholeNumber(_ magnitude: UInt64, isNegative: Bool) {
    if options.int64s == .numbers { return plainNumber(magnitude, isNegative: isNegative) }
    JSONText.appendQuoted(magnitude, isNegative: isNegative, to: &out)
  }

  @inline(never)
  private mutating func plainNumber(_ magnitude: UInt64, isNegative: Bool) {
    if isNegative { out.append(UInt8(ascii: "-")) }
    out.append(String(magnitude))
  }

  @inline(__always)
  private mutating func bool(_ value: Bool) {
    out.reserve(8)
    let place = UnsafeMutableRawPointer(out.end)
    // Four letters at once; `false` has a fifth.
    place.storeBytes(of: (value ? 0x6575_7274 : 0x736c_6166) as UInt32, as: UInt32.self)
    place.storeBytes(of: UInt8(ascii: "e"), toByteOffset: 4, as: UInt8.self)
    out.advance(by: value ? 4 : 5)
  }

  /// Writes a string that is not UTF-8, which proto2 allows, with replacement characters.
  @inline(never)
  mutating func repaired(
    _ field: FieldPointer, _ bytes: UnsafeRawBufferPointer, _ start: WireReader
  ) throws(DecodeError) {
    if field.pointee.validatesUTF8 { throw start.failure(.invalidUTF8) }
    repairsText = true
    JSONText.appendString(String(decoding: bytes, as: UTF8.self), to: &out)
  }

  mutating func base64(_ bytes: UnsafeRawBufferPointer) {
    out.append(UInt8(ascii: "\""))
    Base64.append(bytes, padding: true, to: &out)
    out.append(UInt8(ascii: "\""))
  }

  /// Writes bytes in a form other than base64.
  @inline(never)
  private mutating func otherForm(_ bytes: UnsafeRawBufferPointer) {
    switch options.bytes {
    case .base64, .text:
      if JSONText.appendIfValid(bytes, to: &out) { return }
      repairsText = true
      JSONText.appendString(String(decoding: bytes, as: UTF8.self), to: &out)
    case .hex:
      out.append(UInt8(ascii: "\""))
      for byte in bytes {
        for digit in [byte >> 4, byte & 15] { out.append(digit < 10 ? 48 + digit : 87 + digit) }
      }
      out.append(UInt8(ascii: "\""))
    case .escape:
      var text = OutputBuffer(capacity: bytes.count + 16)
      TextEscapes.append(bytes, isText: false, to: &text)
      let content = UnsafeRawBufferPointer(start: text.base + 1, count: text.count - 2)
      _ = JSONText.appendIfValid(content, to: &out)
    }
  }

  mutating func enumeration(_ field: FieldPointer, _ number: Int32) {
    let type = field.pointee.enumType
    let key = options.enumNumbers ? nil : type?._withUnsafeGuaranteedRef { $0.key(of: number) }
    if let key {
      out.reserve(key.count + KeyBytes.block)
      copyBlocks(from: key.start + 1, to: out.end, count: key.count - 2)
      out.advance(by: key.count - 2)
    } else if type?._withUnsafeGuaranteedRef({ $0.isNullValue }) == true {
      out.append("null")
    } else {
      JSONText.appendInteger(Int64(number), to: &out)
    }
  }

  /// Writes the value of an unset field.
  mutating func emitZero(_ field: FieldPointer) {
    switch field.pointee.kind {
    case .string, .bytes: out.append("\"\"")
    case .message, .group: break
    default: number(field, 0)
    }
  }
}

extension FieldKind {
  /// Whether JSON with these options quotes values of this kind.
  func isQuoted(_ options: JSONEncodingOptions) -> Bool {
    switch self {
    case .int64, .uint64, .fixed64, .sfixed64, .sint64: options.int64s == .strings
    case .string, .bytes: true
    default: false
    }
  }
}
