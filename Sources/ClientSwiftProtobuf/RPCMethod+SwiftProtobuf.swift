#if SwiftProtobuf
  import RPCurlClient
  import SwiftProtobuf

  extension RPCMethod where Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message {
    /// Makes a method with types that `protoc-gen-swift` has generated. No schema is needed:
    ///
    /// ```swift
    /// enum Demo {
    ///   static let hello = UnaryMethod<Demo_V1_HelloRequest, Demo_V1_HelloReply>(
    ///     service: "demo.v1.Demo", method: "Hello")
    /// }
    /// let reply = try await client.unary(Demo.hello, .with { $0.name = "Ada" })
    /// ```
    ///
    /// A client with a schema checks the name, the kind and the names of the messages when it calls the method. With
    /// `Schema.reflection` it checks them if it has the schema of the service. `Schema.method` checks them when the method is made.
    ///
    /// - Parameters:
    ///   - service: The full name of the service.
    ///   - method: The method's own name.
    public init(service: String, method: String) {
      self.init(
        MethodName(service: service, method: method),
        messages: (Input.protoMessageName, Output.protoMessageName),
        serialize: { try $0.serializedBytes() }, parse: { try Output(serializedBytes: $0) })
    }

    /// Makes a method of a schema, which has been checked.
    fileprivate init(_ descriptor: MethodDescriptor) {
      self.init(
        descriptor, serialize: { try $0.serializedBytes() }, parse: { try Output(serializedBytes: $0) })
    }
  }

  extension Schema {
    /// Finds a method, and checks that its kind and its messages are those of the type, which `protoc-gen-swift` has generated:
    ///
    /// ```swift
    /// let hello: UnaryMethod<Demo_V1_HelloRequest, Demo_V1_HelloReply> = try schema.method("demo.v1.Demo/Hello")
    /// let reply = try await client.unary(hello, .with { $0.name = "Ada" })
    /// ```
    ///
    /// - Parameter name: The method: `pkg.Service/Method`.
    /// - Returns: The method, for any client and on any thread.
    /// - Throws: `RPCError` with the code `unimplemented` if the schema does not have the method, with similar names;
    ///   `invalidArgument` if the name has another form, or the method another kind or messages with other names;
    ///   `failedPrecondition` for `.reflection`, whose methods `RPCClient.method` finds, and for `.none`.
    public func method<Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message, Kind>(
      _ name: String
    ) throws(RPCError) -> RPCMethod<Input, Output, Kind> {
      RPCMethod(
        try descriptor(
          name, Kind.kind, messages: (Input.protoMessageName, Output.protoMessageName)))
    }
  }

  extension RPCClient {
    /// Finds a method in the schema of the client, and checks that its kind and its messages are those of the type, which
    /// `protoc-gen-swift` has generated. With `Schema.reflection`, the server is asked for the schema of its service, if no earlier
    /// response contained it. Runs on the actor of the caller.
    ///
    /// - Parameter name: The method: `pkg.Service/Method`.
    /// - Returns: The method, for any client and on any thread.
    /// - Throws: `RPCError` with the code `unimplemented` if the schema does not have the method, with similar names;
    ///   `invalidArgument` if the name has another form, or the method another kind or messages with other names; the error of the
    ///   request for the schema. If the task is canceled, the request is canceled.
    public func method<Input: SwiftProtobuf.Message, Output: SwiftProtobuf.Message, Kind>(
      _ name: String
    ) async throws(RPCError) -> RPCMethod<Input, Output, Kind> {
      RPCMethod(
        try await descriptor(
          name, Kind.kind, messages: (Input.protoMessageName, Output.protoMessageName)))
    }
  }

  extension RPCError {
    /// The details of a type, in order: `try error.details(of: Google_Rpc_BadRequest.self)`.
    ///
    /// - Parameter type: The type, which `protoc-gen-swift` has generated.
    /// - Returns: The details whose type has the name of the type.
    /// - Throws: The error of SwiftProtobuf if a detail of the type cannot be parsed.
    public func details<Detail: SwiftProtobuf.Message>(of type: Detail.Type) throws -> [Detail] {
      try details.filter { $0.typeName == Detail.protoMessageName }.map {
        try Detail(serializedBytes: $0.value)
      }
    }
  }
#endif
