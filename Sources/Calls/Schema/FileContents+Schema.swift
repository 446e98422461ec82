import Glibc
import Protobuf
import System

extension FileContents {
  /// Maps the file at `path` into memory, so that only the used pages are read. If it is not a regular file, reads a
  /// copy, up to a limit.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  package static func map(_ path: String, waitLimit: Duration? = nil) throws(Problem) -> SchemaBytes {
    var status = stat()
    guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
      return SchemaBytes(try read(path, limitBytes: dataLimitBytes, waitLimit: waitLimit))
    }
    let descriptor = try open(path)
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0 else { throw Problem(why: lastError()) }
    let size = Int(status.st_size)
    let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let address, address != MAP_FAILED else { throw Problem(why: lastError()) }
    return SchemaBytes(owning: UnsafeRawBufferPointer(start: address, count: size)) { bytes in
      munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
  }
}
