import RPCurlProtocols

/// Headers that rpcurl sets itself and plugins and scripts cannot set: they frame the message, or carry what has another
/// place in their interface.
package enum HostHeaders {
  /// What a header of the protocols carries.
  package enum Part {
    case timeout, status, details
  }

  /// Headers of the HTTP message, in addition to those in `HeaderSyntax`.
  private static let message: Set<String> = ["host", "trailer"]

  private static let parts: [String: Part] = [
    "grpc-timeout": .timeout, "connect-timeout-ms": .timeout, "grpc-status": .status, "grpc-message": .status,
    "grpc-status-details-bin": .details,
  ]

  /// Why a field is invalid, or cannot be set at a stage; `nil` if it can.
  ///
  /// - Parameters:
  ///   - stage: The stage whose rules for names apply; nil for none.
  ///   - instead: What sets a part; nil if nothing does.
  package static func problem(
    _ name: String, _ value: String, at stage: Stage?, instead: (Part) -> String?
  ) -> String? {
    guard HeaderSyntax.isName(name) else { return "\"\(name)\" is not a valid header name" }
    guard HeaderSyntax.isValue(value) else { return "the value of \(name) contains control characters" }
    if Headers.isBinary(name), Headers([(name, value)]).binaryValues(name).contains(nil) {
      return "the value of \(name) is not base64, which a name in -bin requires"
    }
    guard let stage else { return nil }
    let name = name.lowercased()
    if let part = parts[name] {
      return "only rpcurl sets the header \(name)\(instead(part).map { ": use \($0)" } ?? "")"
    }
    // Received headers were already processed; changing them affects only output.
    guard stage == .requestStart else { return nil }
    guard HeaderSyntax.reserved.contains(name) || message.contains(name) else { return nil }
    return "only rpcurl sets the header \(name)"
  }
}
