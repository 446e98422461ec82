import RPCurlBase
import RPCurlProtocols

/// A connection of HTTP/1.1: one request after the other. Requests that are sent before the response of the previous one wait.
final class HTTP1Connection: HTTPConnection {
  private enum State {
    case head(HTTP1Block)
    case body(HTTP1Body)
    /// The request is complete.
    case response
    /// No more is read.
    case closed
  }

  /// How the end of the response's body is marked.
  private enum Framing {
    /// The head is not sent yet.
    case none
    case length
    case chunked
    /// The end of the connection.
    case close
  }

  private var state = State.head(HTTP1Block())
  private var stream: ServerStream?
  private var framing = Framing.none
  private var version = RequestHead.Version.http1_1
  /// Whether the connection is closed after this response.
  private var closes = false
  /// Bytes of the client that wait for a response, or for a handler that does not receive.
  private var waiting: [UInt8] = []

  override var isDone: Bool {
    if case .closed = state { stream == nil } else { false }
  }

  /// Reading continues while a response is made: the end of the connection cancels it.
  override var isReading: Bool {
    if case .body = state, isBlocked { return false }
    return waiting.count < limits.headerBytes && !isDone
  }

  override var hasUnsent: Bool { stream?.response.hasMore ?? false }

  override var stage: Stage {
    switch state {
    case .head(let block): block.bytes.isEmpty ? .idle : .header
    case .body: stream?.isPaused == true ? .exchange : .body
    case .response, .closed: .exchange
    }
  }

  /// Whether bytes of the client must wait.
  private var isBlocked: Bool {
    switch state {
    case .head, .closed: false
    case .body: stream?.isPaused ?? false
    case .response: true
    }
  }

  // MARK: Requests

  override func receive(_ bytes: RawSpan, at now: MonotonicClock.Instant) {
    guard waiting.isEmpty else { return waiting += bytes.withUnsafeBytes { Array($0) } }
    let position = process(bytes)
    guard position < bytes.byteCount else { return }
    waiting = bytes.withUnsafeBytes { Array($0[position...]) }
  }

  /// Returns how many bytes were processed.
  private func process(_ input: RawSpan) -> Int {
    var position = 0
    do throws(RequestViolation) {
      while position < input.byteCount, !isBlocked {
        switch state {
        case .head(var block):
          state = .closed
          position += try block.append(
            input.extracting(position..<input.byteCount), limit: limits.headerBytes)
          state = .head(block)
          if block.isComplete { begin(try HTTP1Head(block, scheme: settings.scheme, limits: limits)) }
        case .body(var body):
          let event = try body.next(input, &position, limits)
          state = .body(body)
          if let event { receive(event, input) }
          endBody(body)
        case .response: break
        case .closed: return input.byteCount
        }
      }
    } catch {
      refuse(error)
    }
    return position
  }

  private func begin(_ request: HTTP1Head) {
    version = request.head.version
    closes = closes || request.closes
    framing = .none
    state = .body(request.body)
    let stream = ServerStream(self, id: 0, isHead: request.head.method == "HEAD")
    self.stream = stream
    stream.begin(settings.makeHandler(request.head, stream))
    if request.expectsContinue, !request.body.isComplete, !stream.hasResponded, !stream.isOver {
      output += "HTTP/1.1 100 Continue\r\n\r\n".utf8
      onChange()
    }
    endBody(request.body)
  }

  private func receive(_ event: HTTP1Body.Event, _ input: RawSpan) {
    switch event {
    case .bytes(let range): stream?.handler?.receive(body: input.extracting(range))
    case .trailers(let trailers):
      if !trailers.isEmpty { stream?.handler?.receive(trailers: trailers) }
    }
  }

  private func endBody(_ body: HTTP1Body) {
    guard body.isComplete, case .body = state else { return }
    state = .response
    stream?.handler?.receiveEnd()
  }

