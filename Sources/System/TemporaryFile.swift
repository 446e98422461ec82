import Glibc

/// A file that nobody else can open, and that is gone when the process is, however it ends: it has no name.
package struct TemporaryFile {
  package let descriptor: Int32

  /// Makes a file below `$TMPDIR`.
  ///
  /// - Throws: `FileContents.Problem` if the directory does not permit it.
  package init() throws(FileContents.Problem) {
    let directory = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    let base = directory.isEmpty ? "/tmp" : directory
    var template = Array("\(base)/rpcurl.XXXXXX".utf8CString)
    // Readable and writable by the user alone. A child process gets it, which is what it is for.
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw FileContents.Problem(why: "\(base): \(FileContents.lastError())") }
    unlink(template)
  }

  package func close() { Glibc.close(descriptor) }

  /// Adds to it.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(FileContents.Problem) {
    if let problem = FileContents.write(Array(bytes), to: descriptor) { throw problem }
  }

  /// All that was written.
  package func contents() throws(FileContents.Problem) -> [UInt8] {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw FileContents.Problem(why: FileContents.lastError())
    }
    var contents: [UInt8] = []
    while true {
      let piece = try FileContents.readPiece(descriptor, limitBytes: 1 << 18)
      guard !piece.isEmpty else { return contents }
      contents += piece
    }
  }
}
