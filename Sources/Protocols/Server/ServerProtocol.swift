import RPCurlProtobuf

/// One call that arrives, in one protocol: decodes HTTP requests for the chain, and encodes its responses as HTTP.
///
/// It is the server's half of ``WireProtocol``: it holds the state of one call and does no I/O. The two directions share no
/// mutable state.
///
/// After an error of a request, `end` encodes the response that reports it to the client.
package protocol ServerProtocol: AnyObject {
  /// The call.
  var request: ServerRequest { get }

  /// Receives the next part of a piece of the request's body: at most one message.
  ///
  /// - Parameters:
  ///   - body: The piece, of any size.
  ///   - offset: Where the part starts, in bytes; moved to its end.
  ///   - deliver: Receives the message, decompressed; its bytes are valid during this call only.
  /// - Throws: ``RPCError`` if the request violates the protocol, or a message is too large. The rest of it is ignored.
  func receive(body: RawSpan, from offset: inout Int, _ deliver: (RawSpan) -> Void) throws(RPCError)

  /// Receives the end of the request's body. Where exactly one message is allowed, it is delivered now.
  ///
  /// - Throws: ``RPCError`` if the request is incomplete.
  func receiveEnd(_ deliver: (RawSpan) -> Void) throws(RPCError)

  /// Receives the start of the response from the chain, which may be omitted.
  ///
  /// - Returns: The head to send now; nil if it depends on what follows.
  func respond(_ start: ResponseStart) -> ServerResponseHead?

  /// Appends one message to the response's body, compressed if the client and the options allow it.
  ///
  /// - Returns: The head to send before the body, if it was not sent.
  func encode(_ message: RawSpan, into body: inout [UInt8]) throws(RPCError) -> ServerResponseHead?

  /// Encodes the end of the response.
  func end(_ end: ResponseEnd) -> ServerResponse
}

/// A request, after its head was read.
package enum ServerArrival {
  /// A call.
  case call(any ServerProtocol)
  /// Not a call, or one that fails: the response to send. The body of the request does not matter.
  case refusal(ServerResponse)
}

/// The server's halves of the protocols.
package enum ServerProtocols {
  /// Chooses the protocol of a request by its content type, its HTTP method and its query.
  ///
  /// - Parameters:
  ///   - head: The head of the request.
  ///   - method: What the schema says of its method; nil if the schema does not have it. Then any number of messages may
  ///     arrive.
  ///   - options: What the server accepts and sends.
  package static func receive(
    _ head: ServerRequestHead, _ method: ServerMethod?, _ options: ServerOptions
  ) -> ServerArrival {
    guard let name = head.methodName else {
      return .refusal(.refusal(404, "The path is not of the form /package.Service/Method."))
    }
    let kind = method?.kind
    let allowsGET = kind == .unary && method?.allowsGET == true
    guard head.method == "POST" || head.method == "GET" && allowsGET else {
      let allowed = allowsGET ? "GET, POST" : "POST"
      return .refusal(.refusal(405, "The method of HTTP is not allowed.", [("allow", allowed)]))
    }
    guard let type = RequestType(head), kind == nil || type.isUnary.map({ $0 == (kind == .unary) }) != false
    else {
      let types = [("accept-post", RequestType.accepted(kind))]
      return .refusal(.refusal(415, "The content-type is not supported.", types))
    }
    guard type.protocolName != .grpc || head.isHTTP2 else {
      return .refusal(.refusal(505, "gRPC requires HTTP/2."))
    }
    let start = RequestStart(
      method: name, target: "", headers: ServerHeaders.metadata(head.headers), codec: type.codec)
    let request = ServerRequest(
      protocolName: type.protocolName, start: start, kind: type.isUnary == true ? .unary : kind,
      isGET: head.method == "GET", isHTTP2: head.isHTTP2, contentType: type.value, isText: type.isText)
    return type.isUnary == true
      ? ConnectUnaryServer.receive(head, request, isKnown: kind != nil, options)
      : EnvelopeServer.receive(head, request, type.protocolName.envelopes, options)
  }
}

/// The protocol and the codec that a request names.
private struct RequestType {
  let protocolName: ProtocolName
  let codec: CodecName
  /// The media type.
  let value: String
  var isText = false
  /// Whether the method must be unary; nil if any method can be called.
  var isUnary: Bool?

  init?(_ head: ServerRequestHead) {
    if head.method == "GET" {
      let codec = ConnectGet.parameters(of: head.query)["encoding"] ?? []
      self.init(media: "application/\(String(decoding: codec, as: UTF8.self))")
      guard isUnary == true else { return nil }
    } else {
      guard let type = head.headers.first(HeaderSyntax.contentType) else { return nil }
      if let known = Self.known[type] {
        self = known
        return
      }
      guard MediaType.isUTF8(type) else { return nil }
      self.init(media: MediaType(type).name)
    }
  }

  /// The types of which clients send no other form, which need not be parsed for each call.
  private static let known = Dictionary(
    uniqueKeysWithValues: media(nil).compactMap { media in RequestType(media: media).map { (media, $0) } })

  private init?(media: String) {
    value = media
    if let codec = CodecName.allCases.first(where: { media == ConnectUnaryProtocol.contentType($0) }) {
      (protocolName, self.codec, isUnary) = (.connect, codec, true)
      return
    }
    let plus = media.utf8.firstIndex(of: UInt8(ascii: "+"))
    let base = String(media[..<(plus ?? media.endIndex)])
    guard let name = ProtocolName.allCases.first(where: { $0.envelopes.bases.contains(base) }),
      let known = plus.map({ CodecName(rawValue: String(media[media.utf8.index(after: $0)...])) })
        ?? (name.envelopes.bareMediaType == .invalid ? nil : .proto)
    else { return nil }
    (protocolName, self.codec) = (name, known)
    isText = name.envelopes.textMediaType == base
    isUnary = name == .connect ? false : nil
  }

  /// The media types of the methods of a kind, for `accept-post`.
  static func accepted(_ kind: CallKind?) -> String { media(kind).sorted().joined(separator: ", ") }

  private static func media(_ kind: CallKind?) -> [String] {
    let unary = kind == .unary || kind == nil ? CodecName.allCases.map(ConnectUnaryProtocol.contentType) : []
    let envelopes = ProtocolName.allCases.filter { $0 != .connect || kind != .unary }.flatMap { name in
      name.envelopes.bases.flatMap { base in
        (name.envelopes.bareMediaType == .invalid ? [] : [base])
          + CodecName.allCases.map { "\(base)+\($0.rawValue)" }
      }
    }
    return unary + envelopes
  }
}

extension EnvelopeProtocol {
  /// The media types before the codec.
  fileprivate static var bases: [String] { [mediaType] + [textMediaType].compactMap(\.self) }
}
