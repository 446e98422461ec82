/// The version of rpcurl, in one place.
enum Version {
  static let current = "0.1.0"
  /// The value of the `user-agent` header.
  static let userAgent = "rpcurl/\(current)"
}
