import RPCurlProtobuf

/// An HTTP request that starts a call. Its body follows separately, as it is produced.
package struct HTTPRequest: Sendable, Equatable {
  /// The HTTP method: `POST`, or `GET` for a Connect call without side effects.
  package var method: String
  /// The absolute URL.
  package var url: String
  /// The fields to send, in order.
  package var headers: Headers
  /// Whether the response ends with its trailers, even when its body has reached its `content-length`.
  package var wantsTrailers = false
  /// Whether the request must not be sent over HTTP/1.1.
  package var requiresHTTP2 = false

  /// Makes a request.
  package init(method: String = "POST", url: String, headers: Headers, wantsTrailers: Bool = false) {
    self.method = method
    self.url = url
    self.headers = headers
    self.wantsTrailers = wantsTrailers
  }
}

extension HTTPRequest {
  /// The request that starts a call: the protocol's fields, then the caller's.
  ///
  /// - Parameters:
  ///   - requiresASCII: Whether values of the caller's fields contain only printable ASCII.
  ///   - otherContentType: The value of `content-type` that the caller may choose in place of the protocol's.
  init(
    _ start: RequestStart, method: String = "POST", query: String = "", fields: [(String, String)],
    requiresASCII: Bool = false, otherContentType: @autoclosure () -> String? = nil
  ) throws(RPCError) {
    let contentType = fields.first { $0.0 == HeaderSyntax.contentType }?.1
    try HeaderSyntax.check(start.headers, requiresASCII: requiresASCII) {
      $0 == contentType || $0 == otherContentType()
    }
    try start.checkCredentials()
    var headers = start.headers
    let chosen = headers.first(HeaderSyntax.contentType)
    headers.remove(HeaderSyntax.contentType)
    if let chosen, chosen != contentType { headers.add(HeaderSyntax.contentType, chosen) }
    self.init(
      method: method, url: "\(start.target)/\(start.method)\(query)", headers: headers.merged(over: fields))
  }
}

extension RequestStart {
  /// Throws if an interceptor changed the target after another added credentials for the old one.
  fileprivate func checkCredentials() throws(RPCError) {
    guard let credentials, credentials.headerNames.contains(where: { headers.first($0) != nil }) else {
      return
    }
    let origin = Origin(url: target)
    guard origin != credentials.origin else { return }
    throw RPCError(
      .failedPrecondition,
      "the request contains credentials for \(credentials.origin), but goes to \(origin?.description ?? target)",
      origin: .client)
  }
}

