import RPCurlProtocols

/// The response of a call with one message in it.
public struct UnaryResponse<Output: Sendable>: Sendable {
  /// The message.
  public let message: Output
  /// The leading metadata.
  public let headers: Headers
  /// The trailing metadata.
  public let trailers: Headers
}
