import RPCurlCCurl
import RPCurlPlatform

/// The open sockets of one loop. libcurl itself reports the socket of a transfer only after its end.
///
/// There are few, so that lists are faster than sets.
final class SocketTable {
  /// The sockets with their local ports; 0 for one that is not known yet.
  private var sockets: [(socket: Int32, port: Int32)] = []
  /// Closed sockets that had a connection, until their number is used again.
  private var formerConnections: [Int32] = []
  /// A socket whose connection was open in this round.
  private var openInRound: Int32?

  /// The socket with this local port; nil if there is none (a Unix socket has no port).
  func socket(localPort: Int32) -> Int32? {
    guard localPort > 0 else { return nil }
    if let known = sockets.first(where: { $0.port == localPort }) { return known.socket }
    for index in sockets.indices where sockets[index].port == 0 {
      guard ccurl_local_port(sockets[index].socket) == localPort else { continue }
      sockets[index].port = localPort
      return sockets[index].socket
    }
    return nil
  }

  /// Whether the server has closed the connection with this local port. Determined once in a round.
  func isClosedByServer(localPort: Int32) -> Bool {
    guard let socket = socket(localPort: localPort), socket != openInRound else { return false }
    guard !ccurl_is_closed(socket) else { return true }
    openInRound = socket
    return false
  }

  /// A round of the loop begins.
  func beginRound() { openInRound = nil }

  /// Holds what is sent on all sockets, or sends what was held.
  func cork(_ isCorked: Bool) {
    for (socket, _) in sockets { ccurl_cork(socket, isCorked) }
  }

  /// Records a socket that libcurl opened.
  func opened(_ socket: Int32) {
    forget(socket)
    sockets.append((socket, 0))
    formerConnections.removeAll { $0 == socket }
  }

  /// Whether a socket has a connection, or had one before it was closed. libcurl does not report it if TLS does not follow.
  func hasConnected(_ socket: Int32) -> Bool {
    sockets.contains { $0.socket == socket } ? Self.isConnected(socket) : formerConnections.contains(socket)
  }

  private static func isConnected(_ socket: Int32) -> Bool {
    var address = sockaddr()
    var size: socklen_t = 0
    return getpeername(socket, &address, &size) == 0
  }

  private func forget(_ socket: Int32) {
    sockets.removeAll { $0.socket == socket }
    if openInRound == socket { openInRound = nil }
  }

  private func closing(_ socket: Int32) {
    forget(socket)
    if Self.isConnected(socket), !formerConnections.contains(socket) { formerConnections.append(socket) }
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
