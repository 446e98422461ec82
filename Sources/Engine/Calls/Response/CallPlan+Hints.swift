import RPCurlCall
import RPCurlProtobuf
import RPCurlProtocols

/// The hints for errors of calls.
extension CallPlan {
  /// The hint for an error with a known likely cause.
  package func hint(for error: RPCError) -> String? {
    Self.hint(
      for: error, target: settings.target, protocolName: settings.protocolName,
      hasCertificate: connection.certificate != nil)
  }

  /// The hint for an error of a call to `target` with a known likely cause.
  package static func hint(
    for error: RPCError, target: Target, protocolName: ProtocolName, hasCertificate: Bool
  ) -> String? {
    if let cause = error.cause {
      return ConnectionAdvice(target, protocolName, hasCertificate: hasCertificate).hint(for: cause)
    }
    if error.origin == .violation, let response = error.response {
      return ResponseAdvice(response: response, protocolName: protocolName, hasCertificate: hasCertificate)
        .hint
    }
    return switch error.origin {
    case .proxy:
      "the proxy is set by --proxy, http_proxy, https_proxy or ALL_PROXY; --proxy '' uses none"
    case .tls:
      "\"rpcurl check \(target.argument)\" shows what the server supports"
    // The words of libcurl, and of a server.
    case .connection where !target.isTLS && error.message.contains("HTTP/0.9"):
      "the server may require HTTP/2, as gRPC does (--protocol grpc), or TLS (https://, without --plaintext)"
    case .connection where error.message.contains(ConnectionAdvice.tooManyPings): ConnectionAdvice.fewerPings
    // A response is over the limit.
    case .client where error.code == .resourceExhausted: "--max-message-size BYTES raises the limit"
    // The request has no message.
    case .client where error.code == .invalidArgument: "send a message after open: send {…}"
    default: nil
    }
  }
}
