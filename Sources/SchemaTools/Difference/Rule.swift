/// A rule of compatibility between an old and a new schema, with the name that `buf breaking` has for it.
package enum Rule: String, CaseIterable, Sendable {
  // Enums
  case enumSameJSONFormat = "ENUM_SAME_JSON_FORMAT"
  case enumSameType = "ENUM_SAME_TYPE"
  case enumValueNoDelete = "ENUM_VALUE_NO_DELETE"
  case enumValueNoDeleteUnlessNameReserved = "ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED"
  case enumValueNoDeleteUnlessNumberReserved = "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED"
  case enumValueSameName = "ENUM_VALUE_SAME_NAME"
  case reservedEnumNoDelete = "RESERVED_ENUM_NO_DELETE"
  // Messages
  case extensionMessageNoDelete = "EXTENSION_MESSAGE_NO_DELETE"
  case messageNoRemoveStandardDescriptorAccessor = "MESSAGE_NO_REMOVE_STANDARD_DESCRIPTOR_ACCESSOR"
  case messageSameJSONFormat = "MESSAGE_SAME_JSON_FORMAT"
  case messageSameRequiredFields = "MESSAGE_SAME_REQUIRED_FIELDS"
  case oneofNoDelete = "ONEOF_NO_DELETE"
  case reservedMessageNoDelete = "RESERVED_MESSAGE_NO_DELETE"
  // Fields
  case fieldNoDelete = "FIELD_NO_DELETE"
  case fieldNoDeleteUnlessNameReserved = "FIELD_NO_DELETE_UNLESS_NAME_RESERVED"
  case fieldNoDeleteUnlessNumberReserved = "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED"
  case fieldSameCardinality = "FIELD_SAME_CARDINALITY"
  case fieldSameCppStringType = "FIELD_SAME_CPP_STRING_TYPE"
  case fieldSameDefault = "FIELD_SAME_DEFAULT"
  case fieldSameJavaUTF8Validation = "FIELD_SAME_JAVA_UTF8_VALIDATION"
  case fieldSameJSONName = "FIELD_SAME_JSON_NAME"
  case fieldSameJSType = "FIELD_SAME_JSTYPE"
  case fieldSameName = "FIELD_SAME_NAME"
  case fieldSameOneof = "FIELD_SAME_ONEOF"
  case fieldSameType = "FIELD_SAME_TYPE"
  case fieldSameUTF8Validation = "FIELD_SAME_UTF8_VALIDATION"
  case fieldWireCompatibleCardinality = "FIELD_WIRE_COMPATIBLE_CARDINALITY"
  case fieldWireCompatibleType = "FIELD_WIRE_COMPATIBLE_TYPE"
  case fieldWireJSONCompatibleCardinality = "FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY"
  case fieldWireJSONCompatibleType = "FIELD_WIRE_JSON_COMPATIBLE_TYPE"
  // Files
  case fileSameCcEnableArenas = "FILE_SAME_CC_ENABLE_ARENAS"
  case fileSameCcGenericServices = "FILE_SAME_CC_GENERIC_SERVICES"
  case fileSameCsharpNamespace = "FILE_SAME_CSHARP_NAMESPACE"
  case fileSameGoPackage = "FILE_SAME_GO_PACKAGE"
  case fileSameJavaGenericServices = "FILE_SAME_JAVA_GENERIC_SERVICES"
  case fileSameJavaMultipleFiles = "FILE_SAME_JAVA_MULTIPLE_FILES"
  case fileSameJavaOuterClassname = "FILE_SAME_JAVA_OUTER_CLASSNAME"
  case fileSameJavaPackage = "FILE_SAME_JAVA_PACKAGE"
  case fileSameObjcClassPrefix = "FILE_SAME_OBJC_CLASS_PREFIX"
  case fileSameOptimizeFor = "FILE_SAME_OPTIMIZE_FOR"
  case fileSamePackage = "FILE_SAME_PACKAGE"
  case fileSamePhpClassPrefix = "FILE_SAME_PHP_CLASS_PREFIX"
  case fileSamePhpMetadataNamespace = "FILE_SAME_PHP_METADATA_NAMESPACE"
  case fileSamePhpNamespace = "FILE_SAME_PHP_NAMESPACE"
  case fileSamePyGenericServices = "FILE_SAME_PY_GENERIC_SERVICES"
  case fileSameRubyPackage = "FILE_SAME_RUBY_PACKAGE"
  case fileSameSwiftPrefix = "FILE_SAME_SWIFT_PREFIX"
  case fileSameSyntax = "FILE_SAME_SYNTAX"
  // Packages
  case packageEnumNoDelete = "PACKAGE_ENUM_NO_DELETE"
  case packageExtensionNoDelete = "PACKAGE_EXTENSION_NO_DELETE"
  case packageMessageNoDelete = "PACKAGE_MESSAGE_NO_DELETE"
  case packageNoDelete = "PACKAGE_NO_DELETE"
  case packageServiceNoDelete = "PACKAGE_SERVICE_NO_DELETE"
  // Methods
  case rpcNoDelete = "RPC_NO_DELETE"
  case rpcSameClientStreaming = "RPC_SAME_CLIENT_STREAMING"
  case rpcSameIdempotencyLevel = "RPC_SAME_IDEMPOTENCY_LEVEL"
  case rpcSameRequestType = "RPC_SAME_REQUEST_TYPE"
  case rpcSameResponseType = "RPC_SAME_RESPONSE_TYPE"
  case rpcSameServerStreaming = "RPC_SAME_SERVER_STREAMING"

  /// The categories that contain the rule.
  package var categories: [RuleCategory] {
    switch self {
    case .fieldSameDefault, .fieldSameOneof, .fileSamePackage, .messageSameRequiredFields,
      .reservedEnumNoDelete, .reservedMessageNoDelete, .rpcSameClientStreaming, .rpcSameIdempotencyLevel,
      .rpcSameRequestType, .rpcSameResponseType, .rpcSameServerStreaming:
      [.package, .wireJSON, .wire]
    case .enumSameJSONFormat, .enumValueSameName, .fieldSameJSONName, .fieldSameName, .messageSameJSONFormat:
      [.package, .wireJSON]
    case .enumValueNoDeleteUnlessNumberReserved, .fieldNoDeleteUnlessNumberReserved: [.wireJSON, .wire]
    case .enumValueNoDeleteUnlessNameReserved, .fieldNoDeleteUnlessNameReserved,
      .fieldWireJSONCompatibleCardinality, .fieldWireJSONCompatibleType:
      [.wireJSON]
    case .fieldWireCompatibleCardinality, .fieldWireCompatibleType: [.wire]
    default: [.package]
    }
  }
}

