/// What a server told of its schema.
public struct ReflectedSchema: Equatable, Sendable {
  /// The version of reflection that the server speaks.
  public var version: ReflectionVersion
  /// How many files the descriptor set holds.
  public var fileCount = 0
  /// A serialized FileDescriptorSet, without the files of `google/protobuf` that every program has.
  public var descriptorSet: [UInt8] = []
  /// The full names of the services, if they were asked for.
  public var services: [String] = []

  /// A schema of nothing yet.
  public init(version: ReflectionVersion) {
    self.version = version
  }

  /// Appends a serialized FileDescriptorProto.
  mutating func add(file: [UInt8]) {
    fileCount += 1
    descriptorSet.append(0x0A)  // FileDescriptorSet.file = 1
    var length = file.count
    while length > 0x7F {
      descriptorSet.append(UInt8(length & 0x7F) | 0x80)
      length >>= 7
    }
    descriptorSet.append(UInt8(length))
    descriptorSet.append(contentsOf: file)
  }
}
