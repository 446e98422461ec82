/// A oneof of a message type: at most one of its fields is set.
public struct Oneof: Sendable, Equatable {
  /// The name in the `.proto` file.
  public let name: String
  /// The options, including custom ones.
  public let options: DescriptorOptions
}

/// Numbers reserved for extensions of a message type.
package struct ExtensionRange: Sendable, Equatable {
  /// The numbers.
  package let numbers: Range<UInt32>
  /// The options, including custom ones. Ranges declared together share them.
  package let options: DescriptorOptions
}
