import RPCProtocols

extension StatusCode {
  /// Parses a code as people write it: `unavailable`, `UNAVAILABLE`, `14`; also gRPC's spelling `CANCELLED`.
  package init?(written text: some StringProtocol) {
    let name = text.lowercased()
    if let number = Int(name), let code = StatusCode(rawValue: number) {
      self = code
    } else if let code = StatusCode(name: name == "cancelled" ? "canceled" : name) {
      self = code
    } else {
      return nil
    }
  }
}
