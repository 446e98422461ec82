import CCurl

/// The connections that speak HTTP/2 without TLS, for a libcurl that cannot use one a second time.
///
/// In 7.88 a transfer that asks for prior knowledge fails on a connection that is in use already (“Error in the
/// HTTP2 framing layer”, curl pull request #10643). One that asks for HTTP/2 by upgrade takes the connection as it
/// is, but would upgrade a new one from HTTP/1.1. So one transfer to a server connects, with prior knowledge; others
/// wait until it has, and then ask for the latter. They are stopped before their first byte when libcurl made a new
/// connection all the same, because the one before is gone or has no stream to spare; then one of them connects.
struct PlainHTTP2 {
  /// How a transfer may go on.
  enum Admission {
    /// By a new connection, with prior knowledge.
    case connect
    /// By the connection that is there.
    case reuse
    /// Not yet; it is told.
    case wait
  }

  private enum Server {
    case connecting(waiting: [Transfer])
    case connected
  }

  /// Whether this libcurl is one of those.
  static var cannotReuse: Bool {
    ccurl_version_info().map { $0.pointee.version_num < 0x080000 } ?? false
  }

  /// Whether a transfer is to speak HTTP/2 without TLS.
  static func applies(to url: String, _ options: ConnectionOptions) -> Bool {
    url.hasPrefix("http:") && (options.httpVersion == .http2 || options.httpVersion == .http2PriorKnowledge)
  }

  /// What tells servers apart.
  static func server(_ url: String, _ options: ConnectionOptions) -> String {
    "\(url.split(separator: "/").dropFirst().first ?? "") \(options.unixSocket ?? "")"
  }

  private var servers: [String: Server] = [:]

  /// How a new transfer to `server` may start.
  mutating func admit(_ transfer: Transfer, to server: String) -> Admission {
    guard case .connected? = servers[server] else { return connectOrWait(transfer, server) }
    return .reuse
  }

  /// How a transfer may go on that found no connection that it could use.
  mutating func admitAgain(_ transfer: Transfer, to server: String) -> Admission {
    connectOrWait(transfer, server)
  }

  private mutating func connectOrWait(_ transfer: Transfer, _ server: String) -> Admission {
    guard case .connecting(let waiting)? = servers[server] else {
      servers[server] = .connecting(waiting: [])
      return .connect
    }
    servers[server] = .connecting(waiting: waiting + [transfer])
    return .wait
  }

  /// The transfer that connects has its connection. Gives those that may use it now.
  mutating func connected(_ server: String) -> [Transfer] {
    defer { servers[server] = .connected }
    guard case .connecting(let waiting)? = servers[server] else { return [] }
    return waiting
  }

  /// The transfer that connects has ended without a connection. Gives the one that connects in its place.
  mutating func gaveUp(_ server: String) -> Transfer? {
    guard case .connecting(var waiting)? = servers[server], !waiting.isEmpty else {
      servers[server] = nil
      return nil
    }
    let next = waiting.removeFirst()
    servers[server] = .connecting(waiting: waiting)
    return next
  }

  /// A transfer does not wait any more.
  mutating func forget(_ transfer: Transfer, _ server: String) {
    guard case .connecting(let waiting)? = servers[server] else { return }
    servers[server] = .connecting(waiting: waiting.filter { $0 !== transfer })
  }
}
