import CCurl
import Glibc
import Protobuf
import RPCProtocols

/// Hears of a transfer's progress, on the loop's thread.
///
/// These may be called from within libcurl; whatever they ask of the transfer is done when libcurl is done.
public protocol TransferDelegate: AnyObject {
  /// The status line and the header fields of the final response came.
  func transfer(received head: ResponseStart)
  /// A piece of the body came. The bytes are valid during this call only.
  func transfer(received body: RawSpan)
  /// The trailer fields came.
  func transfer(received trailers: Headers)
  /// libcurl has taken this much of the request's body.
  func transfer(sentBytes: Int)
  /// Whether more of the request's body is wanted: enough of what was sent has left, or too much waits.
  func transferWantsMore(_ isWanted: Bool)
  /// The transfer is over: complete when `error` is `nil`. Not called for one that was closed.
  func transferEnded(error: TransportError?)
}

/// One HTTP exchange over libcurl, full duplex: the request's body may grow while the response comes.
public final class Transfer {
  /// How the request's body is made known.
  public enum Body {
    /// All of it, with its length told.
    case whole([UInt8])
    /// What `send` appends until `finishSending`.
    case stream
  }

  private enum ResponsePhase {
    /// A status line and header fields come. A further block starts anew, as after `100 Continue`.
    case head(ResponseStart?)
    /// The body comes.
    case body
    /// Header fields come after the body.
    case trailers(Headers)
  }

  /// How long the end of a body is waited for that nobody needs.
  private static let drainTime = Duration.seconds(1)
  /// How long a status is known before its line must have come.
  private static let lossTime = Duration.milliseconds(100)
  private static let lossWords =
    "the server answered and reset the stream, and this libcurl lost the answer; a newer one does not"

  private unowned let loop: EventLoop
  private weak var delegate: (any TransferDelegate)?
  private let handle: UnsafeMutableRawPointer
  private let errorBuffer: UnsafeMutablePointer<CChar>
  /// What libcurl tells as long as the handle lives.
  private let trace: ConnectionTrace?
  /// What libcurl reads as long as the handle lives.
  private var lists: [UnsafeMutablePointer<curl_slist>?] = []
  private var phase = ResponsePhase.head(nil)

  /// The request's body: what has not left yet, or for a whole body all of it, so that it can be sent again.
  private var unsent: [UInt8] = []
  private var unsentOffset = 0
  private var isWhole = false
  private var isSendingFinished = false
  /// Whether the delegate was asked to send no more for now.
  private var isFull = false
  private var isSendPaused = false
  private var isReceivePaused = false
  private var wantsReceivePaused = false

  /// The socket that is connected to instead of the URL's host.
  private let unixSocket: String?
  private var isHTTP1 = false
  /// Whether a status line came, be it of `100 Continue`.
  private var hasStatusLine = false
  private var lossTimer: EventLoop.TimerID?
  private var drainTimer: EventLoop.TimerID?
  /// The server, where its connection is subject to `PlainHTTP2`, and what that has said.
  private var plainServer: String?
  private var admission = PlainHTTP2.Admission.connect
  private var isConnected = false
  /// Whether libcurl made a connection where only a used one would do.
  private var needsNewConnection = false
  /// Whether libcurl has the handle, and whether it is to get it.
  private var isAdded = false
  private var needsStart = false
  private var isClosed = false
  private var isSettling = false
  private var isRemoved = false
  private let closesWhenGivenUp: Bool

  /// What libcurl hands over at most at once.
  private static let bufferBytes = 256 << 10
  /// What may wait to be sent before the delegate is asked to pause.
  private static let unsentLimitBytes = 1 << 20

  /// Bytes of the request's body that libcurl has not taken yet.
  public var unsentBytes: Int { unsent.count - unsentOffset }
  /// Bytes of the request's body that libcurl has taken.
  public private(set) var sentBytes = 0
  /// Bytes of the response's body that came.
  public private(set) var receivedBytes = 0

