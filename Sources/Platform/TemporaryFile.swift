import RPCurlBase

/// An unnamed temporary file. No other process can open it, and the kernel removes it however the process ends.
package struct TemporaryFile {
  package let descriptor: Int32

  /// Creates a file in `$TMPDIR`, or `/tmp`.
  ///
  /// - Throws: `SystemError` if the directory does not permit it.
  package init() throws(SystemError) {
    let directory = EnvironmentVariables.value("TMPDIR") ?? ""
    let base = directory.isEmpty ? "/tmp" : directory
    var template = Array("\(base)/rpcurl.XXXXXX".utf8CString)
    // Mode 0600. Child processes inherit the descriptor: buf writes to it.
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw SystemError("\(base): \(FileContents.lastError())") }
    unlink(template)
  }

  package func close() { RPCurlPlatform.close(descriptor) }

  /// Appends `bytes`, and rewinds: the next reader of the descriptor begins at the start.
  package func write(_ bytes: [UInt8]) throws(SystemError) {
    if let problem = FileContents.write(bytes, to: descriptor) { throw problem }
    try rewind()
  }

  private func rewind() throws(SystemError) {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last }
  }

  /// Reads everything that was written.
  package func contents() throws(SystemError) -> [UInt8] {
    try rewind()
    var contents: [UInt8] = []
    while true {
      let piece = try FileContents.readPiece(descriptor, limitBytes: 1 << 18)
      guard !piece.isEmpty else { return contents }
      contents += piece
    }
  }
}
