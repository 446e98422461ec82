/// The schema: what the descriptor sets that were added define.
///
/// Files are read when a look-up needs them. What a pool hands out, and messages of its types, keep its content: it
/// is freed when neither the pool nor any of these is held any more.
///
/// ```swift
/// let pool = DescriptorPool()
/// try pool.add(SchemaBytes(bytes), source: "demo.binpb")
/// let method = try pool.method(service: "demo.v1.Demo", method: "Hello")
/// ```
public final class DescriptorPool: Sendable {
  let core = PoolCore()

  /// An empty pool.
  public init() {}

  /// Adds a serialized FileDescriptorSet; `source` names it in errors.
  ///
  /// A file that an earlier source has under the same name is ignored.
  ///
  /// Memory, beyond the bytes of the set: adding it and finding a type takes no more than 100 times the length of what
  /// is read for it, which of the files is those that the type needs; using each type, no more than 300 times.
  public func add(_ set: SchemaBytes, source: String) throws(SchemaError) {
    try core.add(set, source: source)
  }

  /// The full names of all services, sorted. A file that cannot be read has none.
  public var serviceNames: [String] { (try? core.names(of: .service))?.sorted() ?? [] }

  /// The full names of all top-level messages, sorted. A file that cannot be read has none.
  public var messageNames: [String] { (try? core.names(of: .message))?.sorted() ?? [] }

  /// Finds a service by its full name. Whether its methods' types exist is not checked.
  public func service(named name: String) throws(SchemaError) -> ServiceDescriptor? {
    try core.service(named: name)
  }

  /// Finds a method and makes sure that its types can be used.
  public func method(service: String, method: String) throws(SchemaError) -> MethodDescriptor? {
    guard let found = try core.service(named: service)?.method(named: method) else { return nil }
    _ = try found.input.node.table()
    _ = try found.output.node.table()
    return found
  }

  /// Finds a message type by its full name.
  public func messageType(named name: String) throws(SchemaError) -> MessageType? {
    try core.messageType(named: name).map { MessageType($0) }
  }

  /// Finds an enum by its full name.
  public func enumType(named name: String) throws(SchemaError) -> EnumType? {
    try core.enumType(named: name).map { EnumType($0, core) }
  }

  /// Finds an extension by its full name.
  public func extensionField(named name: String) throws(SchemaError) -> Field? {
    try core.extensionField(named: name).map { Field($0, core) }
  }

  /// The options of a `.proto` file; nil when no source has the file.
  public func fileOptions(of name: String) throws(SchemaError) -> DescriptorOptions? {
    try core.fileOptions(of: name)
  }

  /// The services that somebody may have meant by `name`, nearest first.
  public func nearestServiceNames(to name: String) -> [String] {
    DescriptorPool.nearestNames(to: name, among: serviceNames)
  }

  /// Up to `limit` of `candidates` that resemble `name`, nearest first; for “did you mean”.
  public static func nearestNames(to name: String, among candidates: [String], limit: Int = 3) -> [String] {
    EditDistance.nearest(to: name, among: candidates, limit: limit)
  }
}
