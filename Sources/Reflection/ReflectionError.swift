import RPCProtocols

/// Why a server's schema is not to be had.
public enum ReflectionError: Error, Equatable, Sendable {
  /// The server does not know the symbol; it has these services, if it told.
  case unknownSymbol(String, services: [String])
  /// The server does not offer reflection: what it answered.
  case notOffered(RPCError)
  /// The call of reflection failed.
  case failed(RPCError)
  /// The server refused a question, with a status code of gRPC.
  case refused(ReflectionQuestion, code: Int, message: String)
  /// An answer makes no sense.
  case wrongAnswer(String)
  /// The answers exceed a limit.
  case tooMuch(String)
}

extension ReflectionError: CustomStringConvertible {
  /// The text that is shown to a person.
  public var description: String {
    switch self {
    case .unknownSymbol(let symbol, _): "the server has no \(symbol)"
    case .notOffered(let error):
      error.origin == .server || error.message.isEmpty
        ? "the server does not offer reflection"
        : "the server does not seem to offer reflection (\(error.message))"
    case .failed(let error):
      "reflection failed: \(error.code.name) (\(error.code.rawValue))"
        + (error.message.isEmpty ? "" : ": \(error.message)")
    case .refused(let question, let code, let message):
      "the server's reflection refused \(question): \(StatusCode(rawValue: code)?.name ?? "unknown") (\(code))"
        + (message.isEmpty ? "" : ": \(message)")
    case .wrongAnswer(let what): "the server's reflection is not usable: \(what)"
    case .tooMuch(let what): "the server's schema is over a limit: \(what)"
    }
  }
}

extension ReflectionQuestion: CustomStringConvertible {
  /// What is asked for, in words.
  public var description: String {
    switch self {
    case .fileContaining(let symbol): symbol
    case .file(let name): "the file \(name)"
    case .services: "the list of services"
    }
  }
}
