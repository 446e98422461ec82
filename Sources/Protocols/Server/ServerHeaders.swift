/// Which header fields are metadata of a call at a server.
enum ServerHeaders {
  /// Fields of HTTP and of the protocols, of any of them: the other side of a proxy has its own.
  private static let own = HeaderSyntax.reserved.union([
    "accept", "accept-encoding", "alt-svc", "connect-accept-encoding", "connect-protocol-version",
    "connect-timeout-ms", "dnt", "expect", "grpc-accept-encoding", "grpc-message", "grpc-status",
    "grpc-status-details-bin", "grpc-timeout", "host", "http2-settings", "origin", "proxy-authenticate",
    "proxy-authorization", "referer", "trailer", "x-grpc-web",
  ])
  /// Browsers describe themselves and the page by such fields.
  private static let ofBrowsers = "sec-"
  /// Which pages of browsers may read a response is decided by each server for itself.
  private static let crossOrigin = "access-control-"

  /// The fields that are metadata, and valid.
  static func metadata(_ headers: Headers) -> Headers {
    var metadata = headers
    // The cookies of a browser are those of any server of its host, not what a page adds to the call.
    let isOfPage = headers.first("origin") != nil || headers.first("sec-fetch-site") != nil
    metadata.removeAll { field in
      own.contains(field.name) || field.name.hasPrefix(ofBrowsers)
        || isOfPage && field.name == "cookie" || field.name.hasPrefix(crossOrigin)
        || !HeaderSyntax.isName(field.name)
        || !HeaderSyntax.isValue(field.value)
    }
    return metadata
  }

  /// The leading metadata of a response. The headers of a response without messages (trailers-only) are also those of its end.
  static func leading(_ start: ResponseStart?) -> Headers {
    guard let start, start.headers.first("grpc-status") == nil else { return Headers() }
    return metadata(start.headers)
  }
}

extension ServerRequest {
  /// Reads the compressions of the request and for the response, which `fields` name.
  ///
  /// - Throws: `unimplemented` if the compression of the request is not accepted (gRPC compression, "Error handling").
  mutating func readCompression(
    _ encoding: String?, accepted: [String], _ options: ServerOptions
  ) throws(RPCError) {
    if let name = encoding?.lowercased(), !name.isEmpty, name != Compression.identity {
      compression = Compression(rawValue: name)
      guard let compression, options.accepted.contains(compression) else {
        throw .violation(
          .unimplemented,
          "the compression \(name.debugDescription) is not supported; supported are \(options.acceptedEncodings)"
        )
      }
    }
    acceptedEncodings = accepted
  }

  /// The compressions of responses that the client accepts and the server has, in the order of the client.
  private func compressions(_ options: ServerOptions) -> [Compression] {
    guard !options.sent.isEmpty else { return [] }
    // Without the field, a client accepts the encoding of its request (Connect protocol, "Unary-Request").
    let names =
      acceptedEncodings.isEmpty
      ? [compression?.rawValue ?? Compression.identity] : acceptedEncodings.flatMap(Self.encodings)
    return names.compactMap { Compression(rawValue: $0) }.filter(options.sent.contains)
  }

  /// The compression of a response.
  func responseCompression(_ start: ResponseStart?, _ options: ServerOptions) -> Compression? {
    guard options.followsTarget else { return compressions(options).first }
    let fields = ["grpc-encoding", "connect-content-encoding", "content-encoding"]
    guard let name = fields.lazy.compactMap({ start?.headers.first($0) }).first?.lowercased(),
      name != Compression.identity
    else { return nil }
    let compressions = compressions(options)
    return compressions.first { $0.rawValue == name } ?? compressions.first
  }

  /// The names in a list of encodings, without those of weight zero (RFC 9110, section 12.5.3).
  private static func encodings(_ list: String) -> [String] {
    list.lowercased().utf8.split(separator: UInt8(ascii: ",")).compactMap { item in
      let parts = item.split(separator: UInt8(ascii: ";")).map { HeaderSyntax.trimmed(Substring($0)) }
      let isRefused = parts.dropFirst().contains { part in
        part.hasPrefix("q=0") && part.dropFirst(3).allSatisfy { $0 == "0" || $0 == "." }
      }
      return isRefused ? nil : parts.first
    }
  }

  /// Reads the timeout: the shortest, if there are several. Clients whose deadline has passed send zero.
  ///
  /// - Throws: `invalid_argument` if it is not a timeout.
  mutating func readTimeout(_ headers: Headers) throws(RPCError) {
    let (name, syntax) = protocolName.timeoutHeader
    for value in headers.values(name) {
      guard let timeout = protocolName.timeout(value, minimum: 0) else {
        throw .violation(.invalidArgument, "the value of \(name) is not a timeout: \(syntax)")
      }
      self.timeout = min(self.timeout ?? timeout, timeout)
    }
  }
}
