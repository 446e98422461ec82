import RPCurlProtobuf

@testable import RPCurlProtocols

/// Records the events of a response.
package final class ResponseRecorder: ResponseReceiver {
  package private(set) var events: [CallEvent<[UInt8]>] = []

  /// Creates a recorder.
  package init() {}

  package var messages: [[UInt8]] {
    events.compactMap { if case .responseMessage(let message) = $0 { message } else { nil } }
  }

  /// The end, if it is the last event and the only end.
  package var end: ResponseEnd? {
    guard case .responseEnd(let end) = events.last,
      events.filter({ if case .responseEnd = $0 { true } else { false } }).count == 1
    else { return nil }
    return end
  }

  package func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start): events.append(.responseStart(start))
    case .responseMessage(let message): events.append(.responseMessage(message.serialized))
    case .responseEnd(let end): events.append(.responseEnd(end))
    case .requestStart, .requestMessage, .requestEnd, .metrics: break
    }
  }
  package func receive(message: RawSpan) { events.append(.responseMessage(message.copyBytes())) }

  /// Records the end that a protocol returned; nil is no end.
  package func receive(end: ResponseEnd?) {
    if let end { events.append(.responseEnd(end)) }
  }
}

/// A response as received over HTTP.
package struct HTTPResponse {
  package var status = 200
  package var headers: [(String, String)] = []
  package var body: [UInt8] = []
  package var trailers: [(String, String)] = []

  package init(
    status: Int = 200, headers: [(String, String)] = [], body: [UInt8] = [], trailers: [(String, String)] = []
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.trailers = trailers
  }

  /// Feeds the response to a new call, the body in pieces of at most `pieceBytes`.
  package func feed(_ protocolCall: any WireProtocol, pieceBytes: Int = .max) -> ResponseRecorder {
    let recorder = ResponseRecorder()
    feed(protocolCall, pieceBytes: pieceBytes, to: recorder) { recorder.receive(end: $0) }
    return recorder
  }

  /// Feeds the response to a new call, which gives it to a receiver; `onEnd` is called with what the protocol returns.
  package func feed(
    _ call: any WireProtocol, pieceBytes: Int = .max, to receiver: any ResponseReceiver,
    failure: RPCError? = nil, onEnd: (ResponseEnd?) -> Void
  ) {
    let head = ResponseStart(httpStatus: status, httpVersion: "2", headers: Headers(headers))
    onEnd(call.receive(head: head, receiver))
    var offset = 0
    while offset < body.count {
      let end = offset + min(pieceBytes, body.count - offset)
      let piece = Array(body[offset..<end])
      var read = 0
      while read < piece.count { onEnd(call.receive(body: piece.span.bytes, from: &read, receiver)) }
      offset = end
    }
    if !trailers.isEmpty {
      onEnd(call.receive(trailers: Headers(trailers), areComplete: true, receiver))
    }
    onEnd(call.receiveEnd(failure: failure, receiver))
  }
}

extension CallParameters {
  package static func of(
    _ kind: CallKind, codec: CodecName = .proto, maxMessageBytes: Int = 1000,
    compression: Compression? = nil, accepted: [Compression] = [], usesGET: Bool = false
  ) -> CallParameters {
    var parameters = CallParameters(
      kind: kind, codec: codec, userAgent: "test/1", maxMessageBytes: maxMessageBytes)
    parameters.compression = compression
    parameters.acceptedCompressions = accepted
    parameters.usesGET = usesGET
    return parameters
  }
}

extension RequestStart {
  package static let test = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h")
}

extension Compression {
  /// The compressed bytes, as a server sends them.
  package func compress(_ bytes: [UInt8]) throws -> [UInt8] {
    var compressor = MessageCompressor(self)
    return try compressor.compress(bytes)
  }

  package func decompress(_ bytes: [UInt8], limit: Int = .max) throws -> [UInt8] {
    var decompressor = MessageDecompressor(self)
    return try decompressor.decompress(bytes.span.bytes, limit: limit)
  }
}

/// An envelope around `message`.
package func envelope(_ message: [UInt8], flags: UInt8 = 0) -> [UInt8] {
  [flags] + withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
}
