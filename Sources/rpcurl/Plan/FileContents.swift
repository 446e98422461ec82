import Glibc
import Protobuf

/// A file, read whole or mapped into memory.
enum FileContents {
  /// Why a file cannot be read.
  struct Problem: Error {
    let why: String
  }

  /// The bytes of the file at `path`; standard input for `-`.
  static func read(_ path: String) throws(Problem) -> [UInt8] {
    let descriptor = try open(path)
    defer { close(descriptor) }
    var contents: [UInt8] = []
    while true {
      let piece = try readPiece(descriptor, limitBytes: 1 << 16)
      guard !piece.isEmpty else { return contents }
      contents.append(contentsOf: piece)
    }
  }

  /// Opens the file at `path`; standard input for `-`.
  static func open(_ path: String) throws(Problem) -> Int32 {
    let descriptor = path == "-" ? 0 : Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Problem(why: lastError()) }
    return descriptor
  }

  /// Closes what `open` opened; standard input stays open.
  static func close(_ descriptor: Int32) {
    if descriptor != 0 { Glibc.close(descriptor) }
  }

  /// The next bytes, at most `limitBytes`; none at the end.
  static func readPiece(_ descriptor: Int32, limitBytes: Int) throws(Problem) -> [UInt8] {
    while true {
      var failure: Int32 = 0
      let piece = [UInt8](unsafeUninitializedCapacity: limitBytes) { buffer, count in
        let result = Glibc.read(descriptor, buffer.baseAddress, limitBytes)
        count = max(result, 0)
        if result < 0 { failure = errno }
      }
      if failure == 0 { return piece }
      guard failure == EINTR else { throw Problem(why: String(cString: strerror(failure))) }
    }
  }

  /// The file at `path`, mapped, so that only the pages that are looked at are read; a copy of what is no
  /// regular file.
  static func map(_ path: String) throws(Problem) -> SchemaBytes {
    guard path != "-" else { return SchemaBytes(try read(path)) }
    let descriptor = try open(path)
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Problem(why: lastError()) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return SchemaBytes(try read(path)) }
    let size = Int(status.st_size)
    let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let address, address != MAP_FAILED else { throw Problem(why: lastError()) }
    return SchemaBytes(owning: UnsafeRawBufferPointer(start: address, count: size)) { bytes in
      munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
  }

  /// Writes all of `bytes`; gives the problem if there is one.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Problem? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return Problem(why: lastError())
      }
    }
    return nil
  }

  /// Puts a file in place in one step, by a file beside it that takes its name; gives the problem if there is one.
  ///
  /// What is there and no regular file (a pipe, a terminal, a symbolic link) is written instead.
  static func replace(_ path: String, with bytes: [UInt8]) -> Problem? {
    var status = stat()
    let isThere = lstat(path, &status) == 0
    let isReplaced = !isThere || status.st_mode & S_IFMT == S_IFREG
    let written = isReplaced ? "\(path).\(getpid()).new" : path
    // What is written there may be confidential.
    let mode = isThere && isReplaced ? status.st_mode & 0o777 : 0o600
    let descriptor = Glibc.open(
      written, O_WRONLY | O_CREAT | O_CLOEXEC | (isReplaced ? O_EXCL : O_TRUNC), mode)
    guard descriptor >= 0 else { return Problem(why: lastError()) }
    var problem = write(bytes, to: descriptor)
    if Glibc.close(descriptor) != 0, problem == nil { problem = Problem(why: lastError()) }
    if problem == nil, isReplaced, rename(written, path) != 0 { problem = Problem(why: lastError()) }
    if problem != nil, isReplaced { unlink(written) }
    return problem
  }

  /// Where a symbolic link points to.
  static func target(ofLink path: String) -> String? {
    let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      guard let address = buffer.baseAddress else { return }
      count = address.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
        max(readlink(path, $0, buffer.count), 0)
      }
    }
    return target.isEmpty ? nil : String(decoding: target, as: UTF8.self)
  }

  /// The words for `errno`.
  static func lastError() -> String {
    String(cString: strerror(errno))
  }
}
