#if SwiftProtobuf
  import RPCurlClient
  import SwiftProtobuf

  extension StatusDetail {
    /// Makes a detail of a message, such as a `Google_Rpc_ErrorInfo`.
    ///
    /// - Parameter message: The message, whose type `protoc-gen-swift` has generated.
    /// - Throws: The error of SwiftProtobuf if the message cannot be serialized.
    public init<Detail: SwiftProtobuf.Message>(_ message: Detail) throws {
      self.init(typeName: Detail.protoMessageName, value: try message.serializedBytes())
    }
  }
#endif
