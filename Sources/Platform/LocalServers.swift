import RPCurlBase

/// Finds out which servers of this machine do not use TLS: the first byte of their response to the start of a handshake shows it.
package final class LocalServers: Sendable, Equatable {
  /// The port of a host.
  private struct Address: Hashable {
    let host: String
    let port: UInt16
  }

  /// A type of its own: the generic type of a dictionary would be instantiated in each run.
  private struct State {
    /// Whether each server that has responded lacks TLS.
    var known: [Address: Bool] = [:]
  }

  private let state = Locked(State())
  private let found: @Sendable (_ host: String, _ port: UInt16) -> Void

  /// - Parameter found: Called with each server without TLS, once.
  package init(found: @escaping @Sendable (_ host: String, _ port: UInt16) -> Void) {
    self.found = found
  }

  /// Whether two are the same.
  package static func == (one: LocalServers, other: LocalServers) -> Bool { one === other }

  /// Whether a server responds, and not with TLS.
  ///
  /// - Parameters:
  ///   - host: The name or the address, without brackets. It must be one of this machine: a connection is made.
  ///   - port: The port.
  package func lackTLS(host: String, port: UInt16) -> Bool {
    let address = Address(host: host, port: port)
    if let isKnown = state.withLock({ $0.known[address] }) { return isKnown }
    guard let first = Self.firstByte(host, port) else { return false }
    // A handshake or an alert (RFC 8446, section 5.1).
    let lacksTLS = first != 0x16 && first != 0x15
    state.withLock { $0.known[address] = lacksTLS }
    if lacksTLS { found(host, port) }
    return lacksTLS
  }

  /// How long a server may take to respond. One that takes longer is called with TLS, as it would be without this check.
  private static let limitMilliseconds: Int32 = 1000

  /// The first byte of a server's response; nil if there is none.
  private static func firstByte(_ host: String, _ port: UInt16) -> UInt8? {
    // libcurl does not look up localhost and its subdomains either.
    let addresses = host.hasSuffix("localhost") ? ["127.0.0.1", "::1"] : [host]
    // Servers in Go close a connection without TLS that starts with a handshake.
    for greeting in [hello, startOfHTTP2] {
      guard let socket = addresses.lazy.compactMap({ connection($0, port) }).first else { return nil }
      defer { close(socket) }
      var byte: UInt8 = 0
      guard
        greeting.withUnsafeBytes({ StreamSocket.send(socket, $0) }) == greeting.count,
        wait(socket, for: POLLIN)
      else { return nil }
      if recv(socket, &byte, 1, 0) == 1 { return byte }
    }
    return nil
  }

  /// A connection to an address of this machine.
  private static func connection(_ address: String, _ port: UInt16) -> Int32? {
    var request = addrinfo()
    request.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    request.ai_protocol = Int32(IPPROTO_TCP)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, String(port), &request, &list) == 0, let found = list?.pointee else {
      return nil
    }
    defer { freeaddrinfo(list) }
    let socket = StreamSocket.make(found.ai_family)
    guard socket >= 0 else { return nil }
    var error: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard
      connect(socket, found.ai_addr, found.ai_addrlen) == 0
        || errno == EINPROGRESS && wait(socket, for: POLLOUT)
          && getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0
    else {
      close(socket)
      return nil
    }
    return socket
  }

  /// The preface of a client and an empty frame of settings (RFC 9113, section 3.4).
  package static let startOfHTTP2 =
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  private static func wait(_ socket: Int32, for event: Int32) -> Bool {
    var state = pollfd(fd: socket, events: Int16(event), revents: 0)
    return poll(&state, 1, limitMilliseconds) == 1
  }

  /// A ClientHello of TLS 1.2 with one cipher suite (RFC 5246, section 7.4.1.2). Its random number has two line ends, so that a
  /// server that reads lines responds too.
  private static let hello: [UInt8] =
    [0x16, 3, 1, 0, 45, 1, 0, 0, 41, 3, 3] + [13, 10, 13, 10] + [UInt8](repeating: 0x5A, count: 28)
    + [0, 0, 2, 0xC0, 0x2F, 1, 0]
}
