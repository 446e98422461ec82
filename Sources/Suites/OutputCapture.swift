import Glibc
import Output
import System

/// What a session prints, in an unnamed file.
final class OutputCapture {
  /// The most that is kept of the output of a test, in bytes: its end.
  private static let limitBytes = 64 << 10

  private let file: TemporaryFile

  /// The descriptor to print to.
  var descriptor: Int32 { file.descriptor }

  /// - Throws: `Failure` if no temporary file can be made.
  init() throws(Failure) {
    do throws(FileContents.Problem) {
      file = try TemporaryFile()
    } catch {
      throw Failure(.internalError, "temporary file", error.why)
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { file.close() }

  /// The output since the last call of this function.
  func take() -> String {
    let size = max(Int(lseek(descriptor, 0, SEEK_CUR)), 0)
    let count = min(size, Self.limitBytes)
    var bytes = [UInt8](repeating: 0, count: count)
    let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(size - count)) }
    ftruncate(descriptor, 0)
    lseek(descriptor, 0, SEEK_SET)
    let text = String(decoding: bytes.prefix(max(read, 0)), as: UTF8.self)
    return size > count ? "…\(text)" : text
  }
}
