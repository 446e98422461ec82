import RPCurlProtobuf
import RPCurlProtocols

extension RPCClient {
  /// The details of an error as messages: of types of the schema, or of `google.rpc` such as `google.rpc.BadRequest`.
  ///
  /// With `Schema.reflection`, types that are not known are requested from the server.
  ///
  /// ```swift
  /// for detail in await client.details(of: error) where detail.type.name == "google.rpc.ErrorInfo" {
  ///   print(try detail["reason"] as String)
  /// }
  /// ```
  ///
  /// - Parameter error: The error of a call of this client.
  /// - Returns: The details in order, without those whose type is not found, or that cannot be parsed:
  ///   `RPCError.details` has all of them, serialized.
  public func details(of error: RPCError) async -> [Message] {
    var messages: [Message] = []
    for detail in error.details {
      guard let type = await messageType(named: detail.typeName),
        let message = try? Message(type, serialized: detail.value)
      else { continue }
      messages.append(message)
    }
    return messages
  }
}
