import RPCurlProtobuf
import RPCurlProtocols

/// The files that the program has: those of protobuf, and those that many APIs import, such as `google/api/annotations.proto`.
final class BuiltInFiles {
  /// The largest accepted size of a group, in bytes.
  private static let limitBytes = 1 << 20

  private var groups: [(group: WellKnownSchemas.FileGroup, set: SchemaBytes)] = []

  /// The serialized descriptor of a file; nil if the program lacks it.
  func descriptor(_ name: String) -> [UInt8]? {
    if name == "google/protobuf/descriptor.proto" { return Self.file(name, in: WellKnownSchemas.optionTypes) }
    if name.hasPrefix("google/protobuf/") { return Self.file(name, in: WellKnownSchemas.protobufFiles) }
    if name.hasPrefix("grpc/"), let file = Self.file(name, in: WellKnownSchemas.services) { return file }
    return Self.file(name, in: set(WellKnownSchemas.FileGroup(ofFile: name)))
  }

  private func set(_ group: WellKnownSchemas.FileGroup) -> SchemaBytes {
    if let known = groups.first(where: { $0.group == group }) { return known.set }
    let bytes = try? Compression.gzip.decompress(group.compressed, limitBytes: Self.limitBytes)
    let set = SchemaBytes(bytes ?? [])
    groups.append((group, set))
    return set
  }

  /// The built-in file that an import probably means: its name without the first folders, as in
  /// `github.com/gogo/protobuf/gogoproto/gogo.proto`, or one that was renamed.
  func similar(to name: String) -> String? {
    if let file = Self.renamed.first(where: { name.hasSuffix("/\($0.ending)") || name == $0.ending }) {
      return file.name
    }
    var rest = name[...]
    while let slash = rest.firstIndex(of: "/") {
      rest = rest[rest.index(after: slash)...]
      if rest.contains("/"), descriptor(String(rest)) != nil { return String(rest) }
    }
    return nil
  }

  /// gnostic's files have other names in a registry, and in copies.
  private static let renamed = [
    (ending: "openapi/v3/annotations.proto", name: "openapiv3/annotations.proto"),
    (ending: "openapi/v3/openapi.proto", name: "openapiv3/OpenAPIv3.proto"),
    (ending: "openapi/v3/openapiv3.proto", name: "openapiv3/OpenAPIv3.proto"),
  ]

  private static func file(_ name: String, in set: SchemaBytes) -> [UInt8]? {
    var found: [UInt8]?
    try? DescriptorSetScanner.fields(of: set.bytes) { (tag, file) throws(DescriptorSetScanner.Malformed) in
      guard tag.number == 1, let own = try DescriptorSetScanner.firstName(of: file),
        own.elementsEqual(name.utf8)
      else { return true }
      found = Array(file)
      return false
    }
    return found
  }
}
