/// The media type of a `content-type` header, without its parameters.
struct MediaType: Equatable {
  /// Type and subtype in lower case, such as `application/json`.
  let name: String

  init(_ contentType: String) {
    let isSpace = { (character: Character) in character == " " || character == "\t" }
    let bare = contentType.prefix { $0 != ";" }
    name = String(bare.drop(while: isSpace).prefix { !isSpace($0) }).lowercased()
  }
}

/// The `content-type` of messages in envelopes: base type and codec.
struct ContentType {
  /// The media type before the codec, such as `application/grpc`.
  let base: String
  /// The codec of the messages.
  let codec: CodecName

  /// The header's value.
  var value: String { "\(base)+\(codec.rawValue)" }
}

extension ProtocolName {
  /// The value of `content-type` of a call.
  package func contentType(_ codec: CodecName, _ kind: CallKind) -> String {
    switch self {
    case .grpc: ContentType(base: GRPCProtocol.mediaType, codec: codec).value
    case .grpcWeb: ContentType(base: GRPCWebProtocol.mediaType, codec: codec).value
    case .connect where kind == .unary: ConnectUnaryProtocol.contentType(codec)
    case .connect: ContentType(base: ConnectStreamProtocol.mediaType, codec: codec).value
    }
  }

  /// The values of `content-type` that calls send, of unary ones and of streams.
  package func contentTypes(_ codec: CodecName) -> Set<String> {
    let streams = { (base: String) in ContentType(base: base, codec: codec).value }
    return switch self {
    case .grpc: [streams(GRPCProtocol.mediaType)]
    case .grpcWeb: [streams(GRPCWebProtocol.mediaType)]
    case .connect: [streams(ConnectStreamProtocol.mediaType), ConnectUnaryProtocol.contentType(codec)]
    }
  }
}

extension RPCError {
  /// The error for a response with another content type than its protocol and codec require.
  static func unexpectedContentType(_ got: String?, expected: String, code: StatusCode) -> RPCError {
    let words = got.map { "content-type \($0.debugDescription)" } ?? "no content-type"
    return .violation(code, "the server responded with \(words), expected \(expected.debugDescription)")
  }
}
