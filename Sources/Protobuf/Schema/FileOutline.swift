/// The name and the imports of a serialized FileDescriptorProto.
package struct FileOutline: Equatable, Sendable {
  /// The name for imports.
  package let name: String
  /// The names of its imports.
  package let imports: [String]

  /// Reads an outline; `nil` if the bytes are not a file descriptor, or have no name.
  package init?(serialized bytes: [UInt8]) {
    let outline = bytes.withUnsafeBytes { bytes -> (String, [String])? in
      guard (try? DescriptorSetScanner.marks(of: bytes, in: bytes)) != nil,
        let imports = try? DescriptorSetScanner.dependencies(of: bytes)
      else { return nil }
      let file = DescriptorSetScanner.knownFile(bytes, source: 0)
      return (
        String(decoding: file.name, as: UTF8.self), imports.map { String(decoding: $0, as: UTF8.self) }
      )
    }
    guard let outline else { return nil }
    (name, imports) = outline
  }
}
