import RPCurlPlatform

/// A TCP connection over the loopback interface, with both ends.
package final class LoopbackConnection {
  /// The socket of the client.
  package let near: Int32
  /// The socket of the server; -1 after `closeFar`.
  package private(set) var far: Int32

  /// Why connecting failed.
  package struct Failure: Error {
    /// The message for `errno`.
    package let reason = String(cString: strerror(errno))
  }

  /// Makes a connection.
  package init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let near = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 1) == 0
          && getsockname(listener, address, &size) == 0
          && connect(near, address, size) == 0
      }
    }
    let far = accept(listener, nil, nil)
    _ = fcntl(far, F_SETFD, FD_CLOEXEC)
    guard isConnected, far >= 0 else { throw Failure() }
    (self.near, self.far) = (near, far)
  }

  /// Closes the socket of the server.
  package func closeFar() {
    // A child process that another test starts may have a copy of the socket.
    shutdown(far, Int32(SHUT_RDWR))
    close(far)
    far = -1
  }

  deinit {
    close(near)
    if far >= 0 { close(far) }
  }
}
