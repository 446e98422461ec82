/// The media type of a `content-type` header, without its parameters.
struct MediaType: Equatable {
  /// Type and subtype in lower case, such as `application/json`.
  let name: String

  init(_ contentType: String) {
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let bare = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }
    name = String(Substring(bare.drop(while: isSpace).prefix { !isSpace($0) })).lowercased()
  }

  /// Whether the text is in UTF-8, or the type has no parameter `charset` (RFC 9110, section 8.3.2).
  static func isUTF8(_ contentType: String) -> Bool {
    contentType.utf8.split(separator: UInt8(ascii: ";")).dropFirst().allSatisfy { parameter in
      let text = String(Substring(parameter)).lowercased().filter { $0 != " " && $0 != "\t" && $0 != "\"" }
      return !text.hasPrefix("charset=") || text == "charset=utf-8"
    }
  }
}

/// The `content-type` of messages in envelopes: base type and codec.
struct ContentType {
  /// What the base type without a codec means for messages in protobuf.
  enum Bare {
    /// Nothing.
    case invalid
    /// The same as with the codec.
    case same
    /// The same, and requests have it: official clients of gRPC send it, and some proxies accept no other.
    case sent
  }

  /// The media type before the codec, such as `application/grpc`.
  let base: String
  let bare: Bare
  /// The codec of the messages.
  let codec: CodecName

  /// The header's value in a request.
  var value: String { bare == .sent && codec == .proto ? base : "\(base)+\(codec.rawValue)" }

  /// The other value that means the same; nil if there is none.
  var other: String? {
    switch bare {
    case .same where codec == .proto: base
    case .sent where codec == .proto: "\(base)+\(codec.rawValue)"
    case .invalid, .same, .sent: nil
    }
  }

  /// Whether a media type is of these messages.
  func matches(_ mediaType: String) -> Bool { mediaType == value || mediaType == other }
}

extension EnvelopeProtocol {
  /// The `content-type` of messages of a codec.
  static func contentType(_ codec: CodecName) -> ContentType {
    ContentType(base: mediaType, bare: bareMediaType, codec: codec)
  }

  /// The `content-type` of messages of a codec in base64; nil if the protocol has none.
  static func textContentType(_ codec: CodecName) -> ContentType? {
    textMediaType.map { ContentType(base: $0, bare: .same, codec: codec) }
  }

  /// The values of `content-type` that a caller may choose in place of the protocol's.
  static func otherContentTypes(_ codec: CodecName) -> [String] {
    let text = textContentType(codec)
    return [contentType(codec).other, text?.value, text?.other].compactMap(\.self)
  }
}

extension ProtocolName {
  /// The value of `content-type` of a call.
  package func contentType(_ codec: CodecName, _ kind: CallKind) -> String {
    self == .connect && kind == .unary
      ? ConnectUnaryProtocol.contentType(codec) : envelopes.contentType(codec).value
  }

  /// The values of `content-type` that calls send, of unary ones and of streams, and the others that a caller may choose in
  /// their place.
  package func contentTypes(_ codec: CodecName) -> (sent: Set<String>, others: [String]) {
    let unary = self == .connect ? [ConnectUnaryProtocol.contentType(codec)] : []
    return (Set([envelopes.contentType(codec).value] + unary), envelopes.otherContentTypes(codec))
  }

  /// Whether a value of `content-type` is of a body in base64.
  package func isText(_ contentType: String, _ codec: CodecName) -> Bool {
    envelopes.textContentType(codec)?.matches(contentType) == true
  }

  /// Whether values of header fields contain only printable ASCII.
  package var requiresASCII: Bool { envelopes.requiresASCII }

  /// The protocol of calls whose messages travel in envelopes.
  var envelopes: any EnvelopeProtocol.Type {
    switch self {
    case .grpc: GRPCProtocol.self
    case .grpcWeb: GRPCWebProtocol.self
    case .connect: ConnectStreamProtocol.self
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