  /// Starts an exchange.
  public init(
    _ request: HTTPRequest, body: Body, options: ConnectionOptions, loop: EventLoop,
    delegate: any TransferDelegate
  ) throws(TransportError) {
    guard let handle = ccurl_easy_init() else { throw TransportError(.library, "libcurl is out of memory") }
    self.handle = handle
    self.loop = loop
    trace = loop.trace
    unixSocket = options.unixSocket
    self.delegate = delegate
    closesWhenGivenUp = options.closesWhenGivenUp
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    try configure(request, body: body, options: options)
    if PlainHTTP2.cannotReuse, PlainHTTP2.applies(to: request.url, options) {
      let server = PlainHTTP2.server(request.url, options)
      plainServer = server
      admission = loop.plainHTTP2.admit(self, to: server)
      if case .wait = admission { return }
    }
    do {
      try add()
    } catch {
      giveUpConnecting()
      throw error
    }
  }

  deinit {
    ccurl_easy_cleanup(handle)
    for list in lists { ccurl_slist_free_all(list) }
    errorBuffer.deallocate()
  }

  /// Appends to the request's body.
  public func send(_ bytes: [UInt8]) {
    guard !isSendingFinished, !isClosed, !bytes.isEmpty else { return }
    if unsentOffset == unsent.count {
      unsent = bytes
      unsentOffset = 0
    } else {
      // What has left must not pile up in front of what has not.
      if unsentOffset > unsent.count / 2 {
        unsent.removeFirst(unsentOffset)
        unsentOffset = 0
      }
      unsent.append(contentsOf: bytes)
    }
    if isSendPaused { settleLater() }
    if unsentBytes > Self.unsentLimitBytes, !isFull {
      isFull = true
      delegate?.transferWantsMore(false)
    }
  }

  /// Ends the request's body.
  public func finishSending() {
    isSendingFinished = true
    if isSendPaused { settleLater() }
  }

  /// Stops taking bytes of the response; the server is slowed down when its window is full.
  public func pauseReceiving() {
    wantsReceivePaused = true
  }

  /// Takes bytes again.
  public func resumeReceiving() {
    wantsReceivePaused = false
    if isReceivePaused { settleLater() }
  }

