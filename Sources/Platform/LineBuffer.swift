/// Reads lines from a descriptor that does not block.
package struct LineBuffer {
  /// What a read has found.
  package enum Found {
    case bytes(Int)
    case nothing
    case end
  }

  private var bytes: [UInt8] = []
  /// Where the next line begins, and where to look for its end.
  private var (start, next) = (0, 0)

  package init() {}

  /// Reads a piece.
  package mutating func read(_ descriptor: Int32) -> Found {
    var (size, error) = (-1, Int32(0))
    repeat {
      let piece = [UInt8](unsafeUninitializedCapacity: 1 << 16) { room, count in
        size = RPCurlPlatform.read(descriptor, room.baseAddress, room.count)
        error = errno
        count = max(size, 0)
      }
      bytes += piece
    } while size < 0 && error == EINTR
    guard size > 0 else { return size < 0 && error == EAGAIN ? .nothing : .end }
    return .bytes(size)
  }

  /// The number of bytes of the line that has not ended.
  package var restCount: Int { bytes.count - start }

  /// Takes the next whole line, without its end; nil if there is none.
  package mutating func line() -> [UInt8]? {
    guard let end = bytes[next...].firstIndex(of: UInt8(ascii: "\n")) else {
      if start > 0 { bytes.removeSubrange(..<start) }
      (start, next) = (0, bytes.count)
      return nil
    }
    defer { (start, next) = (end + 1, end + 1) }
    return Array(bytes[start..<end])
  }

  /// Takes all that is left, which no line end ends; nil if there is nothing.
  package mutating func rest() -> [UInt8]? {
    defer { self = LineBuffer() }
    return restCount == 0 ? nil : Array(bytes[start...])
  }
}
