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
  public init(_ pool: DescriptorPool) { source = .pool(pool) }

  /// A schema from a serialized `FileDescriptorSet`.
  ///
  /// - Throws: `RPCError` if the set is invalid.
  public init(descriptorSet bytes: [UInt8]) throws(RPCError) {
    try self.init(bytes, source: "the descriptor set")
  }

  /// A schema from the file of a `FileDescriptorSet`, such as `protoc --include_imports --descriptor_set_out` writes.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: `RPCError` if the file cannot be read, or is invalid.
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

  /// The schema that the server returns by reflection.
  ///
  /// A service is requested when one of its methods is called that no earlier response contained. Calls that start before
  /// the response arrives request it as well, and so does each call of a method that the service does not have.
  public static let reflection = Schema(.reflection)

  /// No schema: for methods with generated types only.
  public static let none = Schema(.none)
}
