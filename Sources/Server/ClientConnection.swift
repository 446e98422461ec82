import RPCurlBase
import RPCurlPlatform
import RPCurlTransport

/// The socket of a client: reads for its protocol, and sends what that has, once in a round of the loop.
final class ClientConnection {
  /// What a listener does for its connections.
  struct Services {
    let settings: HTTPConnection.Settings
    let tls: TLSIdentity?
    let loop: EventLoop
    let poller: Poller
    let spare: SpareOutput
    /// Called when the connection is closed.
    let closed: (_ id: Int) -> Void
  }

  private enum Phase {
    /// The TLS handshake, and the bytes that show the version of HTTP.
    case beginning([UInt8])
    case open(HTTPConnection)
    /// Everything was sent. The client may still send, or it would lose what it has not read.
    case lingering(discarded: Int)
    case closed
  }

  /// How a client of HTTP/2 begins (RFC 9113, section 3.4).
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
  /// The most bytes that are read, and that are made to be sent, at a time.
  private static let pieceBytes = 128 << 10
  private static let discardLimit = 1 << 20

  private let id: Int
  private let socket: Int32
  private let services: Services
  private let tls: TLSSession?
  private var phase = Phase.beginning([])
  private var unsent: [UInt8] = []
  private var sentCount = 0
  private var isFlushing = false
  private var interest = (reading: true, writing: false)
  private var clocks = ConnectionClocks()
  private var limits: ServerLimits { services.settings.limits }

  /// Makes the connection of a socket; nil without memory.
  init?(_ socket: Int32, id: Int, _ services: Services) {
    (self.socket, self.id, self.services) = (socket, id, services)
    tls = services.tls.flatMap { TLSSession($0) }
    guard services.tls == nil || tls != nil, services.poller.add(socket, id: id) else { return nil }
    var one: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, size)
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &one, size)
  }

  // MARK: Reading

  func ready(_ readiness: Poller.Readiness, _ buffer: UnsafeMutableRawBufferPointer) {
    if readiness.reading, interest.reading {
      read(buffer)
    } else if readiness.isBroken {
      return close(.connection)
    }
    if readiness.writing { flush() }
  }

  private func read(_ buffer: UnsafeMutableRawBufferPointer) {
    let count = recv(socket, buffer.baseAddress, buffer.count, 0)
    guard count > 0 else {
      if count == 0 || errno != EAGAIN && errno != EINTR { close(.connection) }
      return
    }
    clocks.received()
    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes
    if case .lingering(let discarded) = phase {
      phase = .lingering(discarded: discarded + count)
      if discarded > Self.discardLimit { close(.connection) }
    } else if let tls {
      let isOpen = tls.receive(bytes) { receive($0) }
      flushLater()
      guard !isOpen else { return }
      // The alert.
      flush()
      end(.connection)
    } else {
      receive(bytes)
    }
  }

  private func receive(_ bytes: RawSpan) {
    switch phase {
    case .open(let http): http.receive(bytes, at: .now)
    case .beginning(var begin):
      begin += bytes.withUnsafeBytes { Array($0) }
      phase = .beginning(begin)
      guard let http = protocolOf(begin) else { return }
      http.onChange = { [unowned self] in flushLater() }
      phase = .open(http)
      http.receive(begin.span.bytes, at: .now)
      flushLater()
    case .lingering, .closed: break
    }
  }

  /// The protocol of a client; nil if the bytes do not show it yet.
  private func protocolOf(_ begin: [UInt8]) -> HTTPConnection? {
    switch tls?.selected ?? .none {
    case .http1: return HTTP1Connection(services.settings)
    case .http2: return HTTP2Connection(services.settings)
    case .none:
      if begin.starts(with: Self.preface) { return HTTP2Connection(services.settings) }
      return Self.preface.starts(with: begin) ? nil : HTTP1Connection(services.settings)
    }
  }

  // MARK: Sending

  private func flushLater() {
    guard !isFlushing else { return }
    isFlushing = true
    services.loop.atEndOfRound { [self] in
      isFlushing = false
      flush()
    }
  }

  private func flush() {
    if case .closed = phase { return }
    if sentCount < unsent.count, !send() { return }
    // A client that reads quickly does not keep the loop from others.
    var rounds = 0
    while rounds < 4, sentCount == unsent.count {
      refill()
      guard !unsent.isEmpty else { break }
      guard send() else { return }
      rounds += 1
    }
    if rounds == 4 {
      flushLater()
    } else if sentCount == unsent.count, case .open(let http) = phase, http.isDone {
      return linger()
    }
    if unsent.isEmpty { services.spare.keep(&unsent) }
    updateInterest()
  }

  /// Fills the empty buffer.
  private func refill() {
    services.spare.keep(&unsent)
    sentCount = 0
    if case .open(let http) = phase {
      services.spare.serve(&http.output)
      http.fill(upTo: Self.pieceBytes, at: .now)
      if let tls {
        if !tls.send(http.output) { return end(.connection) }
        services.spare.keep(&http.output)
        services.spare.serve(&unsent)
      } else {
        swap(&unsent, &http.output)
      }
    }
    tls?.moveOutput(to: &unsent)
  }

  /// Sends what the system accepts. Returns false if the connection is lost.
  private func send() -> Bool {
    let count = unsent.withUnsafeBytes {
      StreamSocket.send(socket, UnsafeRawBufferPointer(rebasing: $0.dropFirst(sentCount)))
    }
    if count >= 0 {
      sentCount += count
      clocks.sent()
    } else if errno != EAGAIN, errno != EINTR {
      close(.connection)
      return false
    }
    return true
  }

  private func updateInterest() {
    let isReading = if case .open(let http) = phase { http.isReading } else { true }
    let wanted = (reading: isReading, writing: sentCount < unsent.count)
    guard wanted != interest else { return }
    interest = wanted
    services.poller.set(socket, id: id, reading: wanted.reading, writing: wanted.writing)
  }

  // MARK: Time, and the end

  /// When the client, which has no request, last sent something; nil with a request, and without a protocol.
  var idleSince: MonotonicClock.Instant? {
    if case .open(let http) = phase, http.stage == .idle, !http.isDone { clocks.lastReceived } else { nil }
  }

  /// Checks the limits of time, once a second.
  ///
  /// - Parameter idleTime: The time that the connection may be without requests.
  func tick(at now: MonotonicClock.Instant, idleTime: Duration) {
    switch phase {
    case .beginning: if clocks.isOver(.header, 0, limits.headerTime, at: now) { close(.timeout) }
    case .lingering: if clocks.isOver(.body, 0, limits.lingerTime, at: now) { close(.connection) }
    case .closed: break
    case .open(let http):
      let hasUnsent = sentCount < unsent.count || http.hasUnsent
      if clocks.isStalled(hasUnsent, limits.sendTime, at: now) { return end(.timeout) }
      let limit = http.stage == .header ? limits.headerTime : idleTime
      let isOver = clocks.isOver(http.stage, http.requestCount, limit, at: now)
      switch http.stage {
      case .idle: if isOver { shutDown() }
      case .header: if isOver { end(.timeout) }
      case .body: if clocks.isSilent(limits.idleTime, at: now) { end(.timeout) }
      case .exchange:
        guard clocks.isSilent(limits.pingTime, at: now) else { return }
        if http is HTTP2Connection, clocks.isSilent(limits.pingTime * 2, at: now) { return end(.timeout) }
        http.ping()
      }
    }
  }

  /// Accepts no new requests, and ends when the open ones have.
  func shutDown() {
    guard case .open(let http) = phase else { return close(.stopped) }
    http.shutDown()
    flushLater()
  }

  /// Ends all requests, sends what the protocol says about that, and closes the connection.
  func end(_ reason: ResetReason) {
    guard case .open(let http) = phase else { return close(reason) }
    http.cancel(reason)
    guard sentCount == unsent.count else { return close(reason) }
    flushLater()
  }

  private func linger() {
    if let tls {
      tls.end()
      tls.moveOutput(to: &unsent)
      guard send() else { return }
    }
    if case .open(let http) = phase { http.cancel(.connection) }
    phase = .lingering(discarded: 0)
    shutdown(socket, Int32(SHUT_WR))
    (unsent, sentCount) = ([], 0)
    updateInterest()
  }

  /// Ends all requests and closes the socket.
  func close(_ reason: ResetReason) {
    if case .closed = phase { return }
    let phase = phase
    self.phase = .closed
    if case .open(let http) = phase {
      http.onChange = {}
      http.cancel(reason)
    }
    RPCurlPlatform.close(socket)
    services.closed(id)
  }
}

