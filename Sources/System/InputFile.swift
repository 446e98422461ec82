import Glibc

/// A file or standard input, read in pieces.
package struct InputFile {
  private static let pieceBytes = 1 << 18

  private let descriptor: Int32

  /// Opens the file at `path`, or standard input for `-`.
  package init(_ path: String) throws(FileContents.Problem) {
    descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileContents.Problem(why: FileContents.lastError()) }
  }

  package func close() {
    if descriptor != 0 { Glibc.close(descriptor) }
  }

  /// Reads the next piece, and waits for it; returns nil at the end of the file.
  package func next() throws(FileContents.Problem) -> [UInt8]? {
    while true {
      var failure: Int32 = 0
      let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, count in
        let result = read(descriptor, buffer.baseAddress, Self.pieceBytes)
        count = max(result, 0)
        if result < 0 { failure = errno }
      }
      if failure == EINTR { continue }
      guard failure == 0 else { throw FileContents.Problem(why: String(cString: strerror(failure))) }
      return piece.isEmpty ? nil : piece
    }
  }
}
