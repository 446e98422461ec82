import RPCurlProtobuf

/// A schema received from a server by reflection.
package struct ReflectedSchema: Equatable, Sendable {
  /// The server's version of reflection.
  package var version: ReflectionVersion
  /// The number of files in the descriptor set.
  package var fileCount = 0
  /// A serialized FileDescriptorSet, without the files of `google/protobuf` that are built in.
  package var descriptorSet: [UInt8] = []
  /// The full names of the services, if they were requested.
  package var services: [String] = []

  /// Makes an empty schema.
  package init(version: ReflectionVersion) {
    self.version = version
  }

  /// Appends a serialized FileDescriptorProto.
  mutating func add(file: [UInt8]) {
    fileCount += 1
    descriptorSet.append(0x0A)  // FileDescriptorSet.file = 1
    descriptorSet.append(delimited: file)
  }
}
