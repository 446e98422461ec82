import CCurl
import Glibc

/// The open sockets of one loop. libcurl itself reports the socket of a transfer only after its end.
final class SocketTable {
  private var sockets: Set<Int32> = []
  /// Closed sockets that had a connection, until their number is used again.
  private var formerConnections: Set<Int32> = []

  /// The socket with this local port; nil if there is none (a Unix socket has no port).
  func socket(localPort: Int32) -> Int32? {
    localPort > 0 ? sockets.first { ccurl_local_port($0) == localPort } : nil
  }

  /// Holds what is sent on all sockets, or sends what was held.
  func cork(_ isCorked: Bool) {
    for socket in sockets { ccurl_cork(socket, isCorked) }
  }

  /// Records a socket that libcurl opened.
  func opened(_ socket: Int32) {
    sockets.insert(socket)
    formerConnections.remove(socket)
  }

  /// Whether a socket has a connection, or had one before it was closed. libcurl does not report it if TLS does not follow.
  func hasConnected(_ socket: Int32) -> Bool {
    sockets.contains(socket) ? Self.isConnected(socket) : formerConnections.contains(socket)
  }

  private static func isConnected(_ socket: Int32) -> Bool {
    var address = sockaddr()
    var size: socklen_t = 0
    return getpeername(socket, &address, &size) == 0
  }

  private func closing(_ socket: Int32) {
    sockets.remove(socket)
    if Self.isConnected(socket) { formerConnections.insert(socket) }
  }

  /// Closes libcurl's sockets through this table, which must outlive every connection.
  func attach(to handle: TransferHandle) throws(TransportError) {
    try handle.set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
    try handle.set(closing: { context, socket in
      if let context {
        Unmanaged<SocketTable>.fromOpaque(context).takeUnretainedValue().closing(socket)
      }
      return close(socket)
    })
  }
}
