/// A position in serialized bytes. It does not own them: the bytes must outlive it.
///
/// Every read checks the end.
package struct WireReader {
  /// The base of offsets in errors.
  let origin: UnsafePointer<UInt8>
  var cursor: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>

  package init(_ bytes: UnsafeRawBufferPointer) {
    let base = bytes.baseAddress ?? WireReader.nowhere
    origin = base.assumingMemoryBound(to: UInt8.self)
    cursor = origin
    end = origin + bytes.count
  }

  init(origin: UnsafePointer<UInt8>, from cursor: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>) {
    self.origin = origin
    self.cursor = cursor
    self.end = end
  }

  /// An address for empty input, which may have none.
  nonisolated(unsafe) private static let nowhere = UnsafeRawPointer(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

  @inline(__always)
  package var isAtEnd: Bool { cursor >= end }

  @inline(__always)
  var remaining: Int { end - cursor }

  @inline(__always)
  package var offset: Int { cursor - origin }

  func failure(_ reason: DecodeError.Reason) -> DecodeError {
    DecodeError(reason, at: offset)
  }

  /// Reads a varint; bits above 64 of an over-long one are dropped, as in the protobuf libraries.
  @inline(__always)
  package mutating func varint() throws(DecodeError) -> UInt64 {
    if cursor < end, cursor.pointee < 0x80 {
      let value = UInt64(cursor.pointee)
      cursor += 1
      return value
    }
    if remaining >= 8 {
      // Up to eight bytes at once: the first byte without the highest bit is the last of the varint.
      let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
      let last = ~word & 0x8080_8080_8080_8080
      if last != 0 {
        cursor += last.trailingZeroBitCount &>> 3 &+ 1
        return WireReader.value(word & (last ^ (last &- 1)))
      }
    } else if end - origin >= 8, cursor < end, let value = varintAtEnd() {
      return value
    }
    return try longVarint()
  }

  /// Reads a varint from the last bytes, fewer than eight, together with the bytes before them.
  @inline(__always)
  private mutating func varintAtEnd() -> UInt64? {
    let word = UInt64(littleEndian: UnsafeRawPointer(end - 8).loadUnaligned(as: UInt64.self))
    // Earlier bytes are shifted out, and the bytes shifted in have the continuation bit.
    let rest = UInt64(truncatingIfNeeded: remaining &* 8)
    let bytes = word &>> (64 &- rest) | 0x8080_8080_8080_8080 &<< rest
    let last = ~bytes & 0x8080_8080_8080_8080
    guard last != 0 else { return nil }
    cursor += last.trailingZeroBitCount &>> 3 &+ 1
    return WireReader.value(bytes & (last ^ (last &- 1)))
  }

  /// The value of a varint's bytes, up to eight, ignoring their highest bits.
  @inline(__always)
  private static func value(_ bytes: UInt64) -> UInt64 {
    var bits = bytes
    bits = bits & 0x007f_007f_007f_007f | (bits & 0x7f00_7f00_7f00_7f00) &>> 1
    bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x3fff_0000_3fff_0000) &>> 2
    return bits & 0x0fff_ffff | (bits & 0x0fff_ffff_0000_0000) &>> 4
  }

  @inline(never)
  private mutating func longVarint() throws(DecodeError) -> UInt64 {
    var value: UInt64 = 0
    var position = cursor
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard position < end else { throw failure(.truncated) }
      let byte = position.pointee
      position += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 {
        cursor = position
        return value
      }
    }
    throw failure(.varintTooLong)
  }

  /// Reads a tag: at most five bytes, 32 bits, a field number of at least 1 and a valid wire type.
  @inline(__always)
  package mutating func tag() throws(DecodeError) -> Tag {
    let start = cursor
    let raw = try varint()
    guard raw <= UInt64(UInt32.max), cursor - start <= 5, raw >= 8, raw & 7 < 6 else {
      cursor = start
      throw failure(
        raw & 7 >= 6 && raw >= 8 && raw <= UInt64(UInt32.max)
          ? .invalidWireType(UInt8(truncatingIfNeeded: raw & 7)) : .invalidTag)
    }
    return Tag(raw: UInt32(truncatingIfNeeded: raw))
  }

  /// Reads a tag if it is this one in its shortest form.
  @inline(__always)
  mutating func accept(_ tag: Tag) -> Bool {
    if tag.raw < 0x80 {
      guard cursor < end, cursor.pointee == UInt8(truncatingIfNeeded: tag.raw) else { return false }
      cursor += 1
      return true
    }
    var ahead = self
    guard let next = try? ahead.tag(), next == tag else { return false }
    cursor = ahead.cursor
    return true
  }

  /// Reads the tag before a single value of a field of `plan`, if it has one byte; nil, with nothing read, for others.
  @inline(__always)
  mutating func shortTag(of plan: PlanPointer) -> FieldPointer? {
    guard cursor < end, cursor.pointee < 0x80, let field = plan.pointee.field(UInt32(cursor.pointee &>> 3)),
      field.pointee.elementTag.raw == UInt32(cursor.pointee)
    else { return nil }
    cursor += 1
    return field
  }

  @inline(__always)
  package mutating func fixed32() throws(DecodeError) -> UInt32 {
    guard remaining >= 4 else { throw failure(.truncated) }
    let value = UnsafeRawPointer(cursor).loadUnaligned(as: UInt32.self)
    cursor += 4
    return UInt32(littleEndian: value)
  }

  @inline(__always)
  package mutating func fixed64() throws(DecodeError) -> UInt64 {
    guard remaining >= 8 else { throw failure(.truncated) }
    let value = UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self)
    cursor += 8
    return UInt64(littleEndian: value)
  }

  /// Reads a length and that number of bytes.
  @inline(__always)
  package mutating func lengthDelimited() throws(DecodeError) -> UnsafeRawBufferPointer {
    let start = cursor
    let length = try varint()
    guard length <= UInt(bitPattern: remaining) else {
      cursor = start
      throw failure(.truncated)
    }
    let bytes = UnsafeRawBufferPointer(start: cursor, count: Int(truncatingIfNeeded: length))
    cursor += Int(truncatingIfNeeded: length)
    return bytes
  }

  /// Reads the next field if it is a length-delimited one with this number, shorter than 2 MB, with its length in
  /// the shortest form; nil, with nothing read, otherwise.
  ///
  /// - Parameter number: The field's number, at most 15.
  @inline(__always)
  mutating func shortField(_ number: UInt8) -> UnsafeRawBufferPointer? {
    guard remaining >= 4 else { return nil }
    let head = Int(UInt32(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt32.self)))
    let tag = Int(number) &<< 3 | 2
    var length = head &>> 8 & 0x7f
    var start = cursor + 2
    if _fastPath(head & 0x80_80ff == tag | 0x8000) {
      length |= head &>> 9 & 0x3f80
      start += 1
    } else {
      guard head & 0xff == tag else { return nil }
      if head & 0x8000 != 0 {
        guard head & 0x8000_0000 == 0 else { return nil }
        length |= head &>> 9 & 0x3f80 | head &>> 10 & 0x1f_c000
        start += 2
      }
    }
    guard length <= end - start else { return nil }
    cursor = start + length
    return UnsafeRawBufferPointer(start: start, count: length)
  }

  /// Reads a length and returns a reader of that number of bytes.
  @inline(__always)
  mutating func nested() throws(DecodeError) -> WireReader {
    let bytes = try lengthDelimited()
    return WireReader(origin: origin, from: cursor - bytes.count, to: cursor)
  }

  /// Reads the content and the end of the group `number`, whose start has been read.
  mutating func group(_ number: UInt32, depth: Int) throws(DecodeError) -> WireReader {
    let start = cursor
    var open: [UInt32] = [number]
    while true {
      guard !isAtEnd else { throw failure(.missingEndGroup) }
      let before = cursor
      let tag = try tag()
      switch tag.wireType {
      case .startGroup:
        guard depth + open.count <= nestingLimit else { throw failure(.tooDeep) }
        open.append(tag.number)
      case .endGroup:
        guard open.last == tag.number else {
          cursor = before
          throw failure(.unexpectedEndGroup)
        }
        open.removeLast()
        if open.isEmpty { return WireReader(origin: origin, from: start, to: before) }
      default: try skipScalar(tag)
      }
    }
  }

  /// Skips the value of `tag`; `depth` is that of its message.
  package mutating func skip(_ tag: Tag, depth: Int) throws(DecodeError) {
    switch tag.wireType {
    case .startGroup:
      guard depth < nestingLimit else { throw failure(.tooDeep) }
      _ = try group(tag.number, depth: depth + 1)
    case .endGroup: throw failure(.unexpectedEndGroup)
    default: try skipScalar(tag)
    }
  }

  @inline(__always)
  private mutating func skipScalar(_ tag: Tag) throws(DecodeError) {
    switch tag.wireType {
    case .varint: _ = try varint()
    case .fixed64: _ = try fixed64()
    case .fixed32: _ = try fixed32()
    default: _ = try lengthDelimited()
    }
  }
}
