/// The features of a declaration, packed: for each feature the number of its value, or 0 if it is not set.
struct Features: Equatable {
  private var bits: UInt64 = 0

  init() {}

  /// A feature: the number of its field in `FeatureSet`.
  enum Feature: Int32, CaseIterable {
    case fieldPresence = 1
    case enumType
    case repeatedFieldEncoding
    case utf8Validation
    case messageEncoding
    case jsonFormat
    case namingStyle
    case symbolVisibility
    case protoLimits
    /// `legacy_closed_enum` of C++: 1 if it is true, 2 if it is false.
    case closedEnum

    var shift: UInt64 { UInt64(rawValue) * 4 }
  }

  /// The values of a kind of field presence and so on, as `FeatureSet` numbers them.
  static let explicit: UInt8 = 1
  static let implicit: UInt8 = 2
  static let legacyRequired: UInt8 = 3
  static let closed: UInt8 = 2
  static let packed: UInt8 = 1
  static let expanded: UInt8 = 2
  static let delimited: UInt8 = 2
  static let verifiesUTF8: UInt8 = 2
  static let legacyBestEffort: UInt8 = 2
  static let style2024: UInt8 = 1
  static let style2026: UInt8 = 3
  static let exportAll: UInt8 = 1
  static let exportTopLevel: UInt8 = 2
  static let localAll: UInt8 = 3
  static let strict: UInt8 = 4
  static let limits2026: UInt8 = 2

  subscript(feature: Feature) -> UInt8 {
    get { UInt8(truncatingIfNeeded: bits >> feature.shift & 15) }
    set { bits = bits & ~(15 << feature.shift) | UInt64(newValue & 15) << feature.shift }
  }

  var isEmpty: Bool { bits == 0 }

  /// The features of a child that sets some.
  func merged(_ child: Features) -> Features {
    guard child.bits != 0 else { return self }
    var result = self
    for feature in Feature.allCases where child[feature] != 0 { result[feature] = child[feature] }
    return result
  }

  /// The values in the order of `Feature`.
  private init(_ values: [UInt8]) {
    for (feature, value) in zip(Feature.allCases, values) { self[feature] = value }
  }

  /// The features of a file that sets none.
  static func defaults(_ edition: Edition) -> Features {
    switch edition {
    case ..<Edition.proto3: Features([1, 2, 2, 3, 1, 2, 2, 1, 1, 1])
    case ..<Edition.edition2023: Features([2, 1, 1, 2, 1, 1, 2, 1, 1, 2])
    case ..<Edition.edition2024: Features([1, 1, 1, 2, 1, 1, 2, 1, 1, 2])
    case ..<Edition.edition2026: Features([1, 1, 1, 2, 1, 1, 1, 2, 1, 2])
    default: Features([1, 1, 1, 2, 1, 1, 3, 4, 2, 2])
    }
  }

  /// The names of the first nine in errors.
  static let names = [
    "field_presence", "enum_type", "repeated_field_encoding", "utf8_validation", "message_encoding",
    "json_format",
    "enforce_naming_style", "default_symbol_visibility", "enforce_proto_limits",
  ]

  /// The explicit values in a serialized `FeatureSet`, and the first one that is set to the unknown value.
  static func explicit(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> (
    features: Features, unknown: Feature?
  ) {
    var features = Features()
    var unknown: Feature?
    for field in WireFields(bytes, range) {
      if let feature = Feature(rawValue: field.number), field.type == .varint, feature != .closedEnum {
        features[feature] = UInt8(truncatingIfNeeded: min(field.value, 15))
        if field.value == 0 { unknown = unknown ?? feature }
      } else if field.number == 1000, field.type == .length {
        for inner in WireFields(bytes, field.content) where inner.number == 1 && inner.type == .varint {
          features[.closedEnum] = inner.value != 0 ? 1 : 2
        }
      }
    }
    return (features, unknown)
  }
}

extension Linker {
  /// Resolves the features of all declarations of the file: those of a declaration override those of its parent.
  mutating func resolveFeatures() {
    for element in order {
      let declaration = schema.declaration(element)
      let parent = parentFeatures(element)
      var own = explicitFeatures(element, declaration)
      if element.kind == .field { inferLegacyFeatures(element.index, &own) }
      schema.setFeatures(element, parent.merged(own))
      if element.kind == .field { applyFeatures(element.index) }
    }
  }

