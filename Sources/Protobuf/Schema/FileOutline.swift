/// What a serialized FileDescriptorProto says of itself, before anything else of it is read.
public struct FileOutline: Equatable, Sendable {
  /// The file's name, as others import it.
  public let name: String
  /// The names of the files that it imports.
  public let imports: [String]

  /// Reads an outline; `nil` when the bytes are no descriptor of a file, or one without a name.
  public init?(serialized bytes: [UInt8]) {
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
