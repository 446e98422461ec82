import RPCurlProtobuf
import RPCurlProtocols

/// What a probe found out about a server's connection.
package struct ConnectionFacts: Sendable, Equatable {
  /// The addresses of the server's name, or of the proxy's.
  package var addresses: [String] = []
  /// The address and the port of the connection.
  package var peer: String?
  /// The URL of the proxy, without credentials, if one is used.
  package var proxy: String?
  /// The version of TLS, such as `TLSv1.3`.
  package var tlsVersion: String?
  /// The cipher suite.
  package var cipher: String?
  /// The protocol that TLS negotiated (ALPN), such as `h2`; nil if none.
  package var negotiated: String?
  /// Whether the server asked for a client certificate.
  package var requestsClientCertificate = false
  /// The server's certificate, followed by those of its authorities that the server sent.
  package var certificates: [ServerCertificate] = []
  /// The start of what a server without TLS sent after the start of an HTTP/2 connection; nil if not asked.
  package var firstBytes: [UInt8]?
  /// The error; nil if the connection was made.
  package var error: TransportError?

  /// Makes empty facts.
  package init() {}

  /// Adds the facts of a line of libcurl's log.
  mutating func add(logLine line: Substring) {
    let line = line.drop { $0 == " " }
    if line.hasPrefix("Trying ") {
      let address = line.dropFirst("Trying ".count).prefix { $0 != " " }
      add(address: address.hasSuffix("...") ? address.dropLast(3) : address)
    } else if line.hasPrefix("SSL connection using ") {
      let parts = line.dropFirst("SSL connection using ".count).split(separator: "/")
        .map { String($0.filter { $0 != " " }) }
      tlsVersion = parts.first
      cipher = parts.count > 1 ? parts[1] : nil
    } else if line.hasPrefix("ALPN: server accepted ") {
      negotiated = String(line.dropFirst("ALPN: server accepted ".count))
    } else if line.contains("(IN)"), line.contains("Request CERT") {
      requestsClientCertificate = true
    }
  }

  /// - Parameter address: The address and the port.
  private mutating func add(address: Substring) {
    guard let colon = address.lastIndex(of: ":") else { return }
    let host = address[..<colon].filter { $0 != "[" && $0 != "]" }
    if !addresses.contains(host) { addresses.append(host) }
  }

  /// Whether the server supports HTTP/2.
  var supportsHTTP2: Bool { negotiated == "h2" || startsHTTP2 }

  /// Whether what the server sent is the start of an HTTP/1 response.
  var startsHTTP1: Bool { firstBytes?.starts(with: "HTTP/1.".utf8) == true }

  /// Whether what the server sent is a page without a header, as servers for HTTP/1 respond to a version that they do not
  /// support.
  var startsHTML: Bool {
    let start = String(decoding: (firstBytes ?? []).prefix(40), as: UTF8.self).lowercased().drop(
      while: \.isWhitespace)
    return ["<!doctype html", "<html", "<head"].contains(where: start.hasPrefix)
  }

  /// Whether what the server sent is a part of HTTP/2: a frame of type SETTINGS on stream 0.
  var startsHTTP2: Bool {
    guard let bytes = firstBytes, bytes.count >= 9 else { return false }
    return bytes[3] == 4 && bytes[5...8].allSatisfy { $0 == 0 }
  }
}

extension ConnectionCause {
  /// The cause with what a probe of the connection found out.
  ///
  /// - Parameters:
  ///   - facts: What a probe found out.
  ///   - hasCertificate: Whether the client used a certificate.
  ///   - requiresHTTP2: Whether the request cannot be sent over HTTP/1.1.
  ///   - usesHTTP2: Whether it was sent over HTTP/2 with prior knowledge.
  package func refined(
    by facts: ConnectionFacts, hasCertificate: Bool, requiresHTTP2: Bool, usesHTTP2: Bool = true
  ) -> ConnectionCause {
    let certificate = facts.certificates.first
    switch self {
    case .expired(nil): return .expired(since: certificate?.end)
    case .notYetValid(nil): return .notYetValid(until: certificate?.start)
    case .wrongName(let name, _): return .wrongName(name, names: certificate?.names ?? [])
    case .unknownAuthority(nil):
      guard let certificate, facts.certificates.count == 1, certificate.issuer != certificate.subject else {
        return .unknownAuthority(certificate?.issuer)
      }
      return .incompleteChain(certificate.issuer)
    case .closed, .handshakeCut, .handshakeRefused:
      if facts.requestsClientCertificate {
        return hasCertificate ? .clientCertificateRefused : .clientCertificateRequired
      }
      if self == .handshakeCut, facts.startsHTTP1 || facts.startsHTTP2 { return .serverWithoutTLS }
      guard case .closed(let reason) = self, let bytes = facts.firstBytes else { return self }
      if facts.startsHTTP1 || facts.startsHTML && usesHTTP2 {
        return requiresHTTP2 ? .onlyHTTP1(negotiated: nil) : usesHTTP2 ? .noHTTP2 : self
      }
      // An alert of TLS.
      if bytes.starts(with: [0x15, 3]) { return .serverWithTLS }
      // libcurl's text for a response that is not HTTP/1.1.
      if facts.startsHTTP2, reason.contains("HTTP/0.9") { return .onlyHTTP2 }
      return bytes.isEmpty || facts.startsHTTP2 ? self : .notHTTP(Self.shown(bytes))
    default: return self
    }
  }

  /// The first line of what a server sent, with a dot for each byte that is not printable.
  private static func shown(_ bytes: [UInt8]) -> String {
    let line = bytes.prefix(40).prefix { $0 != 10 && $0 != 13 }
    return String(decoding: line.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
  }
}
