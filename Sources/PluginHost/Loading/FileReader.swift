import RPCurlPlatform

/// An open file for random access.
struct FileReader: ~Copyable {
  let descriptor: Int32

  /// Opens a file.
  init(path: String) throws(PluginError) {
    // Opening a fifo must not block.
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard opened >= 0 else { throw .unreadable(path: path, reason: currentError()) }
    descriptor = opened
  }

  deinit { close(descriptor) }

  /// Reads bytes at an offset; fewer at the end of the file.
  func read(at offset: UInt64, count: Int) -> [UInt8] {
    // Filling an empty array would write to the storage that all empty arrays share.
    guard count > 0, offset <= UInt64(Int64.max) else { return [] }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let got = pread(
          descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset) + off_t(filled))
        if got < 0 && errno == EINTR { continue }
        guard got > 0 else { break }
        filled += got
      }
    }
  }
}
