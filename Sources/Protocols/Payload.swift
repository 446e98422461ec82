import RPCurlProtobuf

/// A message as it enters or leaves the chain.
public enum Payload: Sendable {
  /// A message whose fields can be read and changed.
  case typed(Message)
  /// A serialized message, in the call's codec.
  case bytes([UInt8])

  /// The serialized message: in the call's codec as given, or a typed message in protobuf's binary format.
  public var serialized: [UInt8] {
    switch self {
    case .typed(let message): message.serialized()
    case .bytes(let bytes): bytes
    }
  }
}
