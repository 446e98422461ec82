/// An enum of a schema.
public struct EnumType: Sendable {
  /// A named number.
  public struct Value: Sendable, Equatable {
    /// The name in the `.proto` file.
    public let name: String
    /// The number on the wire.
    public let number: Int32
    /// Whether it is marked `deprecated`.
    package let isDeprecated: Bool
    /// The options, including custom ones.
    public let options: DescriptorOptions
  }

  private let pool: PoolCore
  unowned(unsafe) let node: EnumNode

  init(_ node: EnumNode, _ pool: PoolCore) {
    self.pool = pool
    self.node = node
  }

  /// The full name.
  public var name: String { node.name }
  /// The `.proto` file that defines it.
  package var file: String { node.file }
  /// The values in the order of the `.proto` file.
  public var values: [Value] {
    node.values.map {
      Value(
        name: $0.name, number: $0.number, isDeprecated: $0.isDeprecated,
        options: DescriptorOptions($0.options, pool: pool))
    }
  }
  /// Whether a number without a name is an unknown field instead of a value.
  public var isClosed: Bool { node.isClosed }
  /// The options, including custom ones.
  public var options: DescriptorOptions { DescriptorOptions(node.options, pool: pool) }
  /// The number of an unset field: that of the first value.
  public var defaultNumber: Int32 { node.defaultNumber }

  /// The first name of a number.
  public func name(of number: Int32) -> String? { node.name(of: number) }

  /// The number of a name.
  public func number(of name: String) -> Int32? { node.number(of: name) }
}

extension EnumType: Equatable {
  /// Enums are equal if they are from the same pool and have the same name.
  public static func == (a: EnumType, b: EnumType) -> Bool { a.node === b.node }
}
