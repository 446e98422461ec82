import RPCurlProtobuf
import RPCurlProtocols

/// The files that the program has: those of protobuf, and those that many APIs import, such as `google/api/annotations.proto`.
final class BuiltInFiles {
  /// The largest accepted size of a group, in bytes.
  private static let limitBytes = 1 << 20

  private var groups: [WellKnownSchemas.FileGroup: [String: [UInt8]]] = [:]
  private lazy var others = Self.files(WellKnownSchemas.services).merging(
    Self.files(WellKnownSchemas.optionTypes)
  ) { services, _ in services }

  /// The serialized descriptor of a file; nil if the program lacks it.
  func descriptor(_ name: String) -> [UInt8]? {
    if name == "google/protobuf/descriptor.proto" || name.hasPrefix("grpc/"), let file = others[name] {
      return file
    }
    let group = WellKnownSchemas.FileGroup(ofFile: name)
    if groups[group] == nil { groups[group] = Self.files(Self.set(group)) }
    return groups[group]?[name]
  }

  private static func set(_ group: WellKnownSchemas.FileGroup) -> SchemaBytes {
    let set = try? Compression.gzip.decompress(group.compressed, limitBytes: limitBytes)
    return SchemaBytes(set ?? [])
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

  /// The files of a set, by name.
  private static func files(_ set: SchemaBytes) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    try? DescriptorSetScanner.fields(of: set.bytes) { (tag, file) throws(DescriptorSetScanner.Malformed) in
      if let name = try DescriptorSetScanner.firstName(of: file), tag.number == 1 {
        files[String(decoding: name, as: UTF8.self)] = Array(file)
      }
      return true
    }
    return files
  }
}
