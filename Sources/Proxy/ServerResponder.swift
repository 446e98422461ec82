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

/// The server's side of one call: its protocol, and the HTTP stream that it writes to.
final class ServerResponder {
  private let stream: ServerStream
  private let inbound: any ServerProtocol
  /// The codec of the client.
  let codec: CodecName
  /// The fields that each head of the response has.
  private let fields: Headers
  /// Why the request is invalid. The rest of it is ignored.
  private(set) var failure: RPCError?
  private var isOver = false
  private let unfinished: UnfinishedMessages
  /// The bytes of the body since the last whole message.
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
  func receive(_ body: RawSpan, _ deliver: ([UInt8]) -> Void) {
    guard failure == nil, !isOver else { return }
    var offset = 0
    unfinishedBytes += body.byteCount
    do throws(RPCError) {
      while failure == nil, !isOver, offset < body.byteCount {
        var isWhole = false
        try inbound.receive(body: body, from: &offset) {
          isWhole = true
          deliver($0.copyBytes())
        }
        if isWhole { unfinishedBytes = body.byteCount - offset }
      }
      guard unfinished.bytes <= unfinished.limit else {
        throw RPCError(
          .resourceExhausted, "the unfinished messages of all calls have more than \(unfinished.limit) bytes",
          origin: .client)
      }
    } catch {
      fail(error)
    }
  }

  /// Receives the end of the body.
  func receiveEnd(_ deliver: ([UInt8]) -> Void) {
    guard failure == nil, !isOver else { return }
    do throws(RPCError) {
      try inbound.receiveEnd { deliver($0.copyBytes()) }
      unfinishedBytes = 0
    } catch {
      fail(error)
    }
  }

  /// The request is invalid.
  func fail(_ error: RPCError) {
    if failure == nil { failure = error }
    unfinishedBytes = 0
  }

  /// Pauses or resumes the body of the request.
  func wantRequest(_ isWanted: Bool) {
    if isWanted { stream.resumeReading() } else { stream.pauseReading() }
  }

  /// The client has gone.
  func close() {
    isOver = true
    unfinishedBytes = 0
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
