import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// Where a client finds its methods and the types of their messages.
public struct Schema: Sendable {
  enum Source {
    case pool(DescriptorPool)
    case reflection
    case none
  }

  let source: Source

  /// A schema from a pool.
  ///
  /// - Parameter pool: The pool.
  public init(_ pool: DescriptorPool) { source = .pool(pool) }

  /// A schema from a serialized `FileDescriptorSet`.
  ///
  /// - Parameter bytes: The set.
  /// - Throws: `RPCError` with the code `invalidArgument` if the set is invalid.
  public init(descriptorSet bytes: [UInt8]) throws(RPCError) {
    try self.init(bytes, source: "the descriptor set")
  }

  /// A schema from the file of a `FileDescriptorSet`, such as `protoc --include_imports --descriptor_set_out` writes.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: `RPCError` with the code `invalidArgument` if the file cannot be read, or is invalid.
  public init(descriptorSet path: String) throws(RPCError) {
    guard let file = fopen(path, "re") else {
      throw RPCError(.invalidArgument, "\(path): \(String(cString: strerror(errno)))", origin: .request)
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = fread(&piece, 1, piece.count, file)
      guard count > 0 else { break }
      bytes += piece[..<count]
    }
    guard ferror(file) == 0 else {
      throw RPCError(.invalidArgument, "\(path): \(String(cString: strerror(errno)))", origin: .request)
    }
    try self.init(bytes, source: path)
  }

  private init(_ bytes: [UInt8], source: String) throws(RPCError) {
    let pool = DescriptorPool()
    do throws(SchemaError) {
      try pool.add(SchemaBytes(bytes), source: source)
    } catch {
      throw RPCError(.invalidArgument, "\(error)", origin: .request)
    }
    self.init(pool)
  }

  private init(_ source: Source) { self.source = source }

  /// Finds a method with dynamic messages.
  ///
  /// The type that the context requires has the kind, so that a stream cannot be called as a unary method. Without such a type, the
  /// compiler reports that `Kind` could not be inferred.
  ///
  /// ```swift
  /// let hello: UnaryMethod = try schema.method("demo.v1.Demo/Hello")
  /// let count: ServerStreamingMethod = try schema.method("demo.v1.Demo/Count")
  /// let reply = try await client.unary(hello, ["name": "Ada"])
  /// ```
  ///
  /// - Parameter name: The method: `pkg.Service/Method`.
  /// - Returns: The method, for any client and on any thread. A property of this type is a
  ///   `UnaryMethod<FieldValue, Message>`.
  /// - Throws: `RPCError` with the code `unimplemented` if the schema does not have the method, with similar names; `invalidArgument`
  ///   if the name has another form, or the method another kind; `failedPrecondition` for ``reflection``, whose methods
  ///   ``RPCClient/method(_:)`` finds, and for ``none``.
  public func method<Kind>(_ name: String) throws(RPCError) -> RPCMethod<FieldValue, Message, Kind> {
    RPCMethod(try descriptor(name, Kind.kind, messages: nil))
  }

  /// Finds a method, and checks its kind and the names of its messages.
  ///
  /// - Parameters:
  ///   - text: The method: `pkg.Service/Method`.
  ///   - kind: Which sides are streams.
  ///   - messages: The names of its messages; nil for those of the schema.
  package func descriptor(
    _ text: String, _ kind: CallKind, messages: MessageNames?
  ) throws(RPCError) -> MethodDescriptor {
    let name = try MethodName(checking: text)
    switch source {
    case .pool(let pool):
      guard let method = try pool.method(name) else { throw pool.missing(name) }
      try MethodSignature(kind: kind, messages: messages).check(method)
      return method
    case .reflection:
      throw RPCError(
        .failedPrecondition, "the server has the schema of \(name): find the method with client.method",
        origin: .request)
    case .none: throw Self.missing(name)
    }
  }

  /// The error of a method whose schema is ``none``.
  static func missing(_ name: MethodName) -> RPCError {
    RPCError(
      .failedPrecondition, "\(name) needs a schema: the client has none, only methods with generated types",
      origin: .request)
  }

  /// The schema that the server returns by reflection.
  ///
  /// A service is requested when one of its methods is called that no earlier response contained. Calls that start before
  /// the response arrives request it as well, and so does each call of a method that the service does not have.
  public static let reflection = Schema(.reflection)

  /// No schema: for methods with generated types only, whose names are not checked.
  public static let none = Schema(.none)
}
