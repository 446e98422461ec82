import RPCurlBase
import RPCurlCCurl
import RPCurlProtocols

/// Workarounds for defects of libcurl before 8.14. A newer one uses none of them.
///
/// - In 7.88 a transfer with HTTP/2 prior knowledge without TLS fails on a connection that is already in use
///   ("Error in the HTTP2 framing layer", curl pull request #10643). A transfer that requests an HTTP/2
///   upgrade can use that connection, but would upgrade a new one from HTTP/1.1. So one transfer per server
///   connects, with prior knowledge; the others wait for its connection and then request an upgrade. If
///   libcurl opens a new connection for one of them nevertheless, because the earlier one is closed or has no
///   free stream, the transfer is stopped before its first byte, and one of them connects.
/// - When the header fields of a response and the reset of its stream are received together, libcurl drops
///   the fields as it processes the reset (`cf_h2_recv` in `lib/http2.c`), and waits for the rest of the
///   request, perhaps forever. Nothing outside of libcurl can separate the two reads, least of all below TLS.
///   But libcurl has recorded the status in its list of header fields, so the loss can be reported before the
///   deadline.
/// - Lines of header fields that arrive while a transfer is paused are passed together when it continues.
/// - It may read more of an HTTP/2 connection than it delivers, and processes the rest only at its next
///   timer. So a round that received bytes is followed by one that does not wait.
final class OldLibcurl {
  /// The first version without these defects: `OldLibcurlVersion.firstCorrect`.
  static let firstCorrectVersion: UInt32 = 0x080e00
  /// The first version that can reuse a connection for HTTP/2 without TLS: 8.0.0.
  private static let firstReusingVersion: UInt32 = 0x080000

  /// How a transfer may start.
  enum Admission {
    /// With a new connection, by prior knowledge.
    case connect
    /// With the existing connection.
    case reuse
    /// Not yet; it is notified later.
    case wait
  }

  private enum Server {
    case connecting(waiting: [OldLibcurlExchange])
    case connected
  }

  private let version: UInt32
  private var servers: [String: Server] = [:]

  /// Returns nil for a libcurl that needs no workarounds.
  init?() {
    guard let version = ccurl_version_info()?.pointee.version_num, version < Self.firstCorrectVersion else {
      return nil
    }
    self.version = version
  }

  /// The explanation of a lost response, for error messages.
  static var lossNote: String { "the server's response was lost by \(name)" }

  /// The error of a transfer whose response was lost.
  static func loss(_ code: CURLcode, detail: String) -> TransportError {
    var error = TransportError(code, detail: detail)
    // After the response, a reset without an error is correct (RFC 9113, section 8.1).
    if error.resetCode == 0 { error.resetCode = nil }
    error.message += "; \(lossNote)"
    error.cause = .lost(detail, library: name)
    return error
  }

  /// The library and its version, for error messages.
  static var name: String {
    "libcurl \(ccurl_version_info()?.pointee.version.map { String(cString: $0) } ?? "")"
  }

  /// The server of a transfer whose connection is subject to `Admission`; nil for others.
  func server(_ url: String, _ options: ConnectionOptions) -> String? {
    guard version < Self.firstReusingVersion, options.httpVersion.isHTTP2WithoutTLS(url) else { return nil }
    return "\(url.split(separator: "/").dropFirst().first ?? "") \(options.unixSocket ?? "")"
  }

  /// How a new exchange with `server` may start.
  func admit(_ exchange: OldLibcurlExchange, to server: String) -> Admission {
    guard case .connected? = servers[server] else { return admitAgain(exchange, to: server) }
    return .reuse
  }

  /// How an exchange may continue that found no usable connection.
  func admitAgain(_ exchange: OldLibcurlExchange, to server: String) -> Admission {
    guard case .connecting(let waiting)? = servers[server] else {
      servers[server] = .connecting(waiting: [])
      return .connect
    }
    servers[server] = .connecting(waiting: waiting + [exchange])
    return .wait
  }

  /// Records that the connecting exchange has its connection. Returns those that may use it now.
  func connected(_ server: String) -> [OldLibcurlExchange] {
    defer { servers[server] = .connected }
    guard case .connecting(let waiting)? = servers[server] else { return [] }
    return waiting
  }

  /// Records that the connecting exchange ended without a connection. Returns the one that connects in its
  /// place.
  func gaveUp(_ server: String) -> OldLibcurlExchange? {
    guard case .connecting(var waiting)? = servers[server], !waiting.isEmpty else {
      servers[server] = nil
      return nil
    }
    let next = waiting.removeFirst()
    servers[server] = .connecting(waiting: waiting)
    return next
  }

  /// Removes a waiting exchange.
  func forget(_ exchange: OldLibcurlExchange, _ server: String) {
    guard case .connecting(let waiting)? = servers[server] else { return }
    servers[server] = .connecting(waiting: waiting.filter { $0 !== exchange })
  }
}