  private func parentFeatures(_ element: Element) -> Features {
    let top = schema.files[file].declaration.features
    func features(of message: Handle) -> Features {
      message == .none ? top : schema.messages[message].declaration.features
    }
    switch element.kind {
    case .file: return Features.defaults(schema.files[file].edition)
    case .message: return features(of: schema.messages[element.index].parent)
    case .field:
      let field = schema.fields[element.index]
      return field.oneof != .none
        ? schema.oneofs[field.oneof].declaration.features : features(of: field.parent)
    case .oneof: return features(of: schema.oneofs[element.index].message)
    case .range: return features(of: element.owner)
    case .enum: return features(of: schema.enums[element.index].parent)
    case .value: return schema.enums[schema.values[element.index].owner].declaration.features
    case .service: return top
    case .method: return schema.services[schema.methods[element.index].service].declaration.features
    }
  }

  /// The features that the options of a declaration set.
  private mutating func explicitFeatures(_ element: Element, _ declaration: Declaration) -> Features {
    guard declaration.site != .none, tables.sites[declaration.site].interpreted.hasFeatures else {
      return Features()
    }
    var features = Features()
    var unknown: Features.Feature?
    schema.optionBytes.withUnsafeBufferPointer { bytes in
      for field in WireFields(bytes, declaration.options.range)
      where field.number == element.kind.featuresNumber {
        let found = Features.explicit(bytes, field.content)
        features = features.merged(found.features)
        unknown = unknown ?? found.unknown
      }
    }
    tables.sites[declaration.site].interpreted.features = features
    let place = element.kind == .file ? tables.syntaxPlace : namePlace(element)
    if schema.files[file].edition.isLegacy {
      error("Features are only valid under editions.", at: place)
    } else if let unknown {
      let name = Features.names[Int(unknown.rawValue) - 1]
      error(
        "Feature field `\(name)` must resolve to a known value, found \(Features.unknownNames[Int(unknown.rawValue) - 1])_UNKNOWN",
        at: place)
    }
    return features
  }

  /// Adds what `required`, `group` and `packed` mean in proto2 and proto3.
  private func inferLegacyFeatures(_ field: Handle, _ features: inout Features) {
    let edition = schema.files[file].edition
    guard edition.isLegacy else { return }
    let node = schema.fields[field]
    if node.label == .required { features[.fieldPresence] = Features.legacyRequired }
    if node.type == .group { features[.messageEncoding] = Features.delimited }
    if !node.declaration.options.isEmpty, let isPacked = option(2, of: node.declaration.options) {
      if isPacked != 0 {
        features[.repeatedFieldEncoding] = Features.packed
      } else if edition == .proto3 {
        features[.repeatedFieldEncoding] = Features.expanded
      }
    }
  }

  /// Changes the label and the type of a field whose features mean `required` and a group.
  private mutating func applyFeatures(_ field: Handle) {
    let node = schema.fields[field]
    let features = node.declaration.features
    if features[.fieldPresence] == Features.legacyRequired, node.label == .optional {
      schema.fields[field].label = .required
    }
    if node.type == .message, features[.messageEncoding] == Features.delimited,
      !schema.messages[node.extendee].isMapEntry,
      !schema.messages[node.typeIndex].isMapEntry
    {
      schema.fields[field].type = .group
    }
    if schema.fields[field].label == .required, !node.isExtension {
      schema.messages[node.extendee].hasRequiredField = true
    }
    guard !node.declaration.options.isEmpty else { return }
    schema.fields[field].isSourceRetention = option(17, of: node.declaration.options) == 2
    schema.fields[field].hasFeatureSupport = hasOption(22, of: node.declaration.options)
    schema.fields[field].hasTargets = hasOption(19, of: node.declaration.options)
  }
}

extension Features {
  /// The names of the enums of the first nine, in capital letters.
  static let unknownNames = [
    "FIELD_PRESENCE", "ENUM_TYPE", "REPEATED_FIELD_ENCODING", "UTF8_VALIDATION", "MESSAGE_ENCODING",
    "JSON_FORMAT",
    "ENFORCE_NAMING_STYLE", "DEFAULT_SYMBOL_VISIBILITY", "PROTO_LIMITS",
  ]
}
