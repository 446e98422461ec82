/// The media type of a `content-type` header, without its parameters.
struct MediaType: Equatable {
  /// Type and subtype in lower case, such as `application/json`.
  let name: String

  init(_ contentType: String) {
    let bare = contentType.prefix { $0 != ";" }
    name = String(bare.drop { $0 == " " }.prefix { $0 != " " }).lowercased()
  }
}

/// The `content-type` of messages in envelopes: what is in them, and in which codec.
struct ContentType {
  /// The media type before the codec, such as `application/grpc`.
  let base: String
  /// The codec of the messages.
  let codec: CodecName

  /// The header's value.
  var value: String { "\(base)+\(codec.rawValue)" }
}

extension RPCError {
  /// A response is not of the type that its protocol and codec ask for.
  static func unexpectedContentType(_ got: String?, expected: String, code: StatusCode) -> RPCError {
    let words = got.map { "content-type \($0.debugDescription)" } ?? "no content-type"
    return .violation(code, "the server answered with \(words), expected \(expected.debugDescription)")
  }
}
