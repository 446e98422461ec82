import RPCurlBase

/// Sockets with the path of a file.
package enum UnixSocket {
  /// Connects with the process that listens at a path.
  ///
  /// - Returns: The descriptor, which programs do not inherit, and which does not block: if too many others wait for the
  ///   process, that is an error.
  package static func connect(_ path: String) throws(SystemError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard bytes.count < room.count else { return false }
      room.copyBytes(from: bytes)
      return true
    }
    guard fits else { throw SystemError("the path of a socket has at most 107 bytes") }
    let descriptor = socket(
      AF_UNIX, Int32((SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)), 0)
    guard descriptor >= 0 else { throw .last }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
    }
    guard result == 0 else {
      let error = SystemError.last
      close(descriptor)
      throw error
    }
    return descriptor
  }
}
