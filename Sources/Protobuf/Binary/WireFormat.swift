/// The wire types of serialized values.
package enum WireType: UInt8 {
  case varint = 0
  case fixed64 = 1
  case lengthDelimited = 2
  case startGroup = 3
  case endGroup = 4
  case fixed32 = 5
}

/// The tag before each value: the field's number and the wire type.
package struct Tag: Equatable {
  package let raw: UInt32

  @inlinable @inline(__always)
  package init(raw: UInt32) { self.raw = raw }

  @inlinable @inline(__always)
  package init(_ number: UInt32, _ type: WireType) { raw = number << 3 | UInt32(type.rawValue) }

  @inlinable @inline(__always)
  package var number: UInt32 { raw >> 3 }

  @inlinable @inline(__always)
  package var wireType: WireType { WireType(rawValue: UInt8(truncatingIfNeeded: raw & 7)) ?? .endGroup }

  @inline(__always)
  func has(_ type: WireType) -> Bool { raw & 7 == UInt32(type.rawValue) }
}

/// ZigZag maps signed integers to unsigned ones so that small absolute values stay short.
enum ZigZag {
  @inline(__always)
  static func encode(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: value << 1 ^ value >> 63)
  }

  @inline(__always)
  static func decode(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}

/// Base-128 varints.
enum Varint {
  /// The longest varint of 64 bits, in bytes.
  static let limitBytes = 10

  /// Writes a varint, which takes up to `limitBytes`, and returns its length.
  @inline(__always)
  static func write(_ value: UInt64, to start: UnsafeMutablePointer<UInt8>) -> Int {
    var place = start
    var value = value
    while value >= 0x80 {
      place.pointee = UInt8(truncatingIfNeeded: value) | 0x80
      place += 1
      value &>>= 7
    }
    place.pointee = UInt8(truncatingIfNeeded: value)
    return place - start &+ 1
  }
}

extension [UInt8] {
  /// Appends `content` after its length, a varint.
  package mutating func append(delimited content: [UInt8]) {
    content.withUnsafeBytes { append(delimited: $0) }
  }

  package mutating func append(delimited content: UnsafeRawBufferPointer) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Varint.limitBytes) { length in
      guard let start = length.baseAddress else { return }
      append(contentsOf: length[..<Varint.write(UInt64(content.count), to: start)])
    }
    append(contentsOf: content)
  }
}

extension OutputBuffer {
  @inline(__always)
  package mutating func appendVarint(_ value: UInt64) {
    reserve(Varint.limitBytes)
    if value < 0x80 { return appendReserved(UInt8(truncatingIfNeeded: value)) }
    appendLongVarint(value)
  }

  /// Appends a varint of more than one byte, for which there is room.
  @inline(never)
  private mutating func appendLongVarint(_ value: UInt64) {
    let place = UnsafeMutableRawPointer(end)
    if value < 1 << 14 {
      let bytes = UInt16(truncatingIfNeeded: value & 0x7f | value &<< 1 & 0x7f00 | 0x80)
      place.storeBytes(of: bytes.littleEndian, as: UInt16.self)
      return advance(by: 2)
    }
    // A pointer of its own: otherwise the compiler assumes that a stored byte may change the count, and reloads it
    // each time.
    guard value < 1 << 56 else { return advance(by: Varint.write(value, to: end)) }
    // Groups of 28, 14 and 7 bits move apart.
    var bits = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) &<< 4
    bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x0fff_c000_0fff_c000) &<< 2
    bits = bits & 0x007f_007f_007f_007f | (bits & 0x3f80_3f80_3f80_3f80) &<< 1
    let last = UInt64(truncatingIfNeeded: 63 &- bits.leadingZeroBitCount) & 56
    let continued = 0x0080_8080_8080_8080 & ((1 as UInt64) &<< last &- 1)
    place.storeBytes(of: (bits | continued).littleEndian, as: UInt64.self)
    advance(by: Int(truncatingIfNeeded: last &>> 3) &+ 1)
  }

  @inline(__always)
  package mutating func appendTag(_ tag: Tag) {
    appendVarint(UInt64(tag.raw))
  }

  @inline(__always)
  mutating func appendFixed32(_ value: UInt32) {
    reserve(4)
    UnsafeMutableRawPointer(base + count).storeBytes(of: value.littleEndian, as: UInt32.self)
    advance(by: 4)
  }

  @inline(__always)
  mutating func appendFixed64(_ value: UInt64) {
    reserve(8)
    UnsafeMutableRawPointer(base + count).storeBytes(of: value.littleEndian, as: UInt64.self)
    advance(by: 8)
  }

  /// Appends a number of a kind from its bits: those of a floating-point number, or an integer in two's complement.
  @inline(__always)
  mutating func append(bits: UInt64, _ kind: FieldKind) {
    switch kind {
    case .double, .fixed64, .sfixed64: appendFixed64(bits)
    case .float, .fixed32, .sfixed32: appendFixed32(UInt32(truncatingIfNeeded: bits))
    case .sint32, .sint64: appendVarint(ZigZag.encode(Int64(bitPattern: bits)))
    default: appendVarint(bits)
    }
  }

  /// Appends the length of a text, and the text. It is copied in blocks if it is short, and enough of `whole` is behind it.
  @inline(__always)
  mutating func append(delimited text: UnsafeRawBufferPointer, within whole: UnsafeRawBufferPointer) {
    let count = text.count
    guard count <= 32, let source = text.baseAddress, let start = whole.baseAddress, source >= start,
      start + whole.count - source >= 32
    else {
      appendVarint(UInt64(truncatingIfNeeded: count))
      return append(text)
    }
    // Reserved to copy in blocks, which write beyond the end of the text.
    reserve(48)
    appendReserved(UInt8(truncatingIfNeeded: count))
    copyBlocks(from: source.assumingMemoryBound(to: UInt8.self), to: end, count: count)
    advance(by: count)
  }

  /// Starts a length-delimited value: leaves a byte for its length.
  @inline(__always)
  mutating func openLengthDelimited() -> Int {
    append(0)
    return count
  }

  /// Ends a value that `openLengthDelimited` started, and widens the space for its length if one byte is not
  /// enough.
  @inline(__always)
  mutating func closeLengthDelimited(_ start: Int) {
    let length = count - start
    if length < 0x80 {
      base[start - 1] = UInt8(truncatingIfNeeded: length)
    } else {
      closeLong(start, length)
    }
  }

  @inline(never)
  private mutating func closeLong(_ start: Int, _ length: Int) {
    var extra = 1
    while extra < 9, length >> (7 * (extra + 1)) != 0 { extra += 1 }
    openGap(at: start, of: extra)
    _ = Varint.write(UInt64(length), to: base + (start - 1))
  }
}
