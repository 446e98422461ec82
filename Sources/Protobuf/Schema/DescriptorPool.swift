import RPCurlBase

/// The schema: the definitions of all added descriptor sets. `[any thread]`
///
/// Files are read when a look-up needs them. The pool's results, and messages of its types, retain its
/// content: it is freed with the last of them and the pool.
///
/// ```swift
/// let pool = DescriptorPool()
/// try pool.add(SchemaBytes(bytes), source: "demo.binpb")
/// let method = try pool.method(service: "demo.v1.Demo", method: "Hello")
/// ```
public final class DescriptorPool: Sendable {
  package let core = PoolCore()

  /// Makes an empty pool.
  public init() {}

  /// Adds a serialized FileDescriptorSet.
  ///
  /// A file with the name of one in an earlier source is ignored.
  ///
  /// Memory, in addition to the bytes of the set: adding it and finding a type takes at most 100 times the
  /// length of the files that the type needs; using each type, at most 300 times.
  ///
  /// - Parameters:
  ///   - set: The bytes of the set.
  ///   - source: The name of the set in errors.
  /// - Throws: ``SchemaError`` if the set is invalid.
  public func add(_ set: SchemaBytes, source: String) throws(SchemaError) {
    try core.add(set, source: source)
  }

  /// The full names of all services, sorted. An invalid file contributes none.
  public var serviceNames: [String] { (try? core.names(of: .service))?.sorted() ?? [] }

  /// The full names of all top-level messages, sorted. An invalid file contributes none.
  public var messageNames: [String] { (try? core.names(of: .message))?.sorted() ?? [] }

  /// The names of all files, in the order of the sources.
  package var fileNames: [String] {
    (try? core.withIndex { $0.files.map { String(decoding: $0.name, as: UTF8.self) } }) ?? []
  }

  /// The names of the files of all sources except one, in the order of the sources.
  package func fileNames(exceptOf source: String) -> [String] {
    let names = try? core.withIndex { index in
      index.files.filter { index.sources[$0.source].name != source }
        .map { String(decoding: $0.name, as: UTF8.self) }
    }
    return names ?? []
  }

  /// Finds a service by its full name. Does not check that its methods' types exist.
  ///
  /// - Parameter name: The full name.
  /// - Throws: ``SchemaError`` if the file that declares it is invalid.
  public func service(named name: String) throws(SchemaError) -> ServiceDescriptor? {
    try core.service(named: name)
  }

  /// Whether a source declares a service with this full name.
  package func hasService(named name: String) throws(SchemaError) -> Bool {
    try core.hasService(named: name)
  }

  /// Finds a method and checks that its types are usable.
  ///
  /// - Parameters:
  ///   - service: The full name of the service.
  ///   - method: The method's own name.
  /// - Throws: ``SchemaError`` if the file that declares it is invalid.
  public func method(service: String, method: String) throws(SchemaError) -> MethodDescriptor? {
    guard let found = try core.method(named: method, of: service) else { return nil }
    _ = try found.input.node.table()
    _ = try found.output.node.table()
    return found
  }

  /// Finds a message type by its full name.
  ///
  /// - Parameter name: The full name.
  /// - Throws: ``SchemaError`` if the file that declares it is invalid.
  public func messageType(named name: String) throws(SchemaError) -> MessageType? {
    try core.messageType(named: name).map { MessageType($0) }
  }

  /// Finds an enum by its full name.
  ///
  /// - Parameter name: The full name.
  /// - Throws: ``SchemaError`` if the file that declares it is invalid.
  public func enumType(named name: String) throws(SchemaError) -> EnumType? {
    try core.enumType(named: name).map { EnumType($0, core) }
  }

  /// Finds an extension by its full name.
  ///
  /// - Parameter name: The full name.
  /// - Throws: ``SchemaError`` if the file that declares it is invalid.
  public func extensionField(named name: String) throws(SchemaError) -> Field? {
    try core.extensionField(named: name).map { Field($0, core) }
  }

  /// Finds the extension of a message with a number.
  package func extensionField(of type: String, number: UInt32) throws(SchemaError) -> Field? {
    try core.extensionField(of: type, number: number).map { Field($0, core) }
  }

  /// The numbers of the extensions of a message, in ascending order.
  package func extensionNumbers(of type: String) throws(SchemaError) -> [UInt32] {
    try core.extensionNumbers(of: type)
  }

  /// The options of a `.proto` file; nil if no source has the file.
  package func fileOptions(of name: String) throws(SchemaError) -> DescriptorOptions? {
    try core.fileOptions(of: name)
  }

  /// The services with names similar to `name`, nearest first.
  package func nearestServiceNames(to name: String) -> [String] {
    DescriptorPool.nearestNames(to: name, among: serviceNames)
  }

  /// Up to `limit` of `candidates` similar to `name`, nearest first; for hints.
  package static func nearestNames(to name: String, among candidates: [String], limit: Int = 3) -> [String] {
    EditDistance.nearest(to: name, among: candidates, limit: limit)
  }
}
