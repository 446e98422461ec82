import RPCurlProtobuf

/// Why a connection to a server cannot be made or used, as far as it is known.
public enum ConnectionCause: Sendable, Equatable {
  // Address

  /// The name of the host cannot be resolved.
  case unknownHost(String)
  /// No server listens on the port.
  case refused(server: String)
  /// The operating system has no route to the server, or another reason not to connect.
  case unreachable(server: String, reason: String)
  /// There was no connection within the time limit.
  case connectTimeout(server: String, Duration)
  /// The TLS handshake was not complete within the time limit.
  case handshakeTimeout(Duration)
  /// The Unix socket cannot be connected to.
  case socket(path: String, reason: String)

  // Proxy

  /// The name of the proxy cannot be resolved.
  case unknownProxy
  /// The proxy cannot be connected to, or does not connect to the server.
  case proxyFailed(String)
  /// The TLS handshake with the proxy fails for a reason that stays.
  case proxyUnusable(String)
  /// The proxy refused to connect to the server, with this HTTP status.
  case proxyRefused(server: String, status: Int)
  /// The proxy requires a user name and a password, or other ones.
  case proxyRequiresCredentials

  // The server's certificate

  /// It has expired.
  case expired(since: String?)
  /// It is not valid yet.
  case notYetValid(until: String?)
  /// It is for other names.
  case wrongName(String, names: [String])
  /// Its authority is not trusted.
  case unknownAuthority(String?)
  /// Its authority is not trusted, and the server has sent no certificate of that authority.
  case incompleteChain(String)
  /// It is signed by itself, and not trusted.
  case selfSigned
  /// It is not accepted for another reason.
  case rejectedCertificate(String)

  // Files for TLS

  /// This machine has no certificate authorities.
  case noAuthorities
  /// The file of authorities contains no certificate.
  case invalidAuthorities(file: String)
  /// The file or the directory of authorities cannot be read.
  case unreadableAuthorities(file: String, reason: String)
  /// The file has no client certificate in the expected format.
  case invalidClientCertificate(file: String)
  /// The passphrase does not decrypt the key, or none was given.
  case wrongPassphrase(file: String)
  /// The client certificate has no key: none was given, and its file contains none.
  case missingKey(certificate: String)
  /// The key cannot be read, or does not belong to the client certificate.
  case wrongKey(file: String)

  // Handshake

  /// The server requires a client certificate.
  case clientCertificateRequired
  /// The server refused the client certificate.
  case clientCertificateRefused
  /// The server does not use TLS on this port.
  case serverWithoutTLS
  /// The server uses TLS on this port.
  case serverWithTLS
  /// The client and the server have no version of TLS in common.
  case noCommonTLSVersion
  /// The server has no certificate for the name of the handshake.
  case unknownServerName(String)
  /// The server refused the TLS handshake.
  case handshakeRefused(String)
  /// The connection was closed in the TLS handshake.
  case handshakeCut

  // HTTP

  /// The server supports only HTTP/1; the text is the protocol that TLS negotiated, if any.
  case onlyHTTP1(negotiated: String?)
  /// The server refused the TLS handshake, in which only HTTP/2 was offered, or responded with HTTP/1 to a request over HTTP/2.
  case noHTTP2
  /// The server supports only HTTP/2, and the request used HTTP/1.1.
  case onlyHTTP2
  /// The server does not use HTTP: the start of what it sent.
  case notHTTP(String)
  /// The server closed the connection before it responded, in libcurl's words.
  case closed(String)
  /// The server refused the request without processing it (RFC 9113, section 8.7); the text is why it was not repeated.
  case refusedRequest(String)
  /// There was no response, in libcurl's words, from a server that responds to others: this version of libcurl can lose it.
  case lost(String, library: String)

  /// The layer that failed.
  public enum Layer: Sendable {
    /// The connection to the server, or its use.
    case connection
    /// The connection to the proxy, or from it.
    case proxy
    /// TLS.
    case tls
  }

  /// The layer that failed, which decides the exit code.
  public var layer: Layer {
    switch self {
    case .unknownHost, .refused, .unreachable, .connectTimeout, .handshakeTimeout, .socket, .serverWithTLS,
      .onlyHTTP1, .noHTTP2, .onlyHTTP2, .notHTTP, .closed, .refusedRequest, .lost:
      .connection
    case .unknownProxy, .proxyFailed, .proxyUnusable, .proxyRefused, .proxyRequiresCredentials: .proxy
    case .expired, .notYetValid, .wrongName, .unknownAuthority, .incompleteChain, .selfSigned,
      .rejectedCertificate,
      .noAuthorities, .invalidAuthorities, .unreadableAuthorities, .invalidClientCertificate, .missingKey,
      .wrongKey, .wrongPassphrase,
      .clientCertificateRequired, .clientCertificateRefused, .serverWithoutTLS, .noCommonTLSVersion,
      .unknownServerName, .handshakeRefused, .handshakeCut:
      .tls
    }
  }
}

