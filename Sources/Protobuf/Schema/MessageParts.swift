/// A oneof of a message type: of its fields at most one is set.
public struct Oneof: Sendable, Equatable {
  /// The name in the `.proto` file.
  public let name: String
  /// The options, with the custom ones.
  public let options: DescriptorOptions
}

/// Numbers that a message type leaves to extensions.
public struct ExtensionRange: Sendable, Equatable {
  /// The numbers.
  public let numbers: Range<UInt32>
  /// The options, with the custom ones. Ranges that are declared together have the same.
  public let options: DescriptorOptions
}
