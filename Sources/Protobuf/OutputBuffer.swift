#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A growing run of bytes that the codecs append to, and that can be emptied and used again.
///
/// It exists because appending to an array one byte at a time checks uniqueness and bounds at each byte, and because
/// `realloc` grows a large buffer without copying it.
public struct OutputBuffer: ~Copyable {
  private(set) var base: UnsafeMutablePointer<UInt8>
  /// How many bytes it holds.
  public private(set) var count = 0
  private var capacity: Int

  /// An empty buffer; without a capacity it allocates nothing before something is appended.
  public init(capacity: Int = 0) {
    self.capacity = 0
    base = OutputBuffer.nowhere
    if capacity > 0 { grow(capacity) }
  }

  deinit { if capacity > 0 { free(base) } }

  /// Where nothing is stored.
  nonisolated(unsafe) private static let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

  /// Drops the bytes and keeps the room.
  public mutating func removeAll() { count = 0 }

  /// The bytes so far; valid during the call only.
  public borrowing func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Where the next byte goes.
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

  /// Appends a byte for which room has been reserved.
  @inline(__always)
  mutating func appendReserved(_ byte: UInt8) {
    base[count] = byte
    count &+= 1
  }

  /// Appends a byte.
  @inline(__always)
  public mutating func append(_ byte: UInt8) {
    reserve(1)
    appendReserved(byte)
  }

  /// Appends bytes.
  @inline(__always)
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    UnsafeMutableRawPointer(base + count).copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }

  mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Counts bytes that were stored behind the end, in room that had been reserved.
  @inline(__always)
  mutating func advance(by distance: Int) {
    count &+= distance
  }

  /// Drops what follows the first `length` bytes.
  @inline(__always)
  mutating func truncate(to length: Int) {
    if length < count { count = length }
  }

  /// Moves what follows `position` by `distance` and so opens a gap there.
  mutating func openGap(at position: Int, of distance: Int) {
    reserve(distance)
    let from = UnsafeMutableRawPointer(base + position)
    (from + distance).copyMemory(from: from, byteCount: count - position)
    count += distance
  }

  borrowing func copyBytes(from start: Int = 0) -> [UInt8] {
    [UInt8](UnsafeRawBufferPointer(start: base + start, count: count - start))
  }
}

/// Copies in blocks of 16 bytes, the last of which may read and write up to 15 bytes beyond.
@inline(__always)
func copyBlocks(from source: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, count: Int) {
  var index = 0
  repeat {
    let block = UnsafeRawPointer(source + index).loadUnaligned(as: SIMD2<UInt64>.self)
    UnsafeMutableRawPointer(target + index).storeBytes(of: block, as: SIMD2<UInt64>.self)
    index &+= 16
  } while index < count
}