/// The memory of an output that was sent, which serves the next output of any connection: one that waits for its client has no
/// memory of its own.
final class SpareOutput {
  /// The memory that a connection keeps, and that is kept for all of them, at most, in bytes.
  private static let (ownBytes, maxBytes) = (16 << 10, 256 << 10)
  private var bytes: [UInt8] = []

  /// Empties an output that was sent.
  func keep(_ output: inout [UInt8]) {
    output.removeAll(keepingCapacity: output.capacity <= Self.maxBytes)
    guard output.capacity > Self.ownBytes else { return }
    if output.capacity > bytes.capacity { swap(&bytes, &output) }
    if output.capacity > Self.ownBytes { output = [] }
  }

  /// Gives an empty output the memory.
  func serve(_ output: inout [UInt8]) {
    if output.isEmpty, bytes.capacity > output.capacity { swap(&bytes, &output) }
  }
}

/// Since when a connection is what it is.
struct ConnectionClocks {
  private(set) var lastReceived = MonotonicClock.now
  private var lastSent = MonotonicClock.now
  private var stage: HTTPConnection.Stage?
  private var requestCount = 0
  private var begin = MonotonicClock.now
  private var hadUnsent = false

  mutating func received() { lastReceived = .now }
  mutating func sent() { lastSent = .now }

  /// Whether a stage after a number of requests has lasted longer than a limit. It begins with the first call.
  mutating func isOver(
    _ stage: HTTPConnection.Stage, _ requestCount: Int, _ limit: Duration, at now: MonotonicClock.Instant
  ) -> Bool {
    if (self.stage, self.requestCount) != (stage, requestCount) {
      (self.stage, self.requestCount, begin) = (stage, requestCount, now)
    }
    return now - begin >= limit
  }

  /// Whether nothing has arrived for this time.
  func isSilent(_ limit: Duration, at now: MonotonicClock.Instant) -> Bool { now - lastReceived >= limit }

  /// Whether nothing of what is to be sent was accepted for this time.
  mutating func isStalled(_ hasUnsent: Bool, _ limit: Duration, at now: MonotonicClock.Instant) -> Bool {
    if !hasUnsent || !hadUnsent { lastSent = now }
    hadUnsent = hasUnsent
    return hasUnsent && now - lastSent >= limit
  }
}
