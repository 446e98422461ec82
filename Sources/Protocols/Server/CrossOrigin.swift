/// Which requests of browsers a server accepts.
///
/// A page of any site can make a browser send requests to a server on the user's machine. So a request must name the server as it
/// is known (a page whose name resolves to the server's address does not), and a request for a page of another origin needs that
/// origin's permission. There are no credentials of the browser in these requests: the response never allows them.
package struct CrossOrigin: Sendable {
  /// What to do with a request.
  package enum Decision: Sendable, Equatable {
    /// Process it, and add these fields to the head of the response.
    case accept(Headers)
    /// Send this response instead.
    case respond(ServerResponse)
  }

  /// The value of `--allow-origin` for all origins.
  package static let anyOrigin = "*"
  /// The time for which a browser may keep the permission, in seconds: the longest of Chromium.
  private static let maxAge = "7200"

  /// The hosts that requests may name, in lower case, without ports and brackets; nil if any.
  private let hosts: Set<String>?
  /// Whether requests may name any IP address.
  private let acceptsAddresses: Bool
  /// The allowed origins, as browsers write them.
  private let origins: Set<String>

  /// Makes the rules of a server.
  ///
  /// - Parameters:
  ///   - hosts: The names and addresses of the server, with or without a port. With nil, requests may name any: no page reaches
  ///     a Unix socket.
  ///   - acceptsAddresses: Whether requests may name any IP address: a server that listens at all addresses of its
  ///     machine has no list of them.
  ///   - origins: The origins of the pages that may use it, such as `https://example.com:8080`; `*` allows all.
  package init(hosts: [String]?, acceptsAddresses: Bool = false, origins: some Sequence<String> = []) {
    self.acceptsAddresses = acceptsAddresses
    self.hosts = hosts.map { Set($0.compactMap { Origin.split($0)?.host }) }
    self.origins = Set(origins.map { Self.normalized($0) ?? $0.lowercased() })
  }

  /// An origin as browsers write it, without the default port and without a slash; nil if the text is not the origin of a page.
  package static func normalized(_ text: String) -> String? {
    guard text != anyOrigin else { return text }
    let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
    let isAllowed = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#@\\,".utf8.contains($0) }
    guard isAllowed, parts.count == 3 || parts.count == 4 && parts[3].isEmpty, parts[0].count > 1,
      parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].isEmpty
    else { return nil }
    let written = "\(parts[0])//\(parts[2])"
    // Extensions of browsers have origins such as `chrome-extension://ID`.
    guard parts[0] == "http:" || parts[0] == "https:" else { return written }
    guard let origin = Origin(url: written) else { return nil }
    let suffix = origin.port == (origin.scheme == "https" ? 443 : 80) ? ":\(origin.port)" : ""
    return "\(origin.scheme)://\("\(origin)".dropLast(suffix.utf8.count))"
  }

  /// Decides about a request by its head.
  package func decide(_ head: ServerRequestHead) -> Decision {
    let named = [head.authority] + head.headers.values("host")
    guard named.allSatisfy(isName) else {
      return .respond(
        .refusal(421, "The host of the request is not a name of this server; --listen-name adds one."))
    }
    guard isCrossOrigin(head) else { return .accept(Headers()) }
    guard let origin = origin(of: head) else {
      return .respond(.refusal(403, "The origin of the request is not allowed; --allow-origin allows it."))
    }
    var fields = Headers([("access-control-allow-origin", origin), ("vary", "origin")])
    guard head.method == "OPTIONS", head.headers.first("access-control-request-method") != nil else {
      // Metadata of any name, and the status of gRPC-Web. Credentials are not part of it.
      fields.add("access-control-expose-headers", "*")
      return .accept(fields)
    }
    return .respond(preflight(head.headers, fields))
  }

  private func isName(_ authority: String) -> Bool {
    guard let hosts else { return true }
    guard let host = Origin.split(authority)?.host else { return false }
    return hosts.contains(host) || acceptsAddresses && Self.isAddress(host)
  }

  /// Whether a host is an IP address: browsers take no name with only digits and dots.
  private static func isAddress(_ host: String) -> Bool {
    let isIPv4 = host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    return host.contains(":") || !host.isEmpty && isIPv4
  }

  /// Whether a page of another origin may have caused the request. All requests with an origin count: this server has no pages.
  ///
  /// A page can make a browser send a GET without an origin, as for an image. Then `sec-fetch-site` or `referer` names its site;
  /// `none` is the address that the user has typed.
  private func isCrossOrigin(_ head: ServerRequestHead) -> Bool {
    let site = head.headers.first("sec-fetch-site")
    return head.headers.first("origin") != nil
      || site.map { $0 != "none" } ?? (head.headers.first("referer") != nil)
  }

  /// The origin of a request as the response names it; nil if it is not allowed.
  private func origin(of head: ServerRequestHead) -> String? {
    let sent = head.headers.values("origin")
    guard sent.count <= 1, sent.first.map(HeaderSyntax.isASCIIValue) != false else { return nil }
    if origins.contains(Self.anyOrigin) { return Self.anyOrigin }
    // The origin of a referrer is what precedes its path (RFC 9110, section 10.1.3).
    let referrer = sent.isEmpty ? head.headers.first("referer").flatMap(Self.origin(ofReferrer:)) : nil
    guard let origin = sent.first ?? referrer, origins.contains(origin.lowercased()) else { return nil }
    return origin
  }

  private static func origin(ofReferrer url: String) -> String? {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return parts.count >= 3 && parts[1].isEmpty ? "\(parts[0])//\(parts[2])" : nil
  }

  /// The response to the question whether a request is allowed (Fetch standard, "CORS-preflight request").
  private func preflight(_ request: Headers, _ fields: Headers) -> ServerResponse {
    var fields = fields
    fields.add("access-control-allow-methods", "GET, POST")
    // `*` does not include authorization.
    let names = request.values("access-control-request-headers").joined(separator: ",")
    if !names.isEmpty,
      names.split(separator: ",").allSatisfy({ HeaderSyntax.isName(HeaderSyntax.trimmed($0)) })
    {
      fields.add("access-control-allow-headers", names)
    }
    // A page of the Internet asks this of a server in a private network.
    if request.first("access-control-request-private-network") == "true" {
      fields.add("access-control-allow-private-network", "true")
    }
    fields.add("access-control-max-age", Self.maxAge)
    return ServerResponse(head: ServerResponseHead(status: 204, headers: fields))
  }
}
