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

  /// The values in the order of the `.proto` file, each made when it is read: an enum can have thousands.
  public struct Values: RandomAccessCollection, Sendable {
    fileprivate let nodes: [EnumNode.Value]
    fileprivate let pool: PoolCore

    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of values.
    public var endIndex: Int { nodes.count }

    /// The value at a position from zero.
    ///
    /// - Parameter position: The place of the value in the declaration, from 0.
    public subscript(position: Int) -> Value {
      let node = nodes[position]
      return Value(
        name: node.name, number: node.number, isDeprecated: node.isDeprecated,
        options: DescriptorOptions(node.options, pool: pool))
    }
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
  public var values: Values { Values(nodes: node.values, pool: pool) }
  /// Whether a number without a name is an unknown field instead of a value.
  public var isClosed: Bool { node.isClosed }
  /// The options, including custom ones.
  public var options: DescriptorOptions { DescriptorOptions(node.options, pool: pool) }
  /// The number of an unset field: that of the first value.
  public var defaultNumber: Int32 { node.defaultNumber }

  /// The first name of a number.
  ///
  /// - Parameter number: The number of a value.
  public func name(of number: Int32) -> String? { node.name(of: number) }

  /// The number of a name.
  ///
  /// - Parameter name: The name of a value.
  public func number(of name: String) -> Int32? { node.number(of: name) }
}

extension EnumType: Equatable {
  /// Enums are equal if they are from the same pool and have the same name.
  public static func == (a: EnumType, b: EnumType) -> Bool { a.node === b.node }
}
