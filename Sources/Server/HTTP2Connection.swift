import RPCurlBase
import RPCurlCServer
import RPCurlProtocols

/// A connection of HTTP/2, with the session of nghttp2.
final class HTTP2Connection: HTTPConnection {
  /// Input of a header block after which its end must have arrived.
  private static let headerInputLimit = 256 << 10
  /// Frames of nghttp2 that wait to be sent, from which on the client is one that does not read.
  private static let queueLimit = 10_000

  private let session: HTTP2Session
  private var streams: [Int: ServerStream] = [:]
  /// Streams with something to send that nghttp2 is not notified of yet.
  private var changedStreams: [ServerStream] = []
  /// Streams of which something was sent, whose handlers may wait for that.
  private var drained: [ServerStream] = []
  /// The fields that arrive.
  private var block: HTTP2Block?
  private var headerInput = 0
  private var hasSettings = false
  private var isShuttingDown = false
  private var isFailed = false
  private var budget = FrameBudget()
  /// The number of bytes of the output from which on no DATA frame is added.
  private var fillLimit = 0

  override init(_ settings: Settings) {
    session = HTTP2Session(settings.limits)
    super.init(settings)
    session.attach(self)
  }

  override var isDone: Bool { isFailed || !session.wantsMore }
  override var hasUnsent: Bool { streams.values.contains { $0.response.hasMore } }

  override var stage: Stage {
    if block != nil || !hasSettings { return .header }
    return streams.isEmpty ? .idle : .exchange
  }

  override func receive(_ bytes: RawSpan, at now: MonotonicClock.Instant) {
    guard !isFailed else { return }
    budget.refill(at: now)
    if block != nil { headerInput += bytes.byteCount }
    let code = session.receive(bytes)
    let isFlood = headerInput > Self.headerInputLimit || session.queuedFrames > Self.queueLimit
    if let code = code ?? (isFlood ? NGHTTP2_ENHANCE_YOUR_CALM : nil) { fail(code) }
    onChange()
  }

  /// Ends the connection, with a GOAWAY frame if it can still be sent.
  private func fail(_ code: nghttp2_error_code) {
    session.terminate(code)
    _ = send(upTo: output.count + 65_536)
    cancel(.connection)
  }

  override func cancel(_ reason: ResetReason) {
    isFailed = true
    let open = streams
    streams = [:]
    for id in open.keys.sorted() { open[id]?.cancel(reason) }
  }

  override func shutDown() {
    session.shutDown(isFinal: isShuttingDown)
    isShuttingDown = true
    onChange()
  }

  override func ping() {
    session.ping()
    onChange()
  }

  // MARK: Sending

  override func changed(_ stream: ServerStream) {
    guard !stream.isChanged else { return }
    stream.isChanged = true
    changedStreams.append(stream)
    if changedStreams.count == 1 { onChange() }
  }

  override func reset(_ stream: ServerStream, _ code: UInt32) {
    streams[Int(stream.id)] = nil
    session.consume(stream.takeUnconsumed(), nil)
    session.reset(stream.id, code)
    onChange()
  }

  override func resumeReading(_ stream: ServerStream) {
    session.consume(stream.takeUnconsumed(), stream.id)
    onChange()
  }

  override func fill(upTo limit: Int, at now: MonotonicClock.Instant) {
    guard !isFailed else { return }
    repeat {
      let changed = changedStreams
      changedStreams = []
      for stream in changed {
        stream.isChanged = false
        if !stream.isOver { submit(stream) }
      }
      guard send(upTo: limit) else { return fail(NGHTTP2_INTERNAL_ERROR) }
      let drained = drained
      self.drained = []
      for stream in drained { stream.resumeIfDrained() }
    } while !changedStreams.isEmpty && output.count < limit
  }

  /// Adds frames to the output. Returns false if the connection must end.
  private func send(upTo limit: Int) -> Bool {
    fillLimit = limit
    return session.send {
      output += $0
      return output.count < limit
    }
  }

