#if SwiftProtobuf
  import RPCurlClient
  import SwiftProtobuf

  extension RPCMethod where Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message {
    /// Makes a method with types that `protoc-gen-swift` has generated.
    ///
    /// ```swift
    /// enum Demo {
    ///   static let hello = RPCMethod<Demo_V1_HelloRequest, Demo_V1_HelloReply>(
    ///     service: "demo.v1.Demo", method: "Hello")
    /// }
    /// let reply = try await client.unary(Demo.hello, .with { $0.name = "Ada" })
    /// ```
    ///
    /// - Parameters:
    ///   - service: The full name of the service.
    ///   - method: The method's own name.
    ///   - kind: Which sides are streams.
    public init(service: String, method: String, kind: CallKind = .unary) {
      self.init(
        MethodName(service: service, method: method), kind, serialize: { try $0.serializedBytes() },
        parse: { try Output(serializedBytes: $0) })
    }
  }

  extension RPCError {
    /// The details of a type, in order: `try error.details(of: Google_Rpc_BadRequest.self)`.
    ///
    /// - Throws: An error if a detail of the type cannot be parsed.
    public func details<Detail: SwiftProtobuf.Message>(of type: Detail.Type) throws -> [Detail] {
      try details.filter { $0.typeName == Detail.protoMessageName }.map {
        try Detail(serializedBytes: $0.value)
      }
    }
  }
#endif
