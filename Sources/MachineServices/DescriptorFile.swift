import Glibc
import Interceptors
import Protobuf
import System

/// A file that is written through its descriptor.
package final class DescriptorFile: OutputFile {
  private let descriptor: Int32
  private let closes: Bool
  /// Nil if the content of the file cannot be replaced: a pipe, for example.
  private let identity: FileIdentity?

  /// Makes a file of an open descriptor, which is written at its position.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - closes: Whether `close` closes it.
  package init(_ descriptor: Int32, closes: Bool) {
    self.descriptor = descriptor
    self.closes = closes
    identity = nil
  }

  /// Makes a file of a descriptor that was opened for appending, and is closed by `close`.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor.
  ///   - head: The first bytes of the content that replaces the old one before the first write; nil to append.
  init(_ descriptor: Int32, replacingWith head: [UInt8]?) {
    self.descriptor = descriptor
    closes = true
    identity = FileIdentity(descriptor)
    if let identity, let head { FileIdentity.replaced.withLock { $0[identity] = head } }
  }

  package func write(_ bytes: [UInt8]) throws(ServiceFailure) {
    let head = try replaceOldContent()
    if let problem = FileContents.write(head.isEmpty ? bytes : head + bytes, to: descriptor) {
      throw ServiceFailure(problem.why)
    }
  }

  package func close() throws(ServiceFailure) {
    // The number of a closed file may become that of another.
    if let identity { _ = FileIdentity.replaced.withLock { $0.removeValue(forKey: identity) } }
    guard closes, Glibc.close(descriptor) != 0 else { return }
    throw ServiceFailure(FileContents.lastError())
  }

  /// Empties the file before its first write, and returns what it then begins with.
  private func replaceOldContent() throws(ServiceFailure) -> [UInt8] {
    guard let identity else { return [] }
    return try FileIdentity.replaced.withLock { replaced throws(ServiceFailure) -> [UInt8] in
      guard let head = replaced.removeValue(forKey: identity) else { return [] }
      guard ftruncate(descriptor, 0) == 0 else { throw ServiceFailure(FileContents.lastError()) }
      return head
    }
  }
}

/// Identifies an open regular file, however its path is written.
private struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let number: ino_t

  /// The files whose content is to be replaced before the next write, and what then begins it. Interceptors that write to the
  /// same file replace it once.
  ///
  /// Global, because the process has one file of each identity, whichever client opened it.
  static let replaced = Locked<[FileIdentity: [UInt8]]>([:])

  /// Returns nil for anything but a regular file.
  init?(_ descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    device = status.st_dev
    number = status.st_ino
  }
}
