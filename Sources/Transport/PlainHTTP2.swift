import CCurl

/// The connections that speak HTTP/2 without TLS, for a libcurl that cannot use one a second time.
///
/// In 7.88 a transfer that asks for prior knowledge fails on a connection that is in use already (“Error in the
/// HTTP2 framing layer”, curl pull request #10643). One that asks for HTTP/2 by upgrade takes the connection as it
/// is, but would upgrade a new one from HTTP/1.1. So the second transfer to a server asks for the latter, and is
/// stopped before its first byte when libcurl made a new connection all the same; then it starts again with prior
/// knowledge and a connection of its own.
struct PlainHTTP2 {
  /// Whether this libcurl is one of those.
  static var cannotReuse: Bool {
    ccurl_version_info().map { $0.pointee.version_num < 0x080000 } ?? false
  }

  /// Whether a transfer is to speak HTTP/2 without TLS.
  static func applies(to url: String, _ options: ConnectionOptions) -> Bool {
    url.hasPrefix("http:") && (options.httpVersion == .http2 || options.httpVersion == .http2PriorKnowledge)
  }

  private var servers: Set<String> = []

  /// Whether there may be a connection for `url`; from now on there may.
  mutating func note(_ url: String, _ options: ConnectionOptions) -> Bool {
    let authority = url.split(separator: "/").dropFirst().first ?? ""
    return !servers.insert("\(authority) \(options.unixSocket ?? "")").inserted
  }
}
