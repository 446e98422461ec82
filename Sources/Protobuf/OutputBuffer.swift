import RPCurlCSystem

/// A growable byte buffer for the codecs, which can be cleared and reused.
///
/// Appending single bytes to an array checks uniqueness and bounds for each byte; and `realloc` grows a large
/// buffer without copying it.
package struct OutputBuffer: ~Copyable {
  private(set) var base: UnsafeMutablePointer<UInt8>
  /// The number of bytes.
  package private(set) var count = 0
  private var capacity: Int

  /// Makes an empty buffer; without a capacity it allocates on the first append.
  package init(capacity: Int = 0) {
    self.capacity = 0
    base = OutputBuffer.nowhere
    if capacity > 0 { grow(capacity) }
  }

  deinit { if capacity > 0 { free(base) } }

  /// The address of an empty buffer, which is neither read nor written.
  nonisolated(unsafe) private static let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

  /// Removes the bytes and keeps the capacity.
  package mutating func removeAll() { count = 0 }

  /// Removes the bytes, and frees the memory if there is more than `limit` bytes of it.
  package mutating func removeAll(keepingBytes limit: Int) {
    if capacity > limit { self = OutputBuffer() } else { count = 0 }
  }

  /// Calls `body` with the bytes, which are valid during the call only.
  package borrowing func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// The address of the next byte.
  @inline(__always)
  var end: UnsafeMutablePointer<UInt8> { base + count }

  /// Makes room for `additional` more bytes.
  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if additional > capacity &- count { grow(additional) }
  }

  @inline(never)
  private mutating func grow(_ additional: Int) {
    let wanted = max(count + additional, capacity * 2, 64)
    guard let larger = realloc(capacity > 0 ? base : nil, wanted) else { fatalError("out of memory") }
    base = larger.assumingMemoryBound(to: UInt8.self)
    capacity = wanted
  }

  /// Appends a byte in reserved room.
  @inline(__always)
  mutating func appendReserved(_ byte: UInt8) {
    base[count] = byte
    count &+= 1
  }

  /// Appends a byte.
  @inline(__always)
  package mutating func append(_ byte: UInt8) {
    reserve(1)
    appendReserved(byte)
  }

  /// Appends bytes.
  @inline(__always)
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(base + count).copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }

  /// Appends bytes.
  package mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a text as UTF-8.
  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Counts bytes that were stored after the end, in reserved room.
  @inline(__always)
  mutating func advance(by distance: Int) {
    count &+= distance
  }

  /// Removes the bytes after the first `length`.
  @inline(__always)
  package mutating func truncate(to length: Int) {
    if length < count { count = length }
  }

  /// Removes the first bytes.
  package mutating func removeFirst(_ length: Int) {
    precondition(length <= count)
    UnsafeMutableRawPointer(base).copyMemory(from: base + length, byteCount: count - length)
    count -= length
  }

  /// Moves the bytes after `position` by `distance`, which leaves a gap.
  mutating func openGap(at position: Int, of distance: Int) {
    reserve(distance)
    let from = UnsafeMutableRawPointer(base + position)
    (from + distance).copyMemory(from: from, byteCount: count - position)
    count += distance
  }

  /// The bytes from `start` on.
  package borrowing func copyBytes(from start: Int = 0) -> [UInt8] {
    [UInt8](UnsafeRawBufferPointer(start: base + start, count: count - start))
  }
}

/// Copies in blocks of 16 bytes, the last of which may access up to 15 bytes beyond the end.
@inline(__always)
func copyBlocks(from source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count: Int) {
  var index = 0
  repeat {
    let block = UnsafeRawPointer(source + index).loadUnaligned(as: SIMD2<UInt64>.self)
    UnsafeMutableRawPointer(target + index).storeBytes(of: block, as: SIMD2<UInt64>.self)
    index &+= 16
  } while index < count
}
