/// The version of rpcurl.
package enum Version {
  package static let current = "0.1.0"
  /// The value of the `user-agent` header.
  package static let userAgent = "rpcurl/\(current)"
}