  private func submit(_ stream: ServerStream) {
    guard let head = stream.response.head else { return session.resume(stream.id) }
    stream.response.head = nil
    var fields =
      [(Array(":status".utf8), Array("\(head.status)".utf8))]
      + FieldRules.sent(head.headers, keepingLength: stream.isHead)
    let response = stream.response
    // With the length, a client detects a body that was cut or changed on the way.
    if stream.hasBody, response.isEnded, response.trailers == nil, response.body.count > 0 {
      fields.append((Array("content-length".utf8), Array("\(response.body.count)".utf8)))
    }
    let isWhole = response.isEnded && response.body.count == 0
    session.respond(stream.id, fields, hasBody: !isWhole || response.trailers != nil)
  }

  // MARK: For the session

  /// How much of a body is to be sent.
  enum Piece {
    /// This number of bytes; with the end of the stream, or with trailers after it, or without an end.
    case bytes(Int, isLast: Bool, trailers: Headers?)
    /// Nothing yet.
    case later
  }

  /// The next piece of the body of a stream, of at most `limit` bytes.
  func piece(of id: Int32, limit: Int) -> Piece {
    guard let stream = streams[Int(id)] else { return .later }
    let response = stream.response
    let count = min(response.body.count, limit)
    let isLast = response.isEnded && count == response.body.count
    guard count > 0 || isLast else { return .later }
    return .bytes(count, isLast: isLast, trailers: isLast ? response.trailers : nil)
  }

  /// Adds a DATA frame to the output. Returns false if it has no room.
  func send(_ id: Int32, header: UnsafeBufferPointer<UInt8>, count: Int) -> Bool {
    guard output.count < fillLimit, let stream = streams[Int(id)] else { return false }
    output += header
    stream.response.body.move(count, to: &output)
    drained.append(stream)
    return true
  }

  /// The end of a response was sent. A client that still sends its request need not (RFC 9113, section 8.1).
  func sentEnd(_ id: Int32, isRequestComplete: Bool) {
    guard let stream = streams.removeValue(forKey: Int(id)) else { return }
    session.consume(stream.takeUnconsumed(), nil)
    stream.close()
    if !isRequestComplete { session.reset(id, NGHTTP2_NO_ERROR.rawValue) }
  }

  func beginFields(_ id: Int32, isRequest: Bool) {
    headerInput = 0
    block = HTTP2Block(id: id, isRequest: isRequest, limits: limits)
  }

  /// Returns false if a block is beyond all limits.
  func receiveField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
    block?.add(name, value) ?? true
  }

  /// A frame is complete. Returns false if the client sends too many frames that cost more than they carry.
  func received(_ frame: nghttp2_frame) -> Bool {
    guard !isFailed else { return false }
    let id = Int(frame.hd.stream_id)
    let isEnd = frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    switch nghttp2_frame_type(UInt32(frame.hd.type)) {
    case NGHTTP2_HEADERS:
      receiveHeaders(frame.hd.stream_id, isEnd: isEnd)
      if isEnd { streams[id]?.handler?.receiveEnd() }
    case NGHTTP2_DATA:
      if isEnd { streams[id]?.handler?.receiveEnd() }
      return frame.hd.length > 0 || isEnd || budget.spend(1)
    case NGHTTP2_SETTINGS:
      hasSettings = true
      return budget.spend(10)
    case NGHTTP2_RST_STREAM: return budget.spend(10)
    case NGHTTP2_PING:
      if isShuttingDown, frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { shutDown() }
      return budget.spend(1)
    case NGHTTP2_WINDOW_UPDATE, NGHTTP2_GOAWAY: break
    default: return budget.spend(1)
    }
    return true
  }

  private func receiveHeaders(_ id: Int32, isEnd: Bool) {
    guard let block, block.id == id else { return }
    self.block = nil
    headerInput = 0
    guard block.isRequest else {
      if block.isTooLarge {
        if let stream = streams.removeValue(forKey: Int(id)) { stream.cancel(.malformed) }
        return session.reset(id, NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
      }
      streams[Int(id)]?.handler?.receive(trailers: block.headers)
      return
    }
    let stream = ServerStream(self, id: id, isHead: block.method == "HEAD")
    streams[Int(id)] = stream
    do throws(RequestViolation) {
      let head = try block.head(scheme: settings.scheme)
      stream.begin(settings.makeHandler(head, stream))
      let expects = block.headers.first("expect")?.lowercased() == "100-continue"
      if expects, !isEnd, !stream.hasResponded, !stream.isOver { session.sendContinue(id) }
    } catch {
      stream.respond(status: error.status, headers: Headers())
      stream.end()
    }
  }

  func receive(_ bytes: RawSpan, for id: Int32) {
    guard let stream = streams[Int(id)] else { return session.consume(bytes.byteCount, nil) }
    stream.handler?.receive(body: bytes)
    if stream.isPaused, !stream.isOver {
      stream.addUnconsumed(bytes.byteCount)
    } else {
      session.consume(bytes.byteCount, id)
    }
  }

  func closed(_ id: Int32, _ code: UInt32) {
    if block?.id == id { block = nil }
    guard let stream = streams.removeValue(forKey: Int(id)) else { return }
    session.consume(stream.takeUnconsumed(), nil)
    stream.cancel(.stream(code: code))
  }
}

