import RPCurlChain
import RPCurlProtocols

/// Headers that rpcurl sets itself and plugins cannot set: they frame the message, or a host function sets
/// their value.
enum HostHeaders {
  /// Headers of the HTTP message, in addition to those in `HeaderSyntax`.
  private static let message: Set<String> = ["host", "trailer"]

  /// Headers of the protocols, with the function to use instead.
  private static let functions = [
    "grpc-timeout": "set_timeout", "connect-timeout-ms": "set_timeout", "grpc-status": "set_status",
    "grpc-message": "set_status", "grpc-status-details-bin": "detail_add",
  ]

  /// Why a plugin cannot set a field at a stage; `nil` if it can. Names are in lower case.
  static func reason(against name: String, at stage: Stage) -> String? {
    let name = name.lowercased()
    if let function = functions[name] { return "only rpcurl sets the header \(name): use \(function)" }
    // Received headers were already processed; changing them affects only output.
    guard stage == .requestStart else { return nil }
    guard HeaderSyntax.reserved.contains(name) || message.contains(name) else { return nil }
    return "only rpcurl sets the header \(name)"
  }
}
