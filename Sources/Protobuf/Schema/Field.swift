/// A field of a message type, or an extension, with all features resolved.
public struct Field: Sendable {
  private let pool: PoolCore
  unowned(unsafe) let node: FieldNode

  init(_ node: FieldNode, _ pool: PoolCore) {
    self.pool = pool
    self.node = node
  }

  /// The name in the `.proto` file.
  public var name: String { node.name }
  /// The full name of an extension; otherwise the name.
  public var fullName: String { node.fullName }
  /// The name in JSON; for an extension `[full.name]`.
  public var jsonName: String { node.jsonName }
  /// The field number.
  public var number: UInt32 { node.number }
  /// The type of its values; for a map ``FieldKind/message``.
  public var kind: FieldKind { node.kind }
  /// The name of the type of its values, for error messages: `int32`, `demo.v1.Item`, or `a map`.
  package var typeDescription: String { node.typeDescription }
  /// Whether it is a list or a map.
  public var isRepeated: Bool { node.isRepeated }
  /// Whether it is a map; ``mapKey`` and ``mapValue`` describe its entries.
  public var isMap: Bool { node.isMap }
  /// Whether the list is written packed. Both forms can be read.
  package var isPacked: Bool { node.isPacked }
  /// Whether an unset field differs from one set to its default.
  public var hasPresence: Bool { node.hasPresence }
  /// Whether it is marked `required`.
  public var isRequired: Bool { node.isRequired }
  /// Whether its strings must be UTF-8.
  package var validatesUTF8: Bool { node.validatesUTF8 }
  /// Whether it is an extension.
  public var isExtension: Bool { node.isExtension }
  /// Whether it is marked `deprecated`.
  package var isDeprecated: Bool { node.isDeprecated }
  /// The index of its oneof in ``MessageType/oneofNames()``, which excludes synthetic ones of `optional`
  /// fields.
  package var oneofIndex: Int? { node.oneofIndex }
  /// The type of the values of a message field.
  public var messageType: MessageType? { node.messageType.map { MessageType($0) } }
  /// The type of the values of an enum field.
  public var enumType: EnumType? { node.enumType.map { EnumType($0, pool) } }
  /// A map's key.
  public var mapKey: Field? { node.mapKey.map { Field($0, pool) } }
  /// A map's value.
  public var mapValue: Field? { node.mapValue.map { Field($0, pool) } }
  /// The explicit default in the `.proto` file, as text.
  package var defaultText: String? { node.defaultText }
  /// The value of an unset field: the schema's default, or zero. Nil for messages, lists and maps.
  public var defaultValue: Value? { node.defaultValue }
  /// The options, including custom ones.
  public var options: DescriptorOptions { DescriptorOptions(node.options, pool: pool) }
}

extension Field: Equatable {
  /// Fields are equal if they are from the same pool and declaration.
  public static func == (a: Field, b: Field) -> Bool { a.node === b.node }
}
