/// Bytes in the order in which they were added. Large arrays are kept, not copied.
struct ByteQueue {
  /// Up to this size, arrays are collected in one.
  private static let pieceBytes = 16_384
  private var pieces: [[UInt8]] = []
  /// The index of the first piece with bytes, and of its first byte.
  private var piece = 0
  private var start = 0
  /// The number of bytes.
  private(set) var count = 0

  mutating func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    if let last = pieces.indices.last, last >= piece, pieces[last].count + bytes.count <= Self.pieceBytes {
      pieces[last] += bytes
    } else {
      pieces.append(bytes)
    }
  }

  /// Moves the first bytes to an array.
  mutating func move(_ wanted: Int, to output: inout [UInt8]) {
    var rest = min(wanted, count)
    count -= rest
    while rest > 0 {
      let size = min(rest, pieces[piece].count - start)
      output += pieces[piece][start..<start + size]
      (start, rest) = (start + size, rest - size)
      guard start == pieces[piece].count else { return }
      (piece, start) = (piece + 1, 0)
    }
    guard count == 0 || piece > 64 else { return }
    pieces.removeFirst(piece)
    piece = 0
  }

  mutating func removeAll() { self = ByteQueue() }
}
