import Glibc

/// A file that nobody else can open, and that is gone when the process is, however it ends: it has no name.
struct TemporaryFile {
  let descriptor: Int32

  /// Makes a file below `$TMPDIR`.
  init() throws(Failure) {
    let directory = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    let base = directory.isEmpty ? "/tmp" : directory
    var template = Array("\(base)/rpcurl.XXXXXX".utf8CString)
    // Readable and writable by the user alone. A child process gets it, which is what it is for.
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Failure(.schema, base, FileContents.lastError()) }
    unlink(template)
  }

  func close() { Glibc.close(descriptor) }

  /// Adds to it.
  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    if let problem = FileContents.write(Array(bytes), to: descriptor) {
      throw Failure(.schema, "a temporary file", problem.why)
    }
  }

  /// All that was written.
  func contents() throws(FileContents.Problem) -> [UInt8] {
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
