import RPCurlBase
import RPCurlCCurl
import RPCurlPlatform
import RPCurlProtocols

/// Makes a connection to a server without a request, and reports what it finds out.
///
/// It sends no credentials for the server, and no client certificate unless the server is verified.
package final class ConnectionProbe {
  /// What to find out.
  package enum Purpose: Sendable {
    /// Whether a connection can be made as a call would make it.
    case connect
    /// What TLS negotiates, and the certificate, which is not verified.
    case inspectTLS
    /// What a server without TLS sends at the start of an HTTP/2 connection.
    case readFirstBytes
  }

  private static let firstByteLimit = 256

  private let purpose: Purpose
  private unowned let loop: EventLoop
  private let handle: UnsafeMutableRawPointer
  private let errorBuffer: UnsafeMutablePointer<CChar>
  private var lists: [UnsafeMutablePointer<curl_slist>?] = []
  private var completion: ((ConnectionFacts) -> Void)?
  private var timer: EventLoop.TimerID?
  private var socket: Int32?
  /// The sockets that libcurl opened.
  private var sockets: [Int32] = []
  private var facts = ConnectionFacts()
  private let url: String
  private let options: ConnectionOptions

  /// Makes a probe; `start` starts it.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - options: The connection options.
  ///   - completion: Called once with the result, unless the probe is canceled.
  /// - Throws: `TransportError` if an option is invalid.
  package init(
    _ url: String, _ options: ConnectionOptions, _ purpose: Purpose, loop: EventLoop,
    completion: @escaping (ConnectionFacts) -> Void
  ) throws(TransportError) {
    guard let handle = ccurl_easy_init() else { throw TransportError(.library, "libcurl is out of memory") }
    self.handle = handle
    self.loop = loop
    self.purpose = purpose
    self.completion = completion
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    var (options, url) = (options, url)
    switch purpose {
    case .connect: break
    case .inspectTLS:
      url = Self.url(url, scheme: "https")
      options.isInsecure = true
      options.certificate = nil
      options.httpVersion = .negotiated
    case .readFirstBytes:
      url = Self.url(url, scheme: "http")
      options.httpVersion = .http1
    }
    self.url = url
    self.options = options
    try configure()
  }

  /// The URL of the same port with another scheme.
  static func url(_ url: String, scheme: String) -> String {
    let rest = url.drop { $0 != "/" }.dropFirst(2)
    let authority = rest.prefix { $0 != "/" }
    let hasPort = authority.last != "]" && authority.contains(":")
    let port = hasPort ? "" : url.hasPrefix("https:") ? ":443" : ":80"
    return "\(scheme)://\(authority)\(port)\(rest.dropFirst(authority.count))"
  }

  deinit {
    ccurl_easy_cleanup(handle)
    for list in lists { ccurl_slist_free_all(list) }
    errorBuffer.deallocate()
  }

  /// Starts the probe after libcurl's callbacks have returned. The loop retains it until its end.
  ///
  /// - Parameter limit: The maximum time of the probe.
  package func start(limit: Duration) {
    timer = loop.schedule(at: .now) { [self] in
      timer = loop.schedule(at: .now + limit) { [weak self] in
        guard let self else { return }
        if facts.error == nil, socket == nil {
          facts.error = TransportError(.connect, "no connection within \(limit.inSeconds)")
        }
        finish()
      }
      do throws(TransportError) {
        try loop.add(self, handle: handle)
      } catch {
        facts.error = error
        finish()
      }
    }
  }

  /// Ends the probe without a result.
  package func cancel() {
    completion = nil
    finish()
  }

  private func configure() throws(TransportError) {
    let handle = TransferHandle(handle)
    try handle.set(CURLOPT_NOSIGNAL, 1)
    try handle.set(CURLOPT_QUICK_EXIT, 1)
    try handle.set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
    try handle.set(CURLOPT_CONNECT_ONLY, 1)
    try handle.set(CURLOPT_FRESH_CONNECT, 1)
    try handle.set(CURLOPT_CERTINFO, 1)
    try handle.set(CURLOPT_HTTPPROXYTUNNEL, 1)
    try handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    try handle.set(CURLOPT_VERBOSE, 1)
    try handle.set(CURLOPT_DEBUGDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
    try handle.set(tracing: { _, kind, data, size, context in
      guard kind == CURLINFO_TEXT, let context, let data else { return 0 }
      let text = String(decoding: UnsafeRawBufferPointer(start: data, count: size), as: UTF8.self)
      let probe = Unmanaged<ConnectionProbe>.fromOpaque(context).takeUnretainedValue()
      for line in text.split(whereSeparator: \.isNewline) { probe.facts.add(logLine: line) }
      return 0
    })
    try handle.set(CURLOPT_SOCKOPTDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
    try handle.set(opened: { context, socket, _ in
      guard let context else { return CURL_SOCKOPT_OK }
      let probe = Unmanaged<ConnectionProbe>.fromOpaque(context).takeUnretainedValue()
      probe.sockets.append(socket)
      probe.loop.sockets.opened(socket)
      return CURL_SOCKOPT_OK
    })
    try loop.sockets.attach(to: handle)
    var fields: [String] = []
    try handle.set(options, url: url, extraFields: &fields, keeping: &lists)
  }

  /// Called when libcurl has made the connection, or failed.
  func complete(_ code: CURLcode) {
    facts.certificates = ServerCertificates.read(from: handle)
    facts.peer = loop.peers.text(of: handle)
    facts.proxy = ProxyAddress.name(for: url, options)
    guard code == CURLE_OK else {
      var failure = TransferFailure(
        code, detail: String(cString: errorBuffer), handle, url: url, options,
        isConnected: sockets.contains(where: loop.sockets.hasConnected), hasResponse: false)
      failure.tunnels = true
      facts.error = failure.error
      return finish()
    }
    guard purpose == .readFirstBytes, readFirstBytes() else { return finish() }
  }

  /// Sends the start of an HTTP/2 connection, and waits for the server's first bytes.
  private func readFirstBytes() -> Bool {
    var socket: curl_socket_t = -1
    guard ccurl_get_socket(handle, &socket) == CURLE_OK, socket >= 0 else { return false }
    let sent = LocalServers.startOfHTTP2.withUnsafeBytes {
      send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    guard sent == LocalServers.startOfHTTP2.count else { return false }
    self.socket = socket
    loop.watch(socket) { [weak self] in self?.receive(socket) }
    return true
  }

  private func receive(_ socket: Int32) {
    var bytes = [UInt8](repeating: 0, count: Self.firstByteLimit)
    let count = bytes.withUnsafeMutableBytes {
      recv(socket, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
    }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    facts.firstBytes = Array(bytes.prefix(max(count, 0)))
    finish()
  }

  private func finish() {
    if let timer { loop.cancel(timer) }
    timer = nil
    if let socket { loop.unwatch(socket) }
    socket = nil
    let completion = self.completion
    self.completion = nil
    loop.remove(probe: handle)
    completion?(facts)
  }
}
