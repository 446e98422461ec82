import RPCurlProtobuf
import RPCurlProtocolsSupport

@testable import RPCurlProtocols

/// A request of a client and the response to it, as a list of choices: a mutation changes one field or frame, and not all that
/// follow.
private struct ServerInput {
  private static let types = [
    "application/grpc", "application/grpc+json", "application/grpc-web+proto", "application/grpc-web-text",
    "application/connect+proto", "application/connect+json", "application/proto", "application/json",
  ]
  private static let codecs: [Compression] = [.gzip, .deflate, .br, .zstd, .snappy]
  private static let options = ServerOptions(maxMessageBytes: 300, accepted: codecs, sent: codecs)

  private var bytes: ArraySlice<UInt8>
  private var head = ServerRequestHead(path: "/a.B/C", authority: "localhost")
  private var method: ServerMethod?
  private var codec = Compression.gzip
  private var body: [UInt8] = []

  init(_ input: [UInt8]) {
    bytes = input[...]
  }

  private mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  private mutating func text() -> [UInt8] {
    let count = Int(byte())
    defer { bytes = bytes.dropFirst(count) }
    return Array(bytes.prefix(count))
  }

  private mutating func string() -> String { String(decoding: text(), as: UTF8.self) }

  /// Runs the call, with the request whole and in pieces.
  mutating func run() throws {
    let pieceBytes = Int(byte()) + 1
    readHead()
    while !bytes.isEmpty, body.count < 1 << 16 { readFrame() }
    checkOrigins()
    var whole = ServerRecorder(head, method, Self.options, body: body)
    let parts = ServerRecorder(head, method, Self.options, body: body, pieceBytes: pieceBytes)
    precondition(whole.messages == parts.messages && whole.error == parts.error, "pieces do not matter")
    precondition(whole.messages.allSatisfy { $0.count <= 300 }, "messages are limited")
    guard let call = whole.call else { return precondition(whole.response.status > 0, "there is a response") }
    if call.request.kind?.clientStreams == false {
      precondition(whole.messages.count <= 1, "one message is expected")
    }
    // The server sends what it has received.
    let metadata = call.request.start.headers
    var messages = whole.error == nil ? whole.messages : []
    if call.request.kind?.serverStreams == false { messages = Array(messages.prefix(1)) }
    try whole.respond(
      ResponseStart(headers: metadata), messages, ResponseEnd(error: whole.error, trailers: metadata))
    checkResponse(whole, call.request, messages)
  }

  private func checkResponse(_ server: ServerRecorder, _ request: ServerRequest, _ messages: [[UInt8]]) {
    let parameters = CallParameters.of(
      request.kind ?? .bidiStreaming, codec: request.start.codec, accepted: Self.codecs)
    let response = server.response.feed(WireProtocols.make(request.protocolName, parameters))
    guard let end = response.end else { preconditionFailure("the client receives the end") }
    let isStream = parameters.kind.serverStreams
    if let error = server.error {
      precondition(end.error?.code == error.code && end.error?.message == error.message, "the error arrives")
    } else if isStream || messages.count == 1 {
      precondition(end.error == nil && response.messages == messages, "the messages arrive")
    }
    precondition(
      end.trailers.fields.count >= request.start.headers.fields.count, "the trailing metadata arrives")
  }

  /// No other origin than those that are allowed may read a response, and no other host is served.
  private func checkOrigins() {
    let rules = CrossOrigin(hosts: ["localhost"], origins: ["https://a"])
    switch rules.decide(head) {
    case .accept(let fields):
      let allowed = fields.first("access-control-allow-origin")
      precondition(allowed.map { $0.lowercased() == "https://a" } ?? head.headers.values("origin").isEmpty)
      precondition(head.authority.lowercased().hasPrefix("localhost"))
    case .respond(let response): precondition(response.head != nil, "there is a response")
    }
  }

  private mutating func readHead() {
    let choice = byte()
    head.headers.add("content-type", Self.types[Int(choice) % Self.types.count])
    head.isHTTP2 = choice & 0x08 == 0
    if choice & 0x10 != 0 {
      method = ServerMethod(kind: CallKind.allCases[Int(byte()) % 4], allowsGET: choice & 0x20 != 0)
    }
    if choice & 0x40 != 0 {
      head = ServerRequestHead(
        method: string(), path: string(), authority: string(), headers: head.headers, isHTTP2: head.isHTTP2)
    }
    if choice & 0x80 != 0 {
      codec = Self.codecs[Int(byte()) % Self.codecs.count]
      for name in ["grpc-encoding", "connect-content-encoding", "content-encoding"] {
        head.headers.add(name, codec.rawValue)
      }
    }
    for _ in 0..<Int(byte() % 16) {
      let field = text().split(separator: UInt8(ascii: ":"), maxSplits: 1).map {
        String(decoding: $0, as: UTF8.self)
      }
      head.headers.add(field.first ?? "", field.count == 2 ? field[1] : "")
    }
  }

  private mutating func readFrame() {
    var frame: [UInt8]
    switch byte() % 5 {
    case 0, 1: frame = envelope(text())
    case 2: frame = envelope((try? codec.compress(text())) ?? [], flags: 1)
    case 3: frame = envelope(text(), flags: byte())
    default: frame = text()
    }
    if head.headers.first("content-type") == Self.types[3] { frame = Array(Base64.encode(frame).utf8) }
    body += frame
  }
}

/// Receives a request at a server, with everything that a client may choose, and responds to it.
func fuzzServer(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = ServerInput([UInt8](UnsafeBufferPointer(start: start, count: count)))
  do {
    try input.run()
  } catch {
    preconditionFailure("a response cannot be encoded: \(error)")
  }
  return 0
}
