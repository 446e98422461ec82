import RPCurlProtobuf

/// The head of a request that arrived at a server.
package struct ServerRequestHead: Sendable {
  /// The method of HTTP.
  package var method: String
  /// The path with its query, as sent.
  package let path: String
  /// The RPC method in the path; nil if the path is not of the form `/pkg.Service/Method`.
  package let methodName: MethodName?
  /// `:authority` or `Host`; empty if the request has neither.
  package var authority: String
  /// The other header fields.
  package var headers: Headers
  /// Whether the version of HTTP is 2 or newer.
  package var isHTTP2: Bool

  /// Makes a head.
  package init(
    method: String = "POST", path: String, authority: String = "", headers: Headers = Headers(),
    isHTTP2: Bool = true
  ) {
    self.method = method
    self.path = path
    methodName = Self.methodName(in: path)
    self.authority = authority
    self.headers = headers
    self.isHTTP2 = isHTTP2
  }

  private static func methodName(in path: String) -> MethodName? {
    let slash = UInt8(ascii: "/")
    let bytes = path.utf8.prefix { $0 != UInt8(ascii: "?") }
    // Only the slash before the method may follow the first one: a dot also separates names.
    guard bytes.first == slash, bytes.lastIndex(of: slash) != bytes.startIndex else { return nil }
    return MethodName(String(Substring(bytes.dropFirst())))
  }

  /// The query, without its question mark.
  var query: Substring { Substring(path.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()) }
}

/// What the schema says of the method of a request.
package struct ServerMethod: Sendable {
  /// Which directions are streams.
  package var kind: CallKind
  /// Whether it is marked `NO_SIDE_EFFECTS`, so that Connect can call it by GET.
  package var allowsGET: Bool

  /// Makes a description of a method.
  package init(kind: CallKind, allowsGET: Bool = false) {
    self.kind = kind
    self.allowsGET = allowsGET
  }
}

/// What a server accepts and sends.
package struct ServerOptions: Sendable {
  /// The limit for one message of a request, before and after decompression, in bytes.
  package let maxMessageBytes: Int
  /// The compressions of requests that are accepted.
  package let accepted: [Compression]
  /// The compressions of responses, if the client accepts them; empty sends responses uncompressed.
  package let sent: [Compression]
  /// Whether only responses are compressed that arrived compressed themselves, as at a proxy.
  package let followsTarget: Bool
  /// Whether unary calls of Connect must have the version of the protocol.
  package let requiresConnectVersion: Bool
  /// The value of the header that lists the compressions that clients may use.
  let acceptedEncodings: String

  /// Makes options.
  package init(
    maxMessageBytes: Int = 64 << 20, accepted: [Compression] = Compression.readable, sent: [Compression] = [],
    followsTarget: Bool = false, requiresConnectVersion: Bool = false
  ) {
    self.maxMessageBytes = maxMessageBytes
    self.accepted = accepted
    self.sent = sent
    self.followsTarget = followsTarget
    self.requiresConnectVersion = requiresConnectVersion
    acceptedEncodings =
      accepted.isEmpty ? Compression.identity : accepted.map(\.rawValue).joined(separator: ",")
  }
}

/// A call as it arrived, for the chain.
package struct ServerRequest: Sendable {
  /// The protocol of the client.
  package let protocolName: ProtocolName
  /// The method, the codec, and the caller's metadata without the fields of the protocol and of HTTP. The target is empty.
  package var start: RequestStart
  /// The time until the deadline of the call; nil if it has none.
  package var timeout: Duration?
  /// Which directions are streams; nil if the schema does not have the method.
  package let kind: CallKind?
  /// Whether it is a call of Connect by GET.
  package let isGET: Bool
  /// Whether it came over HTTP/2.
  package let isHTTP2: Bool
  /// The content type of the request and of the response.
  let contentType: String
  /// Whether the bodies are in base64.
  let isText: Bool
  /// The message of a call by GET, perhaps compressed.
  var message: [UInt8] = []
  /// The compression of the request that its headers name.
  package internal(set) var compression: Compression?
  /// The lists of the compressions of responses that the client accepts. They are parsed only for a response that is compressed.
  var acceptedEncodings: [String] = []
}

/// The status line and the header fields of a response.
package struct ServerResponseHead: Sendable, Equatable {
  /// The status of HTTP.
  package var status: Int
  /// The header fields.
  package var headers: Headers

  /// Makes a head.
  package init(status: Int = 200, headers: Headers = Headers()) {
    self.status = status
    self.headers = headers
  }
}

/// What ends a response: nothing follows it.
package struct ServerResponse: Sendable, Equatable {
  /// The head; nil if it was sent.
  package var head: ServerResponseHead?
  /// The last bytes of the body. With a head, they are the whole body.
  package var body: [UInt8] = []
  /// The HTTP trailers; nil if there are none.
  package var trailers: Headers?
  /// Why the request is refused, if the response is not one of a protocol.
  package private(set) var refusalText: String?

  /// A response that is not one of a protocol.
  static func refusal(_ status: Int, _ text: String, _ headers: [(String, String)] = []) -> ServerResponse {
    let type = [("content-type", "text/plain; charset=utf-8"), ("x-content-type-options", "nosniff")]
    return ServerResponse(
      head: ServerResponseHead(status: status, headers: Headers(type + headers)),
      body: Array("\(text)\n".utf8), refusalText: text)
  }
}
