import RPCurlProtobuf

/// A unary call in Connect (Connect protocol, "Unary"): plain HTTP, one message per body, errors as JSON.
final class ConnectUnaryProtocol: WireProtocol {
  private enum State {
    /// Nothing was received yet.
    case head
    /// Receiving the body of a response: the message.
    case message(ResponseStart)
    /// Receiving the body of an error.
    case error(ResponseStart)
    /// Receiving the body of a response that is not one of the protocol.
    case foreign(ForeignBody)
    /// The end was reported.
    case ended
  }

  /// The limit for an error's body in bytes. A longer one is cut, and reported by its HTTP status alone.
  private static let maxErrorBytes = 1 << 20

  private let parameters: CallParameters
  private var state = State.head
  private var body: [UInt8] = []
  private var compressor: MessageCompressor
  private var decompressor: MessageDecompressor?
  /// The message of a call by GET, which travels in the URL if it fits.
  private var message: [UInt8] = []
  private(set) var receivedMessages = 0
  private(set) var receivedMessageBytes = 0
  private(set) var hasMessage = false
  var onMessageSize: ((MessageSize) -> Void)?

  init(_ parameters: CallParameters) {
    self.parameters = parameters
    compressor = MessageCompressor(parameters.compression)
  }

  /// The value of `content-type` for messages of a codec.
  static func contentType(_ codec: CodecName) -> String { "application/\(codec.rawValue)" }

  private var contentType: String { Self.contentType(parameters.codec) }

  func makeRequest(_ start: RequestStart, timeout: Duration?) throws(RPCError) -> HTTPRequest {
    if parameters.usesGET, let request = try makeGET(start, timeout: timeout) { return request }
    message = []
    var fields = [("content-type", contentType)] + ConnectHeaders.fields
    fields.append(("user-agent", parameters.userAgent))
    if let compression = parameters.compression {
      fields.append(("content-encoding", compression.rawValue))
    }
    return try HTTPRequest(start, fields: fields + commonFields(timeout))
  }

  /// The request by GET; `nil` if its URL would be too long.
  private func makeGET(_ start: RequestStart, timeout: Duration?) throws(RPCError) -> HTTPRequest? {
    // A message over the limit needs no encoding: the rest of the URL only adds to it.
    guard message.count <= parameters.maxURLBytes else { return nil }
    let request = try HTTPRequest(
      start, method: "GET", query: ConnectGet.query(message, codec: parameters.codec, parameters.compression),
      fields: [("user-agent", parameters.userAgent)] + commonFields(timeout))
    return request.url.utf8.count <= parameters.maxURLBytes ? request : nil
  }

  private func commonFields(_ timeout: Duration?) -> [(String, String)] {
    [("accept-encoding", parameters.acceptedEncodings)]
      + (timeout.map { [ConnectHeaders.timeoutField($0)] } ?? [])
  }

  func encode(_ message: [UInt8], into body: inout [UInt8]) throws(RPCError) {
    let bytes = try compressor.compress(message)
    if parameters.usesGET { self.message = bytes }
    body.append(contentsOf: bytes)
  }

  func receive(head: ResponseStart, _ receiver: any ResponseReceiver) -> ResponseEnd? {
    guard case .head = state else { return nil }
    var start = head
    start.headers = Self.split(head.headers).leading
    receiver.receive(.responseStart(start))
    do throws(RPCError) {
      if head.httpStatus == 200 {
        try ConnectHeaders.check(head, expected: contentType, family: "application/")
      }
    } catch {
      return receiveForeign(error, head)
    }
    do throws(RPCError) {
      decompressor = try parameters.agreedCompression(head.headers.first("content-encoding")).map {
        MessageDecompressor($0)
      }
    } catch {
      return head.httpStatus == 200 ? fail(error, head) : receiveForeign(httpError(head, error), head)
    }
    if head.httpStatus == 200 {
      state = .message(head)
    } else if head.headers.first("content-type").map(MediaType.init)?.name == "application/json" {
      state = .error(head)
    } else {
      return receiveForeign(httpError(head), head)
    }
    return nil
  }

  /// Waits for the body of a response that is not one of the protocol.
  private func receiveForeign(_ error: RPCError, _ head: ResponseStart) -> ResponseEnd? {
    state = .foreign(ForeignBody(error, head))
    return nil
  }

