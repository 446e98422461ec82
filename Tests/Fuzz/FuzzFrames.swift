import RPCurlProtocolsSupport

@testable import RPCurlProtocols

/// A response of a server, as a list of choices: a mutation changes one frame, and not all that follow.
struct FrameInput {
  private var bytes: ArraySlice<UInt8>
  private let wire: UInt8
  private let codec: Compression
  private var response = HTTPResponse()

  private static let codecs: [Compression] = [.gzip, .deflate, .br, .zstd, .snappy]
  private static let contentTypes = [
    "application/grpc+proto", "application/grpc-web+proto", "application/connect+proto", "application/proto",
    "application/grpc-web-text+proto", "application/json", "text/html",
  ]
  private static let limit = 300

  init(_ input: [UInt8]) {
    bytes = input[...]
    wire = input.first.map { $0 % 4 } ?? 0
    bytes = bytes.dropFirst()
    codec = Self.codecs[Int(input.dropFirst().first ?? 0) % Self.codecs.count]
  }

  private mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  private mutating func text() -> [UInt8] {
    let count = Int(byte())
    defer { bytes = bytes.dropFirst(count) }
    return Array(bytes.prefix(count))
  }

  /// Runs the call, with the response whole and in pieces.
  mutating func run() {
    _ = byte()
    let kind = CallKind.allCases[Int(byte()) % CallKind.allCases.count]
    let pieceBytes = Int(byte()) + 1
    head()
    while !bytes.isEmpty, response.body.count < 1 << 16 { frame() }
    let whole = record(kind, pieceBytes: .max)
    let parts = record(kind, pieceBytes: pieceBytes)
    precondition(whole.events == parts.events, "pieces do not matter")
    precondition(whole.end != nil, "a call ends once, and nothing follows")
    precondition(whole.messages.allSatisfy { $0.count <= Self.limit }, "messages are limited")
    if kind == .unary || kind == .clientStreaming {
      precondition(whole.messages.count <= 1, "a single response has one message")
    }
  }

  private func record(_ kind: CallKind, pieceBytes: Int) -> ResponseRecorder {
    let parameters = CallParameters.of(kind, maxMessageBytes: Self.limit, accepted: Self.codecs)
    let call: any WireProtocol =
      switch wire {
      case 0: WireProtocols.make(.grpc, parameters)
      case 1: WireProtocols.make(.grpcWeb, parameters)
      case 2: EnvelopeCall<ConnectStreamProtocol>(parameters)
      default: ConnectUnaryProtocol(parameters)
      }
    return response.feed(call, pieceBytes: pieceBytes)
  }

  private mutating func head() {
    let choice = byte()
    response.status = choice & 0x80 == 0 ? 200 : 200 + Int(byte()) * 2
    // The protocol's own, unless the input asks for another one.
    let type = choice & 0x40 == 0 ? Int(wire) : Int(byte()) % Self.contentTypes.count
    response.headers = [("content-type", Self.contentTypes[type])]
    guard choice & 0x20 == 0 else { return }
    for name in ["grpc-encoding", "connect-content-encoding", "content-encoding"] {
      response.headers.append((name, codec.rawValue))
    }
  }

  private mutating func frame() {
    switch byte() % 10 {
    case 0, 1: response.body += envelope(text())
    case 2, 3: response.body += envelope((try? codec.compress(text())) ?? [], flags: 1)
    case 4: response.body += envelope(text(), flags: byte())
    // The last frame of gRPC-Web, and that of Connect, perhaps compressed.
    case 5: response.body += envelope(text(), flags: 0x80)
    case 6: response.body += envelope((try? codec.compress(text())) ?? [], flags: wire == 1 ? 0x81 : 0x03)
    case 7: response.body += envelope(text(), flags: 0x02)
    case 8: response.body += text()
    default:
      let field = text().split(separator: UInt8(ascii: ":"), maxSplits: 1).map {
        String(decoding: $0, as: UTF8.self)
      }
      response.trailers.append((field.first ?? "grpc-status", field.count == 2 ? field[1] : "0"))
    }
  }
}

/// Reads the response of a call: frames in sequence, with everything that a server may choose.
func fuzzFrames(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = FrameInput([UInt8](UnsafeBufferPointer(start: start, count: count)))
  input.run()
  return 0
}
