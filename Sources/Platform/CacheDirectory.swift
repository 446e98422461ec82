import RPCurlBase

/// A directory of files that can be made again, shared by the processes of the user.
///
/// The name of a file is the hash of its key, and its first line the hash of its name and content: a damaged file, or one
/// that another user can have written, is treated as absent. The access time is that of the last use. When the files
/// exceed the limit, those that were not used for the longest time are removed.
package final class CacheDirectory: Sendable {
  /// Files that were not used for this time are removed, in seconds.
  private static let keptSeconds = 30 * 24 * 3600
  /// The length of a hash and a line feed, after which the content begins.
  package static let sealBytes = 65

  private let path: String
  private let limitBytes: Int
  /// How many bytes can be stored before the files are counted again.
  private let allowance = Locked(0)

  /// Describes a directory, which is created with the first file.
  ///
  /// - Parameters:
  ///   - path: The absolute path.
  ///   - limitBytes: How many bytes of the disk the files may use. Further processes may exceed it by a sixteenth each.
  package init(_ path: String, limitBytes: Int) {
    self.path = path
    self.limitBytes = limitBytes
  }

  /// The path of the file of a key.
  package func path(_ key: [UInt8]) -> String { "\(path)/\(SHA256.digest(of: key))" }

  /// The content that was stored for a key; nil if it is absent.
  package func load(_ key: [UInt8]) -> [UInt8]? {
    let name = SHA256.digest(of: key)
    guard let (descriptor, size) = open("\(path)/\(name)") else { return nil }
    defer { close(descriptor) }
    guard let seal = try? FileContents.readPiece(descriptor, limitBytes: Self.sealBytes),
      let content = try? FileContents.readPiece(descriptor, limitBytes: size - Self.sealBytes),
      content.withUnsafeBytes({ Self.seal(name, $0) }) == seal
    else { return nil }
    return content
  }

  /// Opens a file that only the user can have written, and which is used now; nil if it is absent. Its content is not checked.
  package func open(_ path: String) -> (descriptor: Int32, sizeBytes: Int)? {
    guard let descriptor = (try? FileTrust.open(path, flags: O_NOFOLLOW)) ?? nil else { return nil }
    guard let file = FileFacts(descriptor), file.isRegular,
      (Self.sealBytes...limitBytes).contains(file.sizeBytes)
    else {
      close(descriptor)
      return nil
    }
    // The owner may set the times of a file that is open for reading. The time of its content stays: UTIME_NOW, UTIME_OMIT.
    let times = [(1 << 30) - 1, (1 << 30) - 2].map { timespec(tv_sec: 0, tv_nsec: $0) }
    _ = futimens(descriptor, times)
    return (descriptor, file.sizeBytes)
  }

  /// Stores content for a key, and removes other files if there are too many.
  ///
  /// - Throws: `SystemError` if the file cannot be written, or if other users could write it.
  package func store(_ content: [UInt8], for key: [UInt8]) throws(SystemError) {
    try content.withUnsafeBytes { content in
      Result { () throws(SystemError) in try store(content, for: key) }
    }.get()
  }

  /// Stores content for a key, as the function for an array does.
  package func store(_ content: UnsafeRawBufferPointer, for key: [UInt8]) throws(SystemError) {
    let name = SHA256.digest(of: key)
    let size = Self.size(onDisk: Self.sealBytes + content.count)
    guard size <= limitBytes else { throw SystemError("it exceeds the size of the cache") }
    Directory.make(path)
    guard let file = ReplacementFile(for: "\(path)/\(name)", mode: 0o600) else {
      throw SystemError("\(path): \(FileContents.lastError())")
    }
    let failure = file.complete { descriptor in
      FileContents.write(Self.seal(name, content), to: descriptor)
        ?? FileContents.write(content, to: descriptor)
    }
    if let failure { throw SystemError("\(path): \(failure.reason)") }
    try checkTrust(name)
    let isFull = allowance.withLock { allowance in
      allowance -= size
      return allowance < 0
    }
    if isFull { prune(keeping: name) }
  }

  private func checkTrust(_ name: String) throws(SystemError) {
    // Another process may have removed the file.
    if let descriptor = try FileTrust.open("\(path)/\(name)", flags: O_NOFOLLOW) { close(descriptor) }
  }

  private static func seal(_ name: String, _ content: UnsafeRawBufferPointer) -> [UInt8] {
    Array("\(SHA256.digest(of: content, after: Array(name.utf8)))\n".utf8)
  }

  /// The size of the blocks of a file.
  private static func size(onDisk bytes: Int) -> Int { (bytes + 4095) & ~4095 }

  // MARK: Pruning

  /// Removes the files that were not used for the longest time, unless another process does so now.
  private func prune(keeping kept: String) {
    let lock = RPCurlPlatform.open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { return }
    defer { close(lock) }
    guard FileLock.lockForWriting(lock, patience: .zero) else { return }
    defer { FileLock.release(lock) }
    var files: [(name: String, used: Int, size: Int)] = []
    var total = 0
    for name in Directory.entries(in: path).map(\.name) where name != "lock" {
      guard let file = FileFacts(link: "\(path)/\(name)"), file.isRegular else { continue }
      let size = Self.size(onDisk: file.sizeBytes)
      files.append((name, file.used, size))
      total += size
    }
    // So much is free afterwards that the files are not counted again soon.
    let room = limitBytes / 16
    let isFull = total > limitBytes
    let oldest = (time(nil) - Self.keptSeconds) * 1_000_000_000
    for file in files.sorted(by: { $0.used < $1.used }) where file.name != kept {
      guard file.used < oldest || isFull && total > limitBytes - room else { break }
      if unlink("\(path)/\(file.name)") == 0 { total -= file.size }
    }
    allowance.withLock { $0 = min(room, limitBytes - total) }
  }
}