/// A libcurl that may lose responses.
package struct OldLibcurlVersion: Sendable {
  /// The library and its version: `libcurl 7.88.1`.
  package let name: String
  /// The first version that loses none.
  package static let firstCorrect = "8.14.0"
}

/// The state of one exchange in `OldLibcurl`.
final class OldLibcurlExchange {
  /// The time after which a known status without its status line counts as lost.
  private static let lossTime = Duration.milliseconds(100)

  private weak var transfer: Transfer?
  private let library: OldLibcurl
  private let handle: UnsafeMutableRawPointer
  private let server: String?
  private var admission = OldLibcurl.Admission.connect
  private var isConnected = false
  private var lossTimer: EventLoop.TimerID?

  init(
    _ transfer: Transfer, _ library: OldLibcurl, _ handle: UnsafeMutableRawPointer, url: String,
    options: ConnectionOptions
  ) {
    self.transfer = transfer
    self.library = library
    self.handle = handle
    server = library.server(url, options)
  }

  /// Starts the exchange now, or once another one has connected.
  func start() {
    guard let server else {
      transfer?.begin(.any)
      return
    }
    go(on: library.admit(self, to: server))
  }

  /// Restarts the exchange, whose connection was unusable.
  func startAgain() {
    guard let server else {
      transfer?.begin(.fresh)
      return
    }
    go(on: library.admitAgain(self, to: server))
  }

  private func go(on admission: OldLibcurl.Admission) {
    self.admission = admission
    if case .wait = admission { return }
    isConnected = false
    transfer?.begin(.any)
  }

  /// Configures the handle for HTTP/2 as the connection requires.
  func configure() throws(TransportError) {
    guard server != nil else { return }
    let isReuse = if case .reuse = admission { true } else { false }
    let options = TransferHandle(handle)
    try options.set(
      CURLOPT_HTTP_VERSION, isReuse ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
    try options.set(CURLOPT_FRESH_CONNECT, isReuse ? 0 : 1)
  }

  /// Whether the request may use the connection that libcurl chose; nil if it is not subject to `Admission`.
  func accepts(isReused: Bool) -> Bool? {
    guard let server else { return nil }
    if case .reuse = admission { return isReused }
    // libcurl may call again for a request that it repeats.
    guard !isConnected else { return true }
    isConnected = true
    for waiting in library.connected(server) { waiting.go(on: .reuse) }
    return true
  }

  /// Allows another exchange to connect if this one was to and did not.
  func giveUp() {
    if let lossTimer { transfer?.loop.cancel(lossTimer) }
    guard let server else { return }
    switch admission {
    case .connect where !isConnected:
      isConnected = true
      library.gaveUp(server)?.go(on: .connect)
    case .wait: library.forget(self, server)
    default: break
    }
  }

  /// Whether libcurl has recorded a status that it did not deliver.
  var hasLostStatus: Bool { transfer?.hasStatusLine == false && ccurl_has_status(handle) }

  /// Ends the exchange soon if its response was lost.
  func watchForLoss() {
    guard lossTimer == nil, let transfer, transfer.isStream, hasLostStatus else { return }
    lossTimer = transfer.loop.schedule(at: .now + Self.lossTime) { [weak transfer] in
      guard let transfer, !transfer.hasStatusLine else { return }
      transfer.fail(TransportError(.stream, OldLibcurl.lossNote, cause: .lost("", library: OldLibcurl.name)))
    }
  }
}

// Of the version alone: a copy of all options, for each transfer, would cost more than the rest of these functions.
extension ConnectionOptions.HTTPVersion {
  /// Whether a transfer uses HTTP/2 without TLS.
  func isHTTP2WithoutTLS(_ url: String) -> Bool {
    (self == .http2 || self == .http2PriorKnowledge) && url.utf8.starts(with: "http:".utf8)
  }

  /// Whether an HTTP proxy cannot forward a request: it uses HTTP/1.1 to the server.
  func needsTunnel(_ url: String) -> Bool { isHTTP2WithoutTLS(url) || url.utf8.starts(with: "https:".utf8) }

  /// Whether only HTTP/2 can send a request.
  func requiresHTTP2(_ request: HTTPRequest) -> Bool {
    isHTTP2WithoutTLS(request.url) || request.requiresHTTP2 && self != .http3
  }

  /// Whether a transfer is known to use HTTP/2, by the protocol that TLS negotiated: empty for none, nil if it is unknown.
  func isHTTP2(_ url: String, negotiated: String?) -> Bool {
    if isHTTP2WithoutTLS(url) || negotiated == "h2" { return true }
    // With prior knowledge, libcurl uses HTTP/2 if TLS negotiated nothing.
    return self == .http2PriorKnowledge && negotiated?.isEmpty != false
  }
}
