import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// What to do about each cause of a failed connection.
package struct ConnectionAdvice {
  private let target: Target
  private let hasCertificate: Bool
  private let protocolName: ProtocolName

  /// - Parameters:
  ///   - target: The server.
  ///   - protocolName: The protocol of the call.
  ///   - hasCertificate: Whether a client certificate was given.
  package init(_ target: Target, _ protocolName: ProtocolName, hasCertificate: Bool = false) {
    self.target = target
    self.protocolName = protocolName
    self.hasCertificate = hasCertificate
  }

  /// The hint for a cause: the option that helps, or what to check.
  package func hint(for cause: ConnectionCause) -> String {
    switch cause {
    case .unknownHost: "check the name, or give its address with --resolve HOST:PORT:ADDRESS"
    case .refused: "no server listens there: check the port, and whether the server runs"
    case .unreachable(_, String(cString: strerror(EMFILE))): "use fewer --jobs, or raise ulimit -n"
    case .unreachable: "check the address and the network; --proxy URL connects through a proxy"
    case .connectTimeout:
      "the host may be down, or a firewall drops the packets; --connect-timeout and --max-time set the limit"
    case .handshakeTimeout:
      "the server may not use TLS on this port (\(plaintext)); --connect-timeout and --max-time set the limit"
    case .socket: "check the path of the socket, and whether the server runs"
    case .proxyRefused(_, 401): "check the credentials: --proxy-user NAME:PASSWORD"
    case .unknownProxy, .proxyFailed, .proxyUnusable, .proxyRefused:
      "the proxy is set by --proxy, http_proxy, https_proxy or ALL_PROXY; --proxy '' uses none"
    case .proxyRequiresCredentials:
      "use --proxy-user NAME:PASSWORD, or --proxy http://NAME:PASSWORD@HOST:PORT"
    case .expired: "renew the certificate of the server; -k skips verification"
    case .notYetValid: "check the clocks of both machines; -k skips verification"
    case .wrongName(let name, let names) where names.contains(name):
      "renew the certificate, with an IP address among its subject alternative names; -k skips verification"
    case .wrongName(_, let names):
      names.first.map {
        "call the server by that name, or use --servername \($0.hasPrefix("*.") ? "NAME" : $0)"
      } ?? "use --servername NAME with a name of the certificate"
    case .unknownAuthority, .selfSigned:
      "use --cacert FILE to trust its authority, or -k to skip verification"
    case .incompleteChain:
      "use --cacert FILE to trust its authority, let the server send the certificates between its own and a known one, "
        + "or use -k to skip verification"
    case .unknownServerName: "use --servername NAME with a name of the server"
    case .rejectedCertificate: "-k skips verification"
    case .noAuthorities: "install ca-certificates, set SSL_CERT_FILE, or use --cacert FILE"
    case .invalidAuthorities(let file), .unreadableAuthorities(let file, _): Self.authorities(file, cause)
    case .invalidClientCertificate(let file): Self.formats(of: file)
    case .wrongPassphrase:
      "give the passphrase with --pass @FILE or --pass env:NAME, or omit --pass to be asked"
    case .missingKey, .wrongKey: "use --key FILE with the key of the certificate"
    case .clientCertificateRequired: "use --cert FILE, and --key FILE if the key is in another file"
    case .clientCertificateRefused: "use --cert FILE with a certificate that the server trusts"
    case .serverWithoutTLS: plaintext
    case .serverWithTLS:
      target.unixSocket.map { "use \(target.socketOption) \(ShellText($0).quoted) https://localhost" }
        ?? "omit --plaintext, or use https:// in the URL"
    case .noCommonTLSVersion: "omit --tlsv1.3, or update the older side"
    case .handshakeRefused: afterHandshake
    case .handshakeCut: "check that the server uses TLS on this port, or \(plaintext)"
    case .onlyHTTP1, .noHTTP2, .onlyHTTP2, .notHTTP, .closed, .refusedRequest, .lost: hint(http: cause)
    }
  }

  /// The hint for a cause that arises from HTTP.
  private func hint(http cause: ConnectionCause) -> String {
    switch cause {
    case .onlyHTTP1(negotiated: ""):
      "\(Self.overHTTP1); if it has HTTP/2, and no ALPN to say so, use --http2-prior-knowledge"
    case .noHTTP2 where protocolName != .grpc:
      "use --http1.1: the responses of a bidirectional stream then follow its request"
    case .onlyHTTP1, .noHTTP2: Self.overHTTP1
    case .onlyHTTP2: "use --protocol grpc, or --http2-prior-knowledge"
    case .notHTTP: "check the port"
    case .refusedRequest: "the server may be busy or about to stop: try again later, or use --use retry"
    case .lost:
      "libcurl 8.14 or newer is correct: use a build that contains it, or upgrade the system's; on Debian 12, "
        + "apt-get install -t bookworm-backports libcurl4"
    // The words of libcurl, and of a server.
    case .closed(let reason) where reason.contains("HTTP/0.9"):
      "check the port; the server may require HTTP/2, as gRPC does (--protocol grpc), or TLS (https://)"
    case .closed(let reason) where reason.contains(Self.tooManyPings): Self.fewerPings
    default: "\"rpcurl check \(target.argument)\" shows what the server supports"
    }
  }

  private static let overHTTP1 = "over HTTP/1.1 use --protocol grpc-web, or --protocol connect"

  /// What to do about a file of authorities; its name follows that of a variable and `=` if the environment gives it.
  private static func authorities(_ file: String, _ cause: ConnectionCause) -> String {
    if case .unreadableAuthorities(_, String(cString: strerror(EMFILE))) = cause {
      return "use fewer --jobs, or raise ulimit -n"
    }
    let variable = ["SSL_CERT_FILE", "SSL_CERT_DIR"].first { file.hasPrefix("\($0)=") }
    return variable.map { "correct or unset \($0)" } ?? "--cacert FILE expects certificates in PEM"
  }

  /// The formats of client certificates.
  private static func formats(of file: String) -> String {
    file.hasSuffix(".p12") || file.hasSuffix(".pfx")
      ? "a PKCS #12 file requires --cert-type P12"
      : "--cert FILE expects a certificate in PEM; --cert-type P12 or DER sets another format"
  }

  /// The text of a GOAWAY of servers of gRPC for a client that sends PINGs too often.
  static let tooManyPings = "too_many_pings"

  /// What to do about it.
  static let fewerPings =
    "raise --keepalive-time: the server accepts fewer PINGs, by default one in 5 minutes in many servers of gRPC"

  private var afterHandshake: String {
    hasCertificate
      ? "check the client certificate (--cert) and the name for TLS (--servername)"
      : "the server may require a client certificate (--cert FILE), or another name (--servername NAME)"
  }

  private var plaintext: String {
    target.unixSocket == nil ? "use http:// in the URL, or --plaintext with HOST:PORT" : "use --plaintext"
  }
}
