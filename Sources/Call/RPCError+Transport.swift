import RPCurlProtocols
import RPCurlTransport

extension RPCError {
  /// Makes the status of a call whose transfer failed.
  package init(_ error: TransportError) {
    if let code = error.resetCode {
      self.init(Self.code(ofReset: code), error.message, origin: .violation)
      return
    }
    defer { cause = error.cause }
    switch error.kind {
    case .resolve, .connect, .broken, .httpVersion:
      self.init(.unavailable, error.message, origin: .connection)
    case .proxy: self.init(.unavailable, error.message, origin: .proxy(error.proxy ?? ""))
    // As for a reset without a more specific code.
    case .stream: self.init(.internal, error.message, origin: .connection)
    case .tls: self.init(.unavailable, error.message, origin: .tls)
    case .request: self.init(.internal, error.message, origin: .request)
    case .library: self.init(.internal, error.message, origin: .client)
    case .oldLibrary: self.init(.failedPrecondition, error.message, origin: .client)
    }
  }

  /// Replaces the cause and its text. The status stays. The origin becomes TLS if that is the cause, since with TLS 1.3 a server
  /// refuses a client certificate after the handshake.
  mutating func refine(_ cause: ConnectionCause) {
    self.cause = cause
    message = cause.description
    if cause.layer == .tls { origin = .tls }
  }

  /// The status of a stream that the server reset (gRPC over HTTP/2, "Errors").
  private static func code(ofReset code: Int) -> StatusCode {
    switch code {
    case 7: .unavailable  // REFUSED_STREAM
    case 8: .canceled  // CANCEL
    case 11: .resourceExhausted  // ENHANCE_YOUR_CALM
    case 12: .permissionDenied  // INADEQUATE_SECURITY
    case 5, 13: .unknown  // STREAM_CLOSED, HTTP_1_1_REQUIRED
    default: .internal
    }
  }
}
