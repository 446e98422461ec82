@testable import Protobuf
@testable import RPCProtocols

/// Records the events of a response.
final class ResponseRecorder: ResponseSink {
  enum Event: Equatable {
    case start(ResponseStart)
    case message([UInt8])
    case end(ResponseEnd)
  }

  private(set) var events: [Event] = []

  var messages: [[UInt8]] {
    events.compactMap { if case .message(let bytes) = $0 { bytes } else { nil } }
  }

  /// The end, if it is the last event and the only end.
  var end: ResponseEnd? {
    guard case .end(let end) = events.last,
      events.filter({ if case .end = $0 { true } else { false } }).count == 1
    else { return nil }
    return end
  }

  func receive(start: ResponseStart) { events.append(.start(start)) }
  func receive(message: RawSpan) { events.append(.message(message.copyBytes())) }
  func receive(end: ResponseEnd) { events.append(.end(end)) }
}

/// A response as received over HTTP.
struct HTTPResponse {
  var status = 200
  var headers: [(String, String)] = []
  var body: [UInt8] = []
  var trailers: [(String, String)] = []

  /// Feeds the response to a new call, the body in pieces of at most `pieceBytes`.
  func feed(_ protocolCall: any WireProtocol, pieceBytes: Int = .max) -> ResponseRecorder {
    let recorder = ResponseRecorder()
    let head = ResponseStart(httpStatus: status, httpVersion: "2", headers: Headers(headers))
    protocolCall.receive(head: head, recorder)
    var offset = 0
    while offset < body.count {
      let end = offset + min(pieceBytes, body.count - offset)
      let piece = Array(body[offset..<end])
      protocolCall.receive(body: piece.span.bytes, recorder)
      offset = end
    }
    if !trailers.isEmpty { protocolCall.receive(trailers: Headers(trailers), recorder) }
    protocolCall.receiveEnd(recorder)
    return recorder
  }
}

extension CallParameters {
  static func of(
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
  static let test = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://h")
}

extension Compression {
  /// The compressed bytes, as a server sends them.
  func compress(_ bytes: [UInt8]) throws -> [UInt8] {
    var compressor = MessageCompressor(self)
    return try compressor.compress(bytes)
  }

  func decompress(_ bytes: [UInt8], limit: Int = .max) throws -> [UInt8] {
    var decompressor = MessageDecompressor(self)
    return try decompressor.decompress(bytes.span.bytes, limit: limit)
  }
}

/// Random numbers that are the same in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// An envelope around `message`.
func envelope(_ message: [UInt8], flags: UInt8 = 0) -> [UInt8] {
  [flags] + withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
}
