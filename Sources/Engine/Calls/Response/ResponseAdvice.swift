import RPCurlProtobuf
import RPCurlProtocols

/// What to do about a response that is not one of the protocol.
struct ResponseAdvice {
  let response: ForeignResponse
  let protocolName: ProtocolName
  /// Whether a client certificate was given.
  let hasCertificate: Bool

  /// The hint: the option that helps, or what to check; nil if no cause is likely.
  var hint: String? {
    let text = response.text ?? ""
    // nginx responds so instead of refusing the TLS handshake.
    if response.status == 400, text.contains("SSL certificate") {
      return hasCertificate
        ? "use --cert FILE with a certificate that the server trusts"
        : "the server requires a client certificate: use --cert FILE, and --key FILE if the key is in another file"
    }
    return switch response.status {
    case 300...399:
      "redirects are not followed\(response.location.map { ": the response leads to \($0)" } ?? "")"
    case 401: "the server requires credentials: use \(credentials)"
    case 403:
      "\(source) refuses the request: check the credentials (--bearer, -u), the client certificate (--cert) and the path"
    case 404: "check the path of the URL, and the prefix that a proxy requires; \(otherProtocol)"
    case 413: "\(source) accepts no request of this size: send less, or raise its limit"
    case 429:
      "the server limits the number of requests: \(retryAfter ?? "try again later"), or use --use retry"
    case 502, 503, 504:
      "\(source) \(response.status == 504 ? "received no response in time" : "cannot use a server for this request"): "
        + "check the server, and whether the proxy connects to it by HTTP/2"
    default: otherProtocol
    }
  }

  /// What responded, as far as it is named.
  private var source: String {
    response.source.map { "the server or a proxy (\($0))" } ?? "the server or a proxy"
  }

  /// The options for the scheme of the server's challenge (RFC 9110, section 11.6.1).
  private var credentials: String {
    switch response.headers.first("www-authenticate")?.prefix(while: { $0 != " " }).lowercased() {
    case "basic"?: "-u NAME:PASSWORD"
    case "bearer"?: "--bearer TOKEN"
    default: "--bearer TOKEN, or -u NAME:PASSWORD"
    }
  }

  private var retryAfter: String? {
    response.retryAfter.map { time in
      time.utf8.allSatisfy { (0x30...0x39).contains($0) }
        ? "try again in \(time) seconds (retry-after)" : "try again at \(time) (retry-after)"
    }
  }

  private var otherProtocol: String {
    switch protocolName {
    case .connect: "if this is not a Connect server, use --protocol grpc"
    case .grpcWeb: "if this is not a gRPC-Web server, use --protocol grpc"
    case .grpc: "if this is not a gRPC server, use --protocol connect"
    }
  }
}