  func receive(
    body whole: RawSpan, from offset: inout Int, _ receiver: any ResponseReceiver
  ) -> ResponseEnd? {
    let piece = whole.extracting(droppingFirst: offset)
    offset = whole.byteCount
    switch state {
    case .head, .ended: return nil
    case .foreign(let foreign):
      foreign.add(piece)
      return foreign.isEnough ? fail(foreign.end, foreign.head) : nil
    case .message(let head):
      hasMessage = true
      let limit = parameters.maxMessageBytes
      guard body.count + piece.byteCount <= limit else {
        return fail(.messageTooLarge("is too long", limit: limit), head)
      }
    case .error(let head):
      guard body.count + piece.byteCount <= Self.maxErrorBytes else { return fail(httpError(head), head) }
    }
    piece.withUnsafeBytes { body.append(contentsOf: $0) }
    return nil
  }

  func receive(trailers: Headers, areComplete: Bool, _ receiver: any ResponseReceiver) -> ResponseEnd? {
    // Connect sends trailing metadata as headers (prefix `trailer-`) and does not use HTTP trailers.
    nil
  }

  var awaited: AwaitedEnd? { if case .foreign = state { .text } else { nil } }

  func receiveEnd(failure: RPCError?, _ receiver: any ResponseReceiver) -> ResponseEnd? {
    let before = state
    state = .ended
    switch before {
    case .ended: return nil
    case .head: return ResponseEnd(error: failure ?? .closedWithoutResponse)
    case .foreign(let foreign): return fail(foreign.end, foreign.head)
    case .error(let head) where failure != nil:
      // The status is known, and decides about retries; only its words were lost.
      var error = failure
      error?.code = HTTPStatusMapping.connect(head.httpStatus)
      return ResponseEnd(error: error)
    case _ where failure != nil: return ResponseEnd(error: failure)
    case .message(let head):
      do throws(RPCError) {
        // No compression makes nothing of something: the body was lost.
        if let name = decompressor?.compression.rawValue, body.isEmpty {
          throw .violation(.internal, "the response has the content-encoding \(name), and no body")
        }
        let message = try decompressed(limit: parameters.maxMessageBytes)
        onMessageSize?(
          MessageSize(
            bytes: message.count, wireBytes: body.count, compression: decompressor?.compression))
        receivedMessages += 1
        receivedMessageBytes += message.count
        receiver.receive(message: message.span.bytes)
        return ResponseEnd(trailers: Self.split(head.headers).trailing)
      } catch {
        return fail(error, head)
      }
    case .error(let head):
      do throws(RPCError) {
        let json = try decompressed(limit: Self.maxErrorBytes)
        let fallback = HTTPStatusMapping.connect(head.httpStatus)
        let error =
          ConnectError.decode(json, fallback: fallback)
          ?? ForeignBody(httpError(head), head, decoded: json).end
        return fail(error, head)
      } catch {
        return fail(httpError(head, error), head)
      }
    }
  }

  private func decompressed(limit: Int) throws(RPCError) -> [UInt8] {
    guard var decompressor else { return body }
    let compressed = body
    return try decompressor.decompress(compressed.span.bytes, limit: limit)
  }

  private func fail(_ error: RPCError, _ head: ResponseStart) -> ResponseEnd {
    state = .ended
    return ResponseEnd(error: error, trailers: Self.split(head.headers).trailing)
  }

  /// The error of a response that has no Connect error.
  ///
  /// - Parameter cause: Why its body cannot be read; nil if it is not known to have an error.
  private func httpError(_ head: ResponseStart, _ cause: RPCError? = nil) -> RPCError {
    .violation(
      HTTPStatusMapping.connect(head.httpStatus),
      "the server responded with HTTP \(head.httpStatus), without a Connect error"
        + (cause.map { ": \($0.message)" } ?? ""))
  }

  /// Separates the leading metadata from the trailing, which has the prefix `trailer-`.
  private static func split(_ headers: Headers) -> (leading: Headers, trailing: Headers) {
    var leading = Headers()
    var trailing = Headers()
    for field in headers.fields {
      if field.name.hasPrefix("trailer-"), field.name.utf8.count > "trailer-".utf8.count {
        trailing.add(String(field.name.dropFirst("trailer-".count)), field.value)
      } else {
        leading.add(field.name, field.value)
      }
    }
    return (leading, trailing)
  }
}