  /// Ends the exchange now. What is not complete is reset on the wire; the delegate hears nothing more.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    delegate = nil
    if let drainTimer { loop.cancel(drainTimer) }
    if let lossTimer { loop.cancel(lossTimer) }
    giveUpConnecting()
    settleLater()
  }

  /// Ends the exchange now that the response has said all it has to say; the delegate hears nothing more.
  ///
  /// Over HTTP/1.1 the end of the body is still to come. It is taken, so that the connection can be used again.
  public func finish() {
    guard isHTTP1, !isClosed, isSendingFinished, unsentBytes == 0 else { return close() }
    delegate = nil
    drainTimer = loop.schedule(at: .now + Self.drainTime) { [weak self] in self?.close() }
  }

  /// What libcurl measured, put into `metrics`.
  public func measure(into metrics: inout CallMetrics) {
    metrics.connect = time(CURLINFO_CONNECT_TIME_T)
    metrics.resolve = metrics.connect == nil ? nil : time(CURLINFO_NAMELOOKUP_TIME_T)
    metrics.tls = time(CURLINFO_APPCONNECT_TIME_T)
    metrics.sentBytes = sentBytes
    metrics.receivedBytes = receivedBytes
  }

  private func time(_ info: CURLINFO) -> Duration? {
    var microseconds: curl_off_t = 0
    guard ccurl_get_offset(handle, info, &microseconds) == CURLE_OK, microseconds > 0 else { return nil }
    return .microseconds(Int64(microseconds))
  }

  // MARK: For EventLoop

  /// Ends a round of libcurl: hands on the trailers that came. libcurl itself would wait for the end of the
  /// request's body before it says that the response is over.
  func endRound() {
    if case .trailers(let trailers) = phase, !trailers.isEmpty {
      phase = .trailers(Headers())
      delegate?.transfer(received: trailers)
    }
    watchForLoss()
  }

  /// Notices an answer that libcurl 7.88 has lost.
  ///
  /// When the fields of an answer and the reset of its stream come in one read from the network, it drops the fields
  /// as it sees the reset (cf_h2_recv in lib/http2.c), and waits for the rest of the request, which may be for ever.
  /// Nothing outside of libcurl changes what it reads at once, least of all below TLS. But it has told its list of
  /// header fields of the status, so the loss can be told instead of a deadline's passing.
  private func watchForLoss() {
    guard PlainHTTP2.cannotReuse, !isWhole, !hasStatusLine, !isClosed, lossTimer == nil,
      ccurl_has_status(handle)
    else { return }
    lossTimer = loop.schedule(at: .now + Self.lossTime) { [weak self] in
      guard let self, !hasStatusLine, !isClosed else { return }
      fail(TransportError(.stream, Self.lossWords))
    }
  }

  /// libcurl is done with the handle.
  func complete(_ code: CURLcode) {
    if needsNewConnection, code == CURLE_ABORTED_BY_CALLBACK, !isClosed { return startAgain() }
    if code == CURLE_HTTP2_STREAM, PlainHTTP2.cannotReuse, !hasStatusLine, ccurl_has_status(handle) {
      var error = TransportError(code, detail: String(cString: errorBuffer))
      error.message += "; \(Self.lossWords)"
      return fail(error)
    }
    var error = code == CURLE_OK ? nil : TransportError(code, detail: String(cString: errorBuffer))
    if code == CURLE_COULDNT_CONNECT, let words = socketFailure { error?.message = words }
    fail(error)
  }

  /// Why there is no connection to a Unix socket, of which libcurl says that it has failed to connect to the URL's host.
  private var socketFailure: String? {
    var code = 0
    guard let unixSocket, ccurl_get_long(handle, CURLINFO_OS_ERRNO, &code) == CURLE_OK, code != 0 else {
      return nil
    }
    return "failed to connect to the socket \(unixSocket): \(String(cString: strerror(Int32(code))))"
  }

  /// Starts anew: the connection would not do, and nothing was sent.
  private func startAgain() {
    needsNewConnection = false
    loop.remove(handle)
    isAdded = false
    if let plainServer { return go(on: loop.plainHTTP2.admitAgain(self, to: plainServer)) }
    do throws(TransportError) {
      try TransferHandle(handle).set(CURLOPT_FORBID_REUSE, 0)
      try TransferHandle(handle).set(CURLOPT_FRESH_CONNECT, 1)
    } catch {
      return fail(error)
    }
    needsStart = true
    settleLater()
  }

  private func fail(_ error: TransportError?) {
    let delegate = self.delegate
    close()
    delegate?.transferEnded(error: error)
  }

  /// Does what waited for libcurl's callbacks to return; gives the handle when the transfer is over.
  func settle(in multi: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    isSettling = false
    guard !isRemoved else { return nil }
    if isClosed {
      discard(from: multi)
      return handle
    }
    if needsStart {
      needsStart = false
      do {
        try add()
      } catch {
        fail(error)
      }
      return nil
    }
    let canSend = isSendPaused && (unsentBytes > 0 || isSendingFinished)
    let canReceive = isReceivePaused && !wantsReceivePaused
    guard canSend || canReceive else { return nil }
    if canSend { isSendPaused = false }
    if canReceive { isReceivePaused = false }
    _ = ccurl_easy_pause(
      handle, (isSendPaused ? CURLPAUSE_SEND : 0) | (isReceivePaused ? CURLPAUSE_RECV : 0))
    return nil
  }

  func discard(from multi: UnsafeMutableRawPointer) {
    guard !isRemoved else { return }
    isRemoved = true
    guard isAdded else { return }
    // Of a transfer that is complete, the connection has gone back already.
    if closesWhenGivenUp { try? TransferHandle(handle).set(CURLOPT_FORBID_REUSE, 1) }
    _ = ccurl_multi_remove_handle(multi, handle)
  }

  private func settleLater() {
    guard !isSettling else { return }
    isSettling = true
    loop.settleLater(self)
  }

  // MARK: libcurl's side

  private func configure(
    _ request: HTTPRequest, body: Body, options: ConnectionOptions
  ) throws(TransportError) {
    let handle = TransferHandle(handle)
    try handle.set(CURLOPT_NOSIGNAL, 1)
    try trace?.attach(to: handle)
    try handle.set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
    try handle.set(CURLOPT_PATH_AS_IS, 1)
    try handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
    // What a proxy answers is no part of the response.
    try handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // Cancelling must not wait for a resolver that does not answer.
    try handle.set(CURLOPT_QUICK_EXIT, 1)
    try handle.set(CURLOPT_BUFFERSIZE, Self.bufferBytes)
    // At that length, libcurl would take the response for complete and drop its trailers.
    if request.wantsTrailers { try handle.set(CURLOPT_IGNORE_CONTENT_LENGTH, 1) }
    // libcurl's own defaults, which no RPC protocol wants.
    var fields = ["Expect:", "Accept:"]
    // By GET the message travels in the URL; a body, even an empty one, would be no part of the request.
    let isGet = request.method == "GET"
    try handle.set(isGet ? CURLOPT_HTTPGET : CURLOPT_POST, 1)
    switch body {
    case .whole(let bytes):
      isWhole = true
      isSendingFinished = true
      if !isGet {
        unsent = bytes
        try handle.set(CURLOPT_POSTFIELDSIZE, bytes.count)
      }
    case .stream:
      try handle.set(CURLOPT_POSTFIELDSIZE, -1)
      // HTTP/1.1 sends a body of unknown length in chunks, HTTP/2 has no such header.
      if options.httpVersion != .http1 { fields.append("Transfer-Encoding:") }
    }
    for field in request.headers.fields {
      // A field without a value is written with a semicolon: "Name:" would remove it.
      fields.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    try handle.set(options, url: request.url, extraFields: &fields, keeping: &lists)
    try handle.set(CURLOPT_HTTPHEADER, fields, keeping: &lists)

    let context = Unmanaged.passUnretained(self).toOpaque()
    try handle.set(CURLOPT_READDATA, pointer: context)
    try handle.set(CURLOPT_SEEKDATA, pointer: context)
    try handle.set(CURLOPT_WRITEDATA, pointer: context)
    try handle.set(CURLOPT_HEADERDATA, pointer: context)
    try handle.set(CURLOPT_READFUNCTION) { data, size, count, context in
      Transfer.from(context)?.fill(data, size * count) ?? Int(CURL_READFUNC_ABORT)
    }
    try handle.set(seeking: { context, offset, origin in
      guard origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
      return Transfer.from(context)?.rewind(to: Int(offset)) == true
        ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK
    })
    try handle.set(CURLOPT_WRITEFUNCTION) { data, size, count, context in
      Transfer.from(context)?.take(body: UnsafeRawBufferPointer(start: data, count: size * count)) ?? 0
    }
    try handle.set(CURLOPT_HEADERFUNCTION) { data, size, count, context in
      Transfer.from(context)?.take(line: UnsafeRawBufferPointer(start: data, count: size * count)) ?? 0
    }
  }

  // MARK: The connection

  /// Gives the handle to libcurl.
  private func add() throws(TransportError) {
    let options = TransferHandle(handle)
    if plainServer != nil { try choosePlainConnection() }
    try options.set(CURLOPT_PREREQDATA, pointer: Unmanaged.passUnretained(self).toOpaque())
    try options.set(beforeRequest: { context, _, _, _, _ in
      Transfer.from(context)?.mayRequest() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    })
    try loop.add(self, handle: handle)
    isAdded = true
  }

  /// Speaks HTTP/2 from the first byte on: over a connection that does already, or over one of its own.
  private func choosePlainConnection() throws(TransportError) {
    let isReuse = if case .reuse = admission { true } else { false }
    let options = TransferHandle(handle)
    try options.set(
      CURLOPT_HTTP_VERSION, isReuse ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
    try options.set(CURLOPT_FRESH_CONNECT, isReuse ? 0 : 1)
  }

  /// Whether the connection that libcurl chose will do. Nothing of the request was sent yet.
  private func mayRequest() -> Bool {
    guard let plainServer else {
      // libcurl 8 may take a connection that the server has closed.
      needsNewConnection = isReused && ccurl_is_closed(handle)
      // Nor would it notice when this transfer lets go of it, and take it for the next one.
      if needsNewConnection { try? TransferHandle(handle).set(CURLOPT_FORBID_REUSE, 1) }
      return !needsNewConnection
    }
    guard case .reuse = admission else {
      // libcurl may call again for a request that it repeats.
      guard !isConnected else { return true }
      isConnected = true
      for waiting in loop.plainHTTP2.connected(plainServer) { waiting.go(on: .reuse) }
      return true
    }
    needsNewConnection = !isReused
    return !needsNewConnection
  }

  /// Whether libcurl took a connection that was there.
  private var isReused: Bool {
    var made = 0
    return ccurl_get_long(handle, CURLINFO_NUM_CONNECTS, &made) == CURLE_OK && made == 0
  }

  /// Takes note of what `PlainHTTP2` says, and starts when libcurl's callbacks have returned.
  private func go(on admission: PlainHTTP2.Admission) {
    self.admission = admission
    if case .wait = admission { return }
    isConnected = false
    needsStart = true
    settleLater()
  }

  /// Lets another transfer connect, if this one was to and has not; or does not wait for it any more.
  private func giveUpConnecting() {
    guard let plainServer else { return }
    switch admission {
    case .connect where !isConnected:
      isConnected = true
      loop.plainHTTP2.gaveUp(plainServer)?.go(on: .connect)
    case .wait: loop.plainHTTP2.forget(self, plainServer)
    default: break
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private func fill(_ data: UnsafeMutablePointer<CChar>?, _ capacity: Int) -> Int {
    guard !isClosed, let data else { return Int(CURL_READFUNC_ABORT) }
    let count = min(capacity, unsentBytes)
    guard count > 0 else {
      if isSendingFinished { return 0 }
      isSendPaused = true
      return Int(CURL_READFUNC_PAUSE)
    }
    unsent.withUnsafeBytes {
      UnsafeMutableRawPointer(data).copyMemory(
        from: $0.baseAddress.unsafelyUnwrapped + unsentOffset, byteCount: count)
    }
    unsentOffset += count
    sentBytes += count
    if unsentOffset == unsent.count, !isWhole {
      unsent.removeAll(keepingCapacity: unsent.capacity <= 1 << 20)
      unsentOffset = 0
    }
    delegate?.transfer(sentBytes: sentBytes)
    if isFull, unsentBytes <= Self.unsentLimitBytes / 2 {
      isFull = false
      delegate?.transferWantsMore(true)
    }
    return count
  }

  /// Starts the body again, when libcurl repeats a request that the server has refused unseen.
  private func rewind(to offset: Int) -> Bool {
    guard isWhole, offset >= 0, offset <= unsent.count else { return false }
    unsentOffset = offset
    sentBytes = offset
    return true
  }

  private func take(body: UnsafeRawBufferPointer) -> Int {
    guard !isClosed else { return 0 }
    guard !wantsReceivePaused else {
      isReceivePaused = true
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    receivedBytes += body.count
    loop.noteReceived()
    delegate?.transfer(received: body.bytes)
    return isClosed ? 0 : body.count
  }

  private func take(line: UnsafeRawBufferPointer) -> Int {
    guard !isClosed else { return 0 }
    let text = HeaderLine(line)
    switch (text, phase) {
    case (.status(let version, let status), .head):
      hasStatusLine = true
      phase = .head(ResponseStart(httpStatus: status, httpVersion: version))
    case (.field(let name, let value), .head(var head)):
      head?.headers.add(name, value)
      phase = .head(head)
    case (.end, .head(let head)):
      // 1xx announces; the response is still to come.
      guard let head, head.httpStatus >= 200 else {
        phase = .head(nil)
        break
      }
      phase = .body
      isHTTP1 = head.httpVersion.hasPrefix("1")
      delegate?.transfer(received: head)
    case (.field(let name, let value), .body):
      var trailers = Headers()
      trailers.add(name, value)
      phase = .trailers(trailers)
    case (.field(let name, let value), .trailers(var trailers)):
      trailers.add(name, value)
      phase = .trailers(trailers)
    default: break
    }
    return isClosed ? 0 : line.count
  }
}
