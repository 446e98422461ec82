import RPCurlProtobuf

/// The field at the end of a path.
struct FieldLeaf {
  let field: Field
  /// Whether the path ends at a whole list or map.
  let isWhole: Bool

  /// `nil` if the path does not lead to a field of the type.
  init?(of path: FieldPath, in type: MessageType) {
    guard case .field(let field, _, let isElement)? = try? path.leaf(in: type) else { return nil }
    self.field = field
    isWhole = field.isRepeated && !isElement
  }
}

extension FieldPath.Subscript {
  /// Parses the map key in the name of a JSON object's member.
  init(_ name: String, keyOf field: Field?) {
    switch field?.mapKey?.kind {
    case .string?, nil: self = .string(name)
    case .bool?: self = .bool(name == "true")
    default:
      self = Int64(name).map { .integer($0) } ?? UInt64(name).map { .unsigned($0) } ?? .string(name)
    }
  }
}
