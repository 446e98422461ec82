/// The version of rpcurl, in one place.
package enum Version {
  package static let current = "0.1.0"
  /// The value of the `user-agent` header.
  package static let userAgent = "rpcurl/\(current)"
}
