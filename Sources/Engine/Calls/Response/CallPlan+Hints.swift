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
    case .connection where !target.isTLS && error.message.contains("HTTP/0.9"):
      "the server may require HTTP/2, as gRPC does (--protocol grpc), or TLS (https://, without --plaintext)"
    case .violation where error.message.contains("requires HTTP/2"):
      "over HTTP/1.1 use --protocol grpc-web, or --protocol connect"
    case .connection where error.message.contains(ConnectionAdvice.tooManyPings): ConnectionAdvice.fewerPings
    case .connection where error.message.contains("was lost by libcurl"):
      ConnectionAdvice.newerLibcurl
    case .client where error.code == .resourceExhausted && error.message.contains("the limit is"):
      "--max-message-size BYTES raises the limit"
    case .client where error.message.hasPrefix("the request has no message"):
      "send a message after open: send {…}"
    default: nil
    }
  }
}