/// The syntax of header fields (RFC 9110, section 5).
package enum HeaderSyntax {
  /// Fields that frame the HTTP message or concern only its connection. Only the transport sets them: HTTP/2 forbids most of
  /// them (RFC 9113, section 8.2.2), and libcurl sends a request without those.
  package static let framing: Set<String> = [
    "connection", "content-length", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
  ]

  /// The field that the protocol and the codec determine.
  package static let contentType = "content-type"

  /// The field that announces trailers.
  private static let transferCodings = "te"

  /// Fields that name the compression of the request's messages or body.
  private static let encodings: Set<String> = [
    "connect-content-encoding", "content-encoding", "grpc-encoding",
  ]

  /// Fields of a request that an interceptor cannot change.
  package static let reserved = framing.union(encodings).union([contentType, transferCodings])

  /// Why a request cannot have a field, and what to do instead; nil if it can. The rules of `content-type` depend on the
  /// protocol.
  package static func refusal(of name: String, value: String) -> (why: String, hint: String?)? {
    if framing.contains(name) {
      return ("the header \(name) is set by the transport and cannot be changed", nil)
    }
    // libcurl sends no other value over HTTP/2 (RFC 9113, section 8.2.2).
    if name == transferCodings, value != "trailers" {
      return ("the header te can have only the value trailers", nil)
    }
    if encodings.contains(name) {
      return (
        "the header \(name) is set by the compression of the request and cannot be changed",
        "use --compression gzip"
      )
    }
    if name == "host", !TargetSyntax.isHost(value) {
      return ("the value of host is not a host with an optional port", "write HOST or HOST:PORT")
    }
    return nil
  }

  /// Why a request cannot have several fields of a name; nil if it has not. libcurl sends only the first `host`.
  package static func refusal(ofRepeated headers: Headers) -> String? {
    headers.values("host").count > 1 ? "the header host is given more than once" : nil
  }

  /// Whether `name` is a token that a caller may set.
  package static func isName(_ name: some StringProtocol) -> Bool {
    !name.isEmpty && allBytes(of: String(name), isTokenByte)
  }

  /// Whether a byte may be part of a token (RFC 9110, section 5.6.2).
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Whether `value` is valid: no control character except tab, so that it cannot end its line.
  package static func isValue(_ value: some StringProtocol) -> Bool {
    allBytes(of: String(value)) { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  }

  /// Every header of every call passes this: not generic, so that it is compiled for strings.
  private static func allBytes(of text: String, _ isAllowed: (UInt8) -> Bool) -> Bool {
    var text = text
    return text.withUTF8 { $0.allSatisfy(isAllowed) }
  }

  /// The text of received bytes. If they are not UTF-8, they are ISO-8859-1, as in older HTTP, so that no byte is lost.
  package static func text(_ bytes: RawSpan) -> String {
    // Not `String(validating:as:)`, which is generic code of the standard library: each header of each call passes this.
    bytes.withUnsafeBytes { bytes in
      UTF8Validation.isValid(bytes)
        ? String(decoding: bytes, as: UTF8.self)
        : String(String.UnicodeScalarView(bytes.lazy.map { UnicodeScalar($0) }))
    }
  }

  /// Whether `value` contains only printable ASCII, as gRPC requires (PROTOCOL-HTTP2, "ASCII-Value").
  package static func isASCIIValue(_ value: some StringProtocol) -> Bool {
    allBytes(of: String(value)) { $0 >= 0x20 && $0 <= 0x7E }
  }

  /// Why the value of a header is not sent with gRPC, and what to send instead.
  package static func notASCII(_ name: String) -> (why: String, hint: String) {
    (
      "the value of \(name) contains bytes other than printable ASCII, which gRPC forbids",
      "percent-encode it, or send it as base64 in \(name)-bin"
    )
  }

  /// The value without surrounding blanks.
  package static func trimmed(_ value: some StringProtocol) -> String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let all = Substring(value).utf8
    guard let first = all.first, let end = all.last, isBlank(first) || isBlank(end) else {
      return String(value)
    }
    let bytes = all.drop(while: isBlank)
    guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return "" }
    return String(decoding: bytes[...last], as: UTF8.self)
  }

  /// Throws if a field of `headers` is invalid.
  ///
  /// Values come from interceptors and plugins as well as from the command line, so this is checked where the
  /// request is made.
  ///
  /// - Parameters:
  ///   - headers: The fields of the caller.
  ///   - requiresASCII: Whether values contain only printable ASCII.
  ///   - isContentType: Whether the caller's `content-type` may have a value.
  static func check(
    _ headers: Headers, requiresASCII: Bool, isContentType: (String) -> Bool
  ) throws(RPCError) {
    for field in headers.fields {
      guard isName(field.name) else {
        throw RPCError(
          .invalidArgument, "\(field.name.debugDescription) is not a valid header name", origin: .request)
      }
      if let refusal = refusal(of: field.name, value: field.value) {
        throw RPCError(.invalidArgument, refusal.why, origin: .request)
      }
      guard field.name != Self.contentType || isContentType(field.value) else {
        throw RPCError(
          .invalidArgument, "the header \(field.name) can be set only by the transport", origin: .request)
      }
      guard requiresASCII ? isASCIIValue(field.value) : isValue(field.value) else {
        guard requiresASCII, isValue(field.value) else {
          throw RPCError(
            .invalidArgument, "the value of the header \(field.name) contains a control character",
            origin: .request)
        }
        let (why, hint) = notASCII(field.name)
        throw RPCError(.invalidArgument, "\(why): \(hint)", origin: .request)
      }
    }
    if let refusal = refusal(ofRepeated: headers) {
      throw RPCError(.invalidArgument, refusal, origin: .request)
    }
  }
}
