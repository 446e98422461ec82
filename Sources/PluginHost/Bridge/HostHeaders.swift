import Interception
import RPCProtocols

/// The headers that rpcurl writes itself, and plugins cannot: they frame the message, or say what a function of the host
/// sets.
enum HostHeaders {
  /// Of the HTTP message, beside those that `HeaderSyntax` has.
  private static let message: Set<String> = [
    "content-encoding", "content-type", "host", "keep-alive", "proxy-connection", "te", "trailer",
  ]

  /// Of the protocols, with the function to use instead.
  private static let functions = [
    "grpc-timeout": "set_timeout", "connect-timeout-ms": "set_timeout", "grpc-status": "set_status",
    "grpc-message": "set_status", "grpc-status-details-bin": "detail_add",
  ]

  private static let encodings: Set<String> = ["connect-content-encoding", "grpc-encoding"]

  /// Why a plugin cannot set a field at a stage; `nil` when it can. Names are compared in lower case.
  static func reason(against name: String, at stage: Stage) -> String? {
    let name = name.lowercased()
    if let function = functions[name] { return "the header \(name) is rpcurl's own: use \(function)" }
    // What was received has been read already; changing it changes only what is shown.
    guard stage == .requestStart else { return nil }
    guard HeaderSyntax.framing.contains(name) || message.contains(name) || encodings.contains(name) else {
      return nil
    }
    return "the header \(name) is rpcurl's own"
  }
}