extension ConnectionCause {
  /// Whether the server is not ready: it may accept the same connection a moment later, and has received nothing of a request.
  /// What does not change by waiting, such as a certificate that is not trusted, is not such a cause.
  package var isNotReady: Bool {
    switch self {
    case .unknownHost, .refused, .unreachable, .connectTimeout, .handshakeTimeout, .handshakeCut, .socket,
      .unknownProxy, .proxyFailed:
      true
    // A gateway that cannot reach the server.
    case .proxyRefused(_, let status): (502...504).contains(status)
    default: false
    }
  }
}

extension ConnectionCause: CustomStringConvertible {
  /// The cause as text for error messages.
  public var description: String {
    switch self {
    case .unknownHost(let host): "cannot resolve the name \(host)"
    case .refused(let server): "cannot connect to \(server): Connection refused"
    case .unreachable(let server, let reason): "cannot connect to \(server): \(reason)"
    case .connectTimeout(let server, let limit): "cannot connect to \(server) within \(limit.inSeconds)"
    case .handshakeTimeout(let limit): "the TLS handshake was not complete within \(limit.inSeconds)"
    case .socket(let path, let reason): "failed to connect to the socket \(path): \(reason)"
    case .unknownProxy: "its name could not be resolved"
    case .proxyFailed(let reason), .proxyUnusable(let reason): reason
    case .proxyRefused(let server, let status): "it refused to connect to \(server) (HTTP \(status))"
    case .proxyRequiresCredentials: "it requires credentials (HTTP 407)"
    case .expired(let since): "the server's certificate has expired\(since.map { " (\($0))" } ?? "")"
    case .notYetValid(let until):
      "the server's certificate is not valid yet\(until.map { " (from \($0))" } ?? "")"
    case .wrongName(let name, let names) where names.contains(name):
      "the server's certificate has the address \(name) as a name, not as an address"
    case .wrongName(let name, let names):
      "the server's certificate is not for \(name)\(names.isEmpty ? "" : ", but for \(Self.list(names))")"
    case .unknownAuthority(let name):
      "the authority of the server's certificate is not trusted\(name.map { ": \($0)" } ?? "")"
    case .incompleteChain(let name):
      "the authority of the server's certificate is not trusted: \(name), of which the server sends no certificate"
    case .unknownServerName(let name): "the server has no certificate for the name \(name)"
    case .selfSigned: "the server's certificate is self-signed, and not trusted"
    case .rejectedCertificate(let reason): "the server's certificate is not accepted: \(reason)"
    case .noAuthorities: "no certificate authorities found on this machine"
    case .invalidAuthorities(let file): "no certificate authority can be read from \(file)"
    case .unreadableAuthorities(let file, let reason): "\(file): \(reason)"
    case .invalidClientCertificate(let file): "no client certificate can be read from \(file)"
    case .wrongPassphrase(let file): "the passphrase of \(file) is wrong or missing"
    case .missingKey(let file): "missing key of the client certificate \(file)"
    case .wrongKey(let file): "the key \(file) cannot be used with the client certificate"
    case .clientCertificateRequired: "the server requires a client certificate"
    case .clientCertificateRefused: "the server refused the client certificate"
    case .serverWithoutTLS: "the server does not use TLS on this port"
    case .serverWithTLS: "the server requires TLS on this port"
    case .noCommonTLSVersion: "the server does not support the requested version of TLS"
    case .handshakeRefused(let reason): "the server refused the TLS handshake: \(reason)"
    case .handshakeCut: "the server closed the connection in the TLS handshake"
    case .onlyHTTP1(let negotiated):
      negotiated.map {
        "gRPC requires HTTP/2, which the server does not offer (TLS negotiated \($0.isEmpty ? "no protocol" : $0))"
      } ?? "gRPC requires HTTP/2, and the server responded with HTTP/1"
    case .noHTTP2: "the server does not offer HTTP/2"
    case .onlyHTTP2: "the request used HTTP/1.1, and the server supports only HTTP/2"
    case .notHTTP(let start): "the server does not use HTTP on this port: it sent \"\(start)\""
    // The words of libcurl.
    case .closed(let reason) where reason.contains("HTTP/0.9"): "the server's response is not HTTP/1.1"
    case .closed(let reason):
      "the server closed the connection without a response\(reason.isEmpty ? "" : " (\(reason))")"
    case .refusedRequest(let reason): "the server refused the request without processing it; \(reason)"
    case .lost(let reason, let library):
      "no response was received (\(reason)); \(library) may have lost it"
    }
  }

  /// At most five names.
  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(5).joined(separator: ", ")
    return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
  }
}
