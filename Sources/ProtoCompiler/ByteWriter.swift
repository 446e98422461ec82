import RPCurlCSystem
import RPCurlProtobuf

/// A growable buffer with the writers of serialized messages.
///
/// A length in front of a nested message takes one byte until the message ends; a longer one moves the message. That is cheaper than
/// to compute the sizes of all messages first.
struct ByteWriter: ~Copyable {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 256) {
    self.capacity = capacity
    base = ByteWriter.memory(nil, capacity)
  }

  deinit { free(base) }

  /// Memory of another size: `realloc` does not copy a large buffer.
  private static func memory(_ old: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> UnsafeMutablePointer<
    UInt8
  > {
    guard let new = realloc(old, capacity) else { fatalError("out of memory") }
    return new.assumingMemoryBound(to: UInt8.self)
  }

  /// Gives freed memory back to the system. The allocator by itself gives back only what is at the end of the heap.
  static func giveBackFreedMemory() { csystem_give_back_memory() }

  /// Moves the bytes out, without a copy.
  mutating func take() -> SchemaBytes {
    let taken = SchemaBytes(owning: UnsafeRawBufferPointer(bytes)) {
      free(UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
    (count, capacity) = (0, 16)
    base = ByteWriter.memory(nil, capacity)
    return taken
  }

  mutating func removeAll() { count = 0 }

  /// Removes the bytes after the first `count`.
  mutating func truncate(to count: Int) { self.count = min(self.count, count) }

  /// The bytes, valid until the next change.
  var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: count) }

  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if capacity - count < additional { grow(additional) }
  }

  @inline(never)
  private mutating func grow(_ additional: Int) {
    capacity = max(capacity * 2, count + additional)
    base = ByteWriter.memory(base, capacity)
  }

  @inline(__always)
  mutating func byte(_ value: UInt8) {
    reserve(1)
    base[count] = value
    count += 1
  }

  @inline(__always)
  mutating func varint(_ value: UInt64) {
    reserve(10)
    var rest = value
    while rest >= 0x80 {
      base[count] = UInt8(truncatingIfNeeded: rest) | 0x80
      count += 1
      rest >>= 7
    }
    base[count] = UInt8(truncatingIfNeeded: rest)
    count += 1
  }

  mutating func raw(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let start = bytes.baseAddress else { return }
    reserve(bytes.count)
    (base + count).update(from: start, count: bytes.count)
    count += bytes.count
  }

  mutating func fixed32(_ value: UInt32) {
    for shift in stride(from: UInt32(0), to: 32, by: 8) { byte(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func fixed64(_ value: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { byte(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  // MARK: Fields

  @inline(__always)
  mutating func tag(_ number: Int32, _ type: WireType) {
    varint(UInt64(UInt32(bitPattern: number)) << 3 | UInt64(type.rawValue))
  }

  @inline(__always)
  mutating func field(_ number: Int32, varint value: UInt64) {
    tag(number, .varint)
    varint(value)
  }

  @inline(__always)
  mutating func field(_ number: Int32, int32 value: Int32) {
    field(number, varint: UInt64(bitPattern: Int64(value)))
  }

  @inline(__always)
  mutating func field(_ number: Int32, bytes: UnsafeBufferPointer<UInt8>) {
    tag(number, .length)
    varint(UInt64(bytes.count))
    raw(bytes)
  }

  mutating func field(_ number: Int32, _ text: StaticString) {
    field(number, bytes: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Begins a field with a length. Returns what `end` takes.
  @inline(__always)
  mutating func begin(_ number: Int32) -> Int {
    tag(number, .length)
    byte(0)
    return count
  }

  /// Writes the length of what was written since `start`.
  @inline(__always)
  mutating func end(_ start: Int) {
    let length = count - start
    if length < 0x80 { base[start - 1] = UInt8(truncatingIfNeeded: length) } else { endLong(start, length) }
  }

  private mutating func endLong(_ start: Int, _ length: Int) {
    let size = (Int.bitWidth - length.leadingZeroBitCount + 6) / 7
    reserve(size)
    let target = base + start + size - 1
    target.update(from: base + start, count: length)
    count = start - 1
    varint(UInt64(length))
    count += length
  }
}

/// The kinds of values on the wire.
enum WireType: UInt8 {
  case varint = 0
  case fixed64 = 1
  case length = 2
  case startGroup = 3
  case endGroup = 4
  case fixed32 = 5
}

/// A field of a serialized message.
struct WireField {
  var number: Int32
  var type: WireType
  /// The value of a number.
  var value: UInt64 = 0
  /// The content of a field with a length or of a group; empty for others.
  var content: Range<Int>
  /// The field with its tag.
  var whole: Range<Int>
}

/// The fields of a serialized message, in their order. It ends at a malformed field.
struct WireFields: Sequence, IteratorProtocol {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var offset: Int
  private let end: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    self.bytes = bytes
    offset = range.lowerBound
    end = Swift.min(range.upperBound, bytes.count)
  }

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.init(bytes, 0..<bytes.count) }

  mutating func varint() -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while offset < end, shift < 64 {
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    return nil
  }

  mutating func next() -> WireField? { next(depth: 0) }

  private mutating func next(depth: Int) -> WireField? {
    let start = offset
    guard offset < end, let tag = varint(), let type = WireType(rawValue: UInt8(tag & 7)),
      tag >> 3 <= 0x1fff_ffff
    else { return nil }
    var field = WireField(
      number: Int32(truncatingIfNeeded: tag >> 3), type: type, content: offset..<offset, whole: start..<offset
    )
    switch type {
    case .varint:
      guard let value = varint() else { return nil }
      field.value = value
    case .fixed32, .fixed64:
      let size = type == .fixed32 ? 4 : 8
      guard end - offset >= size else { return nil }
      for index in 0..<size { field.value |= UInt64(bytes[offset + index]) << UInt64(index * 8) }
      offset += size
    case .length:
      guard let length = varint(), length <= UInt64(end - offset) else { return nil }
      field.content = offset..<offset + Int(length)
      offset += Int(length)
    case .startGroup:
      guard depth < 100 else { return nil }
      let first = offset
      while true {
        guard let inner = next(depth: depth + 1) else { return nil }
        guard inner.type == .endGroup else { continue }
        field.content = first..<inner.whole.lowerBound
        break
      }
    case .endGroup: break
    }
    field.whole = start..<offset
    return field
  }
}
