import RPCurlProtobuf

/// A field of one of the schemas, with what its features and its message imply.
struct FieldSide {
  /// How many values a field has.
  enum Cardinality: String {
    case explicit = "singular with presence"
    case implicit = "singular without presence"
    case required, repeated, map

    /// The cardinality, except that all singular fields are the same.
    var inJSON: Cardinality { self == .implicit ? .explicit : self }
    /// The cardinality on the wire, where a map is a list of its entries.
    var onWire: Cardinality { self == .map ? .repeated : inJSON }
  }

  /// The value of an unset field.
  enum Default {
    /// Of a string or bytes field.
    case text([UInt8])
    /// Of a number, enum or Bool; `exact` is the text of an integer.
    case number(Double, exact: String?)

    /// Whether the field is like one without a default.
    var isZero: Bool {
      switch self {
      case .text(let text): text.isEmpty
      case .number(let number, _): number == 0
      }
    }

    /// Whether both have the same value, which a type that was changed may have too.
    func isSame(as other: Default) -> Bool {
      switch (self, other) {
      case (.text(let a), .text(let b)): a == b
      case (.number(_, let a?), .number(_, let b?)): a == b
      case (.number(let a, _), .number(let b, _)): a == b || a.isNaN && b.isNaN || Float(a) == Float(b)
      default: false
      }
    }
  }

  let field: FieldDeclaration
  let contents: SchemaContents
  let file: Int
  let features: FeatureValues
  /// The name of the oneof; nil if absent, or if it only stands for `optional`.
  let oneof: String?
  let isInMapEntry: Bool

  /// A field of a message.
  init(
    _ field: FieldDeclaration, of message: SchemaContents.Entry<MessageDeclaration>,
    _ contents: SchemaContents
  ) {
    self.field = field
    self.contents = contents
    file = message.file
    isInMapEntry = message.declaration.isMapEntry
    var features = message.features
    var oneof: String?
    if let index = field.oneofIndex, !field.isProto3Optional,
      message.declaration.oneofs.indices.contains(index)
    {
      let declared = message.declaration.oneofs[index]
      oneof = declared.name
      features = features.overridden(by: declared.options, of: .oneof)
    }
    self.oneof = oneof
    self.features = features.overridden(by: field.options, of: .field)
  }

  /// An extension.
  init(_ entry: SchemaContents.Entry<FieldDeclaration>, _ contents: SchemaContents) {
    field = entry.declaration
    self.contents = contents
    file = entry.file
    features = entry.features.overridden(by: entry.declaration.options, of: .field)
    oneof = nil
    isInMapEntry = false
  }

  /// The name in messages of extensions: the full one.
  var name: String { field.extendee == nil ? field.name : field.fullName }
  var jsonName: String { field.effectiveJSONName }

  var isMap: Bool {
    field.label == .repeated && field.kind == .message
      && contents.messages[field.typeName]?.declaration.isMapEntry == true
  }

  /// The type, in which a delimited message is a group.
  var kind: FieldKind {
    let isDelimited = field.kind == .message && features.messageEncoding == 2 && !isInMapEntry && !isMap
    return isDelimited ? .group : field.kind
  }

  var cardinality: Cardinality {
    if field.label == .repeated { return isMap ? .map : .repeated }
    if isRequired { return .required }
    let hasPresence =
      field.kind == .message || field.kind == .group || field.oneofIndex != nil || field.extendee != nil
      || features.presence != 2
    return hasPresence ? .explicit : .implicit
  }

  var isRequired: Bool {
    field.label == .required || features.presence == 3 && field.label == .optional && oneof == nil
  }

  /// Whether the type has a name.
  var isOfNamedType: Bool { [.message, .group, .enumeration].contains(field.kind) }

  /// The type for messages.
  var typeText: String {
    guard isOfNamedType else { return field.kind.protoName }
    return kind == .group ? "\(field.typeName) (delimited)" : field.typeName
  }

  /// The value of the unset field; nil for messages, lists and maps, and for an enum that no source has.
  var defaultValue: Default? {
    guard field.label != .repeated else { return nil }
    let text = field.defaultText
    switch field.kind {
    case .message, .group: return nil
    case .string: return .text(Array((text ?? "").utf8))
    case .bytes:
      let escaped = Array((text ?? "").utf8)
      return .text(DefaultValue.unescape(escaped) ?? escaped)
    case .bool:
      return text == "true" ? .number(1, exact: "1") : .number(0, exact: "0")
    case .enumeration:
      guard let type = contents.enumeration(named: field.typeName) else { return nil }
      let number = text.flatMap { type.numbers[$0] } ?? type.declaration.values.first?.number ?? 0
      return .number(Double(number), exact: "\(number)")
    case .float, .double: return .number(text.flatMap { Double($0) } ?? 0, exact: nil)
    default: return .number(text.flatMap { Double($0) } ?? 0, exact: text ?? "0")
    }
  }

  /// The value of `[ctype]` or of the feature `(pb.cpp).string_type`: 1 for a view, 2 for a cord, 3 for a string, 4 for
  /// a piece of a string.
  var cppStringType: UInt64 {
    guard let type = WireFields(field.options).bits(1) else { return features.cppStringType }
    return type == 1 ? 2 : type == 2 ? 4 : 3
  }

  /// The value of `[jstype]`; 0 if it is not set.
  var jsType: UInt64 { WireFields(field.options).bits(6) ?? 0 }

  /// Whether Java verifies UTF-8: 2 if it does, 3 if it does not.
  var javaUTF8Validation: UInt64 {
    let options = contents.files[file].options
    let isSet = WireFields(options).bits(27)
    if case .edition = contents.files[file].syntax, isSet == nil {
      return features.javaUTF8Validation == 2 ? 2 : features.utf8Validation
    }
    return isSet == 1 ? 2 : features.utf8Validation
  }
}

extension FieldKind {
  /// The types of one group have the same values on the wire.
  var wireGroup: FieldKind {
    switch self {
    case .int64, .uint32, .uint64, .bool: .int32
    case .sint64: .sint32
    case .sfixed32: .fixed32
    case .sfixed64: .fixed64
    default: self
    }
  }

  /// The types of one group have the same values on the wire and in JSON.
  var wireJSONGroup: FieldKind {
    switch self {
    case .uint32: .int32
    case .uint64: .int64
    case .sfixed32: .fixed32
    case .sfixed64: .fixed64
    default: self
    }
  }

  /// Whether it is an integer of 64 bits.
  var isInteger64: Bool { [.int64, .uint64, .sint64, .fixed64, .sfixed64].contains(self) }
}
