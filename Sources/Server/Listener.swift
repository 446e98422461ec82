import RPCurlBase
import RPCurlCServer
import RPCurlPlatform
import RPCurlProtocols
import RPCurlTransport

/// Accepts clients of HTTP/1.1 and HTTP/2, with TLS or without, on the thread of a loop.
///
/// Without TLS, and with clients that do not use ALPN, the first bytes show the version of HTTP.
package final class Listener {
  /// The identifier of the listening socket in the poller.
  private static let listening = 0

  /// The address with its port, such as `127.0.0.1:8080`, or `unix:` and a path.
  package var address: String { socket.address }

  private let given: ListenAddress
  private var socket: ListeningSocket
  private let loop: EventLoop
  private let limits: ServerLimits
  private var services: ClientConnection.Services?
  private var connections: [Int: ClientConnection] = [:]
  private var lastID = Listener.listening
  private var timer: EventLoop.TimerID?
  private var isAccepting = true
  /// Called when the last connection is closed; not nil after `stop`.
  private var completion: (() -> Void)?
  private var deadline: MonotonicClock.Instant?
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  /// Listens at an address.
  ///
  /// - Parameters:
  ///   - address: Where to listen.
  ///   - tls: The certificate; nil for cleartext.
  ///   - loop: The loop that runs this listener.
  ///   - makeHandler: Called for each request.
  /// - Throws: `SystemError` if the address cannot be used.
  package init(
    _ address: ListenAddress, tls: TLSIdentity? = nil, limits: ServerLimits = ServerLimits(), loop: EventLoop,
    makeHandler: @escaping MakeHandler
  ) throws(SystemError) {
    (given, socket, self.loop, self.limits) = (address, try ListeningSocket(address), loop, limits)
    let settings = HTTPConnection.Settings(
      limits: limits, scheme: tls == nil ? "http" : "https", makeHandler: makeHandler)
    let poller = Poller(loop) { [unowned self] in ready($0, $1) }
    guard let poller, poller.add(socket.descriptor, id: Self.listening) else { throw .last }
    services = ClientConnection.Services(
      settings: settings, tls: tls, loop: loop, poller: poller, spare: SpareOutput()
    ) { [weak self] in self?.closed($0) }
  }

  deinit {
    for connection in connectionsInOrder { connection.close(.stopped) }
    services?.poller.end()
    if let timer { loop.cancel(timer) }
    socket.end()
    buffer.deallocate()
  }

  /// Whether calls of a server would arrive here, judging by names and addresses alone.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - options: The options of the connections to it.
  package func isReached(by url: String, _ options: ConnectionOptions) -> Bool {
    if let path = options.unixSocket { return socket.isFile(path) }
    guard case .host(let name, _) = given, let (host, port) = Origin.split(address), let port else {
      return false
    }
    return AddressSource(url, options).reaches(host, port: port, name: name)
  }

  /// The number of connections.
  package var connectionCount: Int { connections.count }

  /// Accepts no more, lets open requests end, and cancels what is left after a time.
  ///
  /// - Parameter completion: Called once, when all connections are closed.
  package func stop(within limit: Duration, completion: @escaping () -> Void) {
    guard self.completion == nil else { return }
    self.completion = completion
    deadline = .now + limit
    isAccepting = false
    socket.end()
    for connection in connectionsInOrder { connection.shutDown() }
    schedule()
    loop.schedule(at: .now + limit) { [weak self] in self?.tick() }
    loop.schedule(at: .now) { [weak self] in self?.completeIfEmpty() }
  }

  private var connectionsInOrder: [ClientConnection] {
    connections.keys.sorted().compactMap { connections[$0] }
  }

  private func ready(_ id: Int, _ readiness: Poller.Readiness) {
    guard id == Self.listening else {
      connections[id]?.ready(readiness, buffer)
      return
    }
    guard connections.count >= limits.connections else { return accept() }
    endIdle()
    setAccepting(false)
  }

  private func accept() {
    while isAccepting, connections.count < limits.connections, let services {
      let accepted = cserver_accept(socket.descriptor)
      guard accepted >= 0 else {
        // Without descriptors or memory the client would be reported again at once: the timer tries again.
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) else { return }
        setAccepting(false)
        return schedule()
      }
      lastID += 1
      guard let connection = ClientConnection(accepted, id: lastID, services) else {
        close(accepted)
        continue
      }
      connections[lastID] = connection
      schedule()
    }
  }

  /// Ends the connection without requests that was used longest ago, for the client that waits for one.
  private func endIdle() {
    let idle = connections.values.lazy.compactMap { connection in
      connection.idleSince.map { (since: $0, connection) }
    }
    idle.min { $0.since < $1.since }?.1.shutDown()
  }

  private func setAccepting(_ accepts: Bool) {
    guard accepts != isAccepting else { return }
    isAccepting = accepts
    services?.poller.set(socket.descriptor, id: Self.listening, reading: accepts, writing: false)
  }

  private func closed(_ id: Int) {
    connections[id] = nil
    if completion == nil { setAccepting(true) } else { completeIfEmpty() }
  }

  private func completeIfEmpty() {
    guard connections.isEmpty, let completion else { return }
    self.completion = {}
    completion()
  }

  private func schedule() {
    guard timer == nil else { return }
    timer = loop.schedule(at: .now + .seconds(1)) { [weak self] in
      self?.timer = nil
      self?.tick()
    }
  }

  private func tick() {
    let now = MonotonicClock.now
    let late = deadline.map { now - $0 } ?? .seconds(-1)
    for connection in connectionsInOrder {
      switch late {
      case .seconds(1)...: connection.close(.stopped)
      case .zero...: connection.end(.stopped)
      default: connection.tick(at: now, idleTime: deadline == nil ? limits.idleTime : .zero)
      }
    }
    if completion == nil { setAccepting(true) }
    if !connections.isEmpty || !isAccepting, deadline == nil || !connections.isEmpty { schedule() }
  }
}
