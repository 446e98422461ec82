import RPCurlProtocols

/// Why a server's schema could not be obtained.
package enum ReflectionError: Error, Equatable, Sendable {
  /// The server does not have the symbol; `services` are its services, if it listed them.
  case unknownSymbol(String, services: [String])
  /// The server does not offer reflection; its status is attached.
  case notOffered(RPCError)
  /// The reflection call failed.
  case failed(RPCError)
  /// The server refused a request with a gRPC status code.
  case refused(ServerReflectionRequest, code: Int, message: String)
  /// A response is invalid.
  case invalidResponse(String)
  /// The responses exceed a limit.
  case tooMuch(String)

  /// Whether it is due to the server's schema or its rules, so that another query would have the same result.
  package var isFinal: Bool {
    switch self {
    case .unknownSymbol, .notOffered, .invalidResponse, .tooMuch: true
    case .failed(let error): [.server, .violation].contains(error.origin) && Self.isFinal(error.code)
    case .refused(_, let code, _): StatusCode(rawValue: code).map(Self.isFinal) == true
    }
  }

  private static func isFinal(_ code: StatusCode) -> Bool {
    switch code {
    case .invalidArgument, .notFound, .permissionDenied, .unauthenticated, .unimplemented: true
    default: false
    }
  }
}

extension ReflectionError: CustomStringConvertible {
  /// The error message.
  package var description: String { text(for: nil) }

  /// The error message for a request of one version of reflection, or of any.
  package func text(for version: ReflectionVersion?) -> String {
    let reflection = version.map { "reflection \($0.rawValue)" } ?? "reflection"
    return switch self {
    case .unknownSymbol(let symbol, _): "the server's schema has no \(symbol)"
    case .notOffered(let error):
      error.origin == .server || error.message.isEmpty
        ? "the server does not offer \(reflection)"
        : "the server probably does not offer \(reflection) (\(error.message))"
    case .failed(let error):
      "reflection failed: \(error.code.name) (\(error.code.rawValue))"
        + (error.message.isEmpty ? "" : ": \(error.message)")
    case .refused(let request, let code, let message):
      "the server's reflection refused \(request): \(StatusCode(rawValue: code)?.name ?? "unknown") (\(code))"
        + (message.isEmpty ? "" : ": \(message)")
    case .invalidResponse(let what): "invalid reflection response: \(what)"
    case .tooMuch(let what): "the server's schema exceeds a limit: \(what)"
    }
  }
}

extension ServerReflectionRequest: CustomStringConvertible {
  /// A description of the request.
  package var description: String {
    switch self {
    case .fileContaining(let symbol): symbol
    case .fileContainingExtension(let type, let number): "extension \(number) of \(type)"
    case .file(let name): "the file \(name)"
    case .services: "the list of services"
    }
  }
}
