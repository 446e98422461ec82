import RPCurlBase

/// Sockets with the path of a file.
package enum UnixSocket {
  /// Connects with the process that listens at a path.
  ///
  /// - Returns: The descriptor, which programs do not inherit, and which does not block: if too many others wait for the
  ///   process, that is an error.
  package static func connect(_ path: String) throws(SystemError) -> Int32 {
    let descriptor = StreamSocket.make(AF_UNIX)
    guard descriptor >= 0 else { throw .last }
    do throws(SystemError) {
      try withAddress(path) { address, size throws(SystemError) in
        guard RPCurlPlatform.connect(descriptor, address, size) == 0 else { throw .last }
      }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Calls `body` with the address of a path.
  package static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
  ) throws(SystemError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    try withUnsafeMutableBytes(of: &address.sun_path) { room throws(SystemError) in
      guard bytes.count < room.count else {
        throw SystemError("the path of a socket has at most \(room.count - 1) bytes")
      }
      room.copyBytes(from: bytes)
    }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    try withUnsafePointer(to: &address) { address throws(SystemError) in
      try address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(SystemError) in
        try body(address, size)
      }
    }
  }
}
