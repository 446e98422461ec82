/// A message type of a schema.
///
/// It is compiled on first use, so that a method whose messages could reach half of a large schema costs only
/// the part that is used.
///
/// Types, fields and messages retain their pool; it is freed with the last of them.
public struct MessageType: Sendable {
  package let pool: PoolCore
  private let reference: Unmanaged<MessageNode>

  init(_ node: MessageNode) {
    pool = node.pool
    reference = .passUnretained(node)
  }

  var node: MessageNode { reference.takeUnretainedValue() }

  /// The plan; valid as long as the type. It is not reference-counted, at a noticeable cost for small
  /// messages.
  @inline(__always)
  func pointerToPlan() throws(DecodeError) -> PlanPointer {
    if let plan = reference._withUnsafeGuaranteedRef({ $0.plan }) { return plan }
    return try node.pointerToPlan()
  }

  /// The full name.
  public var name: String { node.name }

  /// Its special form in JSON; nil for most types.
  package func wellKnown() throws(SchemaError) -> WellKnownKind? { try node.table().wellKnown }

  /// The fields by number, without extensions.
  ///
  /// - Throws: ``SchemaError`` if the type or one that it uses is invalid.
  public func fields() throws(SchemaError) -> [Field] { try node.table().fields.map { Field($0, pool) } }

  /// The names of the oneofs, without synthetic ones of `optional` fields.
  package func oneofNames() throws(SchemaError) -> [String] { try node.table().oneofs.map(\.name) }

  /// The oneofs, without synthetic ones of `optional` fields.
  ///
  /// - Throws: ``SchemaError`` if the type or one that it uses is invalid.
  public func oneofs() throws(SchemaError) -> [Oneof] {
    try node.table().oneofs.map { Oneof(name: $0.name, options: DescriptorOptions($0.options, pool: pool)) }
  }

  /// The extension ranges, in the order of the `.proto` file.
  package func extensionRanges() throws(SchemaError) -> [ExtensionRange] {
    try node.table().extensionRanges.map {
      ExtensionRange(numbers: $0.numbers, options: DescriptorOptions($0.options, pool: pool))
    }
  }

  /// The `.proto` file that defines it.
  package func file() throws(SchemaError) -> String { try node.table().file }

  /// The options, including custom ones.
  ///
  /// - Throws: ``SchemaError`` if the type or one that it uses is invalid.
  public func options() throws(SchemaError) -> DescriptorOptions {
    DescriptorOptions(try node.table().options, pool: pool)
  }

  /// Finds a field by its original or its JSON name.
  ///
  /// - Parameter name: The name in the declaration.
  /// - Throws: ``SchemaError`` if the type or one that it uses is invalid.
  public func field(named name: String) throws(SchemaError) -> Field? {
    var name = name
    let table = try node.table()
    return name.withUTF8 { table.field(named: UnsafeRawBufferPointer($0)) }.map { Field($0, pool) }
  }

  /// Finds another message type of the same schema, by its full name.
  package func relative(named name: String) throws(SchemaError) -> MessageType? {
    try pool.messageType(named: name).map { MessageType($0) }
  }

  /// The full names of all top-level messages of the same schema, sorted.
  package var relativeNames: [String] { (try? pool.names(of: .message))?.sorted() ?? [] }

  /// Its extensions in the same schema that are not declared in a message, by name.
  package var extensions: [Field] {
    guard (try? extensionRanges().isEmpty) == false else { return [] }
    return ((try? pool.names(of: .extensionField))?.sorted() ?? []).compactMap { name in
      guard let field = (try? relativeExtension(named: name)) ?? nil,
        (try? FieldPath(field).leaf(in: self)) != nil
      else { return nil }
      return field
    }
  }

  /// Finds an extension of the same schema, by its full name.
  package func relativeExtension(named name: String) throws(SchemaError) -> Field? {
    try pool.extensionField(named: name).map { Field($0, pool) }
  }
}

extension MessageType: Equatable, CustomStringConvertible {
  /// Types are equal if they are from the same pool and have the same name.
  public static func == (a: MessageType, b: MessageType) -> Bool { a.node === b.node }

  /// The full name.
  public var description: String { name }
}