/// A category of rules: what stays compatible.
package enum RuleCategory: String, CaseIterable, Sendable {
  /// Calls, JSON, binary messages, and code generated for a package.
  case package = "PACKAGE"
  /// Messages in JSON and in binary.
  case wireJSON = "WIRE_JSON"
  /// Binary messages.
  case wire = "WIRE"

  /// The rules of the category.
  package var rules: Set<Rule> { Set(Rule.allCases.filter { $0.categories.contains(self) }) }
}

/// A difference between two schemas.
package struct SchemaFinding: Sendable, Equatable {
  /// The rule that the new schema breaks; nil for a compatible addition.
  package let rule: Rule?
  /// The `.proto` file: of the new schema, or of the old one if the new one has no such file.
  package let file: String
  /// The full name of the declaration; for a file, its package.
  package let symbol: String
  /// What differs, with the name of the declaration: `message demo.v1.Item was removed`.
  package let text: String
  /// Where the declaration is in the file, or what contained it; nil for a schema without places.
  package var place: SourcePlace?
  /// Other full names that it concerns: the old name of a renamed field, all names of an enum value, and the
  /// declarations of a removed package or of a file whose package changed.
  package var others: [String] = []

  /// Whether it concerns a package or a declaration, or something in it.
  ///
  /// - Parameter name: The full name, with a dot before the method.
  package func concerns(_ name: String) -> Bool {
    let symbol = symbol.replacing("/", with: ".")
    // What the new schema no longer has, with everything in it.
    let removed: [String] =
      switch rule {
      case .packageNoDelete, .fileSamePackage: others
      case .packageMessageNoDelete, .packageEnumNoDelete, .packageServiceNoDelete: [symbol]
      default: []
      }
    return ([symbol] + others).contains { Self.contains(name, $0) }
      || removed.contains { Self.contains($0, name) }
  }

  private static func contains(_ scope: String, _ name: String) -> Bool {
    name.hasPrefix(scope) && [nil, "."].contains(name.dropFirst(scope.count).first)
  }
}
