import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf

extension FileContents {
  /// The size up to which one command reads a descriptor set: a read of this size costs less than a millisecond.
  package static let readDescriptorSetBytes = 4 << 20

  /// Reads the descriptor set at `path`, or standard input for `-`, in any form: see ``DescriptorSetForm``. A large set is mapped.
  ///
  /// `protoc` truncates a set and writes it again, and a process that reads a page of a mapping which the file no longer
  /// has is ended by SIGBUS. What lives longer than a call therefore reads all sets.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  ///   - readLimitBytes: The size up to which the file is read.
  package static func descriptorSet(
    _ path: String, waitLimit: Duration? = nil, readLimitBytes: Int = readDescriptorSetBytes
  ) throws(SystemError) -> SchemaBytes {
    let contents = try contents(path, waitLimit: waitLimit, readLimitBytes: readLimitBytes)
    do {
      return try DescriptorSetReader.set(contents)
    } catch {
      throw SystemError(error.why)
    }
  }

  private static func contents(
    _ path: String, waitLimit: Duration?, readLimitBytes: Int
  ) throws(SystemError) -> SchemaBytes {
    guard path != "-", let file = FileFacts(path), file.isRegular,
      (1...readLimitBytes).contains(file.sizeBytes)
    else { return try map(path, waitLimit: waitLimit) }
    let descriptor = try open(path)
    defer { close(descriptor) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: file.sizeBytes, alignment: 1)
    var count = 0
    while count < buffer.count {
      let result = RPCurlPlatform.read(
        descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else {
        let why = lastError()
        buffer.deallocate()
        throw SystemError(why)
      }
      if result == 0 { break }
      count += result
    }
    return SchemaBytes(owning: UnsafeRawBufferPointer(rebasing: buffer[..<count])) { $0.deallocate() }
  }

  /// Maps the file at `path` into memory, so that only the used pages are read. If it is not a regular file, reads a
  /// copy, up to a limit.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  package static func map(_ path: String, waitLimit: Duration? = nil) throws(SystemError) -> SchemaBytes {
    guard path != "-", let file = FileFacts(path), file.isRegular, file.sizeBytes > 0 else {
      return SchemaBytes(try read(path, limitBytes: dataLimitBytes, waitLimit: waitLimit))
    }
    let descriptor = try open(path)
    defer { close(descriptor) }
    return try map(descriptor)
  }

  /// Maps an open file into memory.
  static func map(_ descriptor: Int32) throws(SystemError) -> SchemaBytes {
    guard let size = FileFacts(descriptor)?.sizeBytes else { throw .last }
    let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let address, address != MAP_FAILED else { throw .last }
    return SchemaBytes(owning: UnsafeRawBufferPointer(start: address, count: size)) { bytes in
      munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
  }
}