  /// Responds to what is no valid request, and reads no more.
  private func refuse(_ violation: RequestViolation) {
    state = .closed
    closes = true
    let isBegun = stream != nil && framing != .none
    stream?.cancel(.malformed)
    stream = nil
    if !isBegun { write(status: violation.status) }
  }

  private func write(status: Int) {
    output += "HTTP/1.1 \(status) \r\nconnection: close\r\ncontent-length: 0\r\n\r\n".utf8
    onChange()
  }

  // MARK: The end

  override func cancel(_ reason: ResetReason) {
    if case .head(let block) = state, !block.bytes.isEmpty, reason == .timeout { write(status: 408) }
    state = .closed
    let stream = stream
    self.stream = nil
    stream?.cancel(reason)
  }

  override func shutDown() {
    closes = true
    guard stream == nil else { return }
    if case .head(let block) = state, !block.bytes.isEmpty { return }
    state = .closed
    onChange()
  }

  override func reset(_ stream: ServerStream, _ code: UInt32) {
    // A response without a head, or whose end is missing, is what HTTP/1.1 has instead.
    if framing == .none { write(status: 500) }
    self.stream = nil
    state = .closed
    onChange()
  }

  // MARK: Responses

  override func changed(_ stream: ServerStream) {
    guard !stream.isChanged else { return }
    stream.isChanged = true
    onChange()
  }

  override func resumeReading(_ stream: ServerStream) { onChange() }

  override func fill(upTo limit: Int, at now: MonotonicClock.Instant) {
    repeat {
      stream?.isChanged = false
      fillResponse(upTo: limit)
      guard !waiting.isEmpty, !isBlocked, output.count < limit else { return }
      let bytes = waiting
      waiting = []
      receive(bytes.span.bytes, at: now)
    } while output.count < limit && stream?.response.hasMore == true
  }

  private func fillResponse(upTo limit: Int) {
    guard let stream, output.count < limit, stream.response.hasMore else { return }
    if let head = stream.response.head { write(head, stream) }
    let count = min(stream.response.body.count, limit)
    if count > 0 {
      if framing == .chunked { output += "\(String(count, radix: 16))\r\n".utf8 }
      stream.response.body.move(count, to: &output)
      if framing == .chunked { output += "\r\n".utf8 }
      stream.resumeIfDrained()
    }
    guard stream.response.isEnded, stream.response.body.count == 0, !stream.isOver else { return }
    if framing == .chunked {
      output += "0\r\n".utf8
      write(FieldRules.sent(stream.response.trailers ?? Headers()))
    }
    finish(stream)
  }

  private func write(_ head: (status: Int, headers: Headers), _ stream: ServerStream) {
    stream.response.head = nil
    let response = stream.response
    var fields = FieldRules.sent(head.headers, keepingLength: stream.isHead)
    if !stream.hasBody {
      framing = .length
    } else if response.isEnded, response.trailers == nil {
      framing = .length
      fields.append((Array("content-length".utf8), Array("\(response.body.count)".utf8)))
    } else if version == .http1_0 {
      framing = .close
    } else {
      framing = .chunked
      fields.append((Array("transfer-encoding".utf8), Array("chunked".utf8)))
    }
    if framing == .close { closes = true }
    // A client that still sends its body is not waited for.
    if case .body = state, response.isEnded { closes = true }
    if closes { fields.append((Array("connection".utf8), Array("close".utf8))) }
    output += "HTTP/1.1 \(head.status) \(head.status == 200 ? "OK" : "")\r\n".utf8
    write(fields)
  }

  /// Writes fields and the empty line after them.
  private func write(_ fields: [(name: [UInt8], value: [UInt8])]) {
    for field in fields {
      output += field.name
      output += ": ".utf8
      output += field.value
      output += "\r\n".utf8
    }
    output += "\r\n".utf8
  }

  /// The response is complete.
  private func finish(_ stream: ServerStream) {
    stream.close()
    self.stream = nil
    if case .response = state, !closes {
      state = .head(HTTP1Block())
    } else {
      state = .closed
    }
  }
}