/// Fields of a request or of trailers while they arrive.
struct HTTP2Block {
  let id: Int32
  let isRequest: Bool
  let limits: ServerLimits
  private(set) var headers = Headers()
  private(set) var isTooLarge = false
  private(set) var method = ""
  private var path = ""
  private var authority: String?
  private var size = 0

  init(id: Int32, isRequest: Bool, limits: ServerLimits) {
    (self.id, self.isRequest, self.limits) = (id, isRequest, limits)
  }

  /// Adds a field; those beyond the limits are counted only. Returns false if they are far beyond.
  mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
    size += name.count + value.count + 32
    isTooLarge = isTooLarge || size > limits.headerBytes || headers.count >= limits.headerCount
    guard !isTooLarge else { return size <= 16 * limits.headerBytes }
    let text = HeaderSyntax.text(UnsafeRawBufferPointer(value).bytes)
    let field = String(decoding: name, as: UTF8.self)
    guard name.first == UInt8(ascii: ":") else {
      headers.add(field, text)
      return true
    }
    switch field {
    case ":method": method = text
    case ":path": path = text
    case ":authority": authority = text
    default: break
    }
    return true
  }

  /// The head of the request.
  func head(scheme: String) throws(RequestViolation) -> RequestHead {
    guard !isTooLarge else { throw RequestViolation(431) }
    // Only a proxy for all servers would support CONNECT, which has no path.
    guard method != "CONNECT" else { throw RequestViolation(501) }
    var headers = headers
    let host = headers.first("host")
    for name in ["host", "expect"] { headers.remove(name) }
    if let host, let authority, host.lowercased() != authority.lowercased() { throw RequestViolation() }
    return RequestHead(
      method: method, path: path, authority: authority ?? host ?? "", scheme: scheme, headers: headers,
      version: .http2)
  }
}

/// What a client may spend on frames that cost the server more than the client: resets, settings, pings, empty frames.
struct FrameBudget {
  /// 1,000 resets at once, and 500 a second.
  private static let most = 10_000
  private static let perSecond = 5_000
  private var left = FrameBudget.most
  private var refilled: MonotonicClock.Instant?

  mutating func refill(at now: MonotonicClock.Instant) {
    let milliseconds = (now - (refilled ?? now)).milliseconds
    guard refilled == nil || milliseconds >= 10 else { return }
    refilled = now
    left = min(Self.most, left + Int(min(max(milliseconds, 0), 10_000)) * Self.perSecond / 1000)
  }

  mutating func spend(_ cost: Int) -> Bool {
    left -= cost
    return left >= 0
  }
}
