import RPCurlProtocols
import RPCurlServer

/// The bytes of messages that have not arrived as a whole, of all calls of a listener: each has a limit, but clients may begin many.
final class UnfinishedMessages {
  /// How many of the largest messages may be unfinished.
  private static let messageCount = 8

  /// The limit, in bytes.
  let limit: Int
  fileprivate(set) var bytes = 0

  init(maxMessageBytes: Int) { limit = min(maxMessageBytes, .max / Self.messageCount) * Self.messageCount }
}

/// Receives what a client sends in a call.
protocol RequestReceiver: AnyObject {
  /// Receives a message in the client's codec.
  func receive(request message: [UInt8])

  /// Receives the end of the request; with an error, it is invalid. Called once, last.
  func receiveRequestEnd(_ error: RPCError?)
}

/// The server's side of one call: its protocol, and the HTTP stream that it writes to.
final class ServerResponder {
  private let stream: ServerStream
  private let inbound: any ServerProtocol
  /// The codec of the client.
  let codec: CodecName
  /// The fields that each head of the response has.
  private let fields: Headers
  /// Receives the request.
  weak var receiver: (any RequestReceiver)?
  /// Why the request is invalid. The rest of it is ignored.
  private var failure: RPCError?
  private var isOver = false
  private let unfinished: UnfinishedMessages
  /// Whether the receiver does not take messages now.
  private var isPaused = false
  private var isReading = false
  /// The bytes of the body that arrived during a pause. The window of the stream limits them; as messages, they would take much more.
  private var waiting: [UInt8] = []
  private var hasWholeBody = false
  /// Whether the receiver has received the end.
  private var isReceived = false
  /// The bytes of the body since the last message that was delivered.
  private var unfinishedBytes = 0 {
    didSet { unfinished.bytes += unfinishedBytes - oldValue }
  }

  init(
    _ stream: ServerStream, _ inbound: any ServerProtocol, _ fields: Headers, _ unfinished: UnfinishedMessages
  ) {
    (self.stream, self.inbound, self.fields, self.unfinished) = (stream, inbound, fields, unfinished)
    // Not read from the request for each message, which copies it.
    codec = inbound.request.start.codec
  }

  deinit { unfinished.bytes -= unfinishedBytes }

  // MARK: The request

  /// Receives a piece of the body.
  func receive(_ body: RawSpan) {
    guard !isReceived else { return }
    unfinishedBytes += body.byteCount
    var read = 0
    if !isPaused, waiting.isEmpty { read = readMessages(of: body) }
    if read < body.byteCount { body.extracting(droppingFirst: read).withUnsafeBytes { waiting += $0 } }
    if unfinished.bytes > unfinished.limit {
      fail(
        RPCError(
          .resourceExhausted, "the unfinished messages of all calls have more than \(unfinished.limit) bytes",
          origin: .client))
    }
    reportEnd()
  }

  /// Receives the end of the body.
  func receiveEnd() {
    hasWholeBody = true
    reportEnd()
  }

  /// Pauses or resumes the request.
  func wantRequest(_ isWanted: Bool) {
    isPaused = !isWanted
    guard isWanted else { return stream.pauseReading() }
    // The receiver may pause again, and it may be one that is called from here.
    if !isReading {
      readWaiting()
      reportEnd()
    }
    if !isPaused { stream.resumeReading() }
  }

  private func readWaiting() {
    guard !waiting.isEmpty else { return }
    let body = waiting
    waiting = []
    let read = readMessages(of: body.span.bytes)
    waiting = Array(body[read...])
  }

  /// Delivers messages until the receiver pauses; returns how many bytes were read.
  private func readMessages(of body: RawSpan) -> Int {
    isReading = true
    defer { isReading = false }
    var offset = 0
    do throws(RPCError) {
      while !isPaused, !isReceived, failure == nil, offset < body.byteCount {
        var isWhole = false
        try inbound.receive(body: body, from: &offset) {
          isWhole = true
          receiver?.receive(request: $0.copyBytes())
        }
        if isWhole { unfinishedBytes = body.byteCount - offset }
      }
    } catch {
      fail(error)
    }
    return offset
  }

  /// Reports the end of the request, or why it is invalid, once.
  private func reportEnd() {
    guard !isReceived, !isReading else { return }
    if failure == nil {
      guard hasWholeBody, waiting.isEmpty else { return }
      do throws(RPCError) {
        try inbound.receiveEnd { receiver?.receive(request: $0.copyBytes()) }
      } catch {
        fail(error)
      }
    }
    guard !isReceived else { return }
    endRequest()
    receiver?.receiveRequestEnd(failure)
  }

  /// The request is invalid.
  func fail(_ error: RPCError) {
    if failure == nil { failure = error }
  }

  private func endRequest() {
    isReceived = true
    (waiting, unfinishedBytes) = ([], 0)
  }

  /// The client has gone.
  func close() {
    isOver = true
    endRequest()
  }

  // MARK: The response

  func respond(_ start: ResponseStart) {
    guard !isOver else { return }
    send(inbound.respond(start))
  }

  /// Writes a message; returns whether more may be written now.
  func write(_ message: RawSpan) throws(RPCError) -> Bool {
    guard !isOver else { return true }
    var body: [UInt8] = []
    send(try inbound.encode(message, into: &body))
    return stream.write(body)
  }

  /// Writes messages, by their places in a piece, at once; returns whether more may be written now.
  func write(_ places: Span<Range<Int>>, of piece: RawSpan) throws(RPCError) -> Bool {
    guard !isOver else { return true }
    var body: [UInt8] = []
    var envelope: [UInt8] = []
    for index in places.indices {
      // Encoding reserves the memory of one message, and would move those before it each time.
      envelope.removeAll(keepingCapacity: true)
      send(try inbound.encode(piece.extracting(places[index]), into: &envelope))
      body += envelope
    }
    return stream.write(body)
  }

  /// Ends the response. Only the first time has an effect.
  func end(_ end: ResponseEnd) {
    guard !isOver else { return }
    close()
    stream.send(inbound.end(end), fields)
  }

  private func send(_ head: ServerResponseHead?) {
    guard let head else { return }
    stream.respond(status: head.status, headers: head.headers.appending(fields))
  }
}

extension ServerStream {
  /// Sends what ends a response.
  ///
  /// - Parameter fields: The fields that each head of the response has.
  func send(_ response: ServerResponse, _ fields: Headers) {
    if let head = response.head { respond(status: head.status, headers: head.headers.appending(fields)) }
    if !response.body.isEmpty { write(response.body) }
    end(trailers: response.trailers)
  }
}
