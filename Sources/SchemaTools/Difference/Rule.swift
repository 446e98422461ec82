import RPCurlProtobuf

/// A rule of compatibility between an old and a new schema, with the name that `buf breaking` has for it.
package enum Rule: String, CaseIterable, Sendable {
  // Enums
  case enumNoDelete = "ENUM_NO_DELETE"
  case enumSameJSONFormat = "ENUM_SAME_JSON_FORMAT"
  case enumSameType = "ENUM_SAME_TYPE"
  case enumValueNoDelete = "ENUM_VALUE_NO_DELETE"
  case enumValueNoDeleteUnlessNameReserved = "ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED"
  case enumValueNoDeleteUnlessNumberReserved = "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED"
  case enumValueSameName = "ENUM_VALUE_SAME_NAME"
  case reservedEnumNoDelete = "RESERVED_ENUM_NO_DELETE"
  // Messages
  case extensionMessageNoDelete = "EXTENSION_MESSAGE_NO_DELETE"
  case extensionNoDelete = "EXTENSION_NO_DELETE"
  case messageNoDelete = "MESSAGE_NO_DELETE"
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
  case fileNoDelete = "FILE_NO_DELETE"
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
  // Services
  case rpcNoDelete = "RPC_NO_DELETE"
  case rpcSameClientStreaming = "RPC_SAME_CLIENT_STREAMING"
  case rpcSameIdempotencyLevel = "RPC_SAME_IDEMPOTENCY_LEVEL"
  case rpcSameRequestType = "RPC_SAME_REQUEST_TYPE"
  case rpcSameResponseType = "RPC_SAME_RESPONSE_TYPE"
  case rpcSameServerStreaming = "RPC_SAME_SERVER_STREAMING"
  case serviceNoDelete = "SERVICE_NO_DELETE"

  /// The categories that contain the rule.
  package var categories: [RuleCategory] {
    switch self {
    case .enumNoDelete, .extensionNoDelete, .fileNoDelete, .messageNoDelete, .serviceNoDelete: [.file]
    case .packageEnumNoDelete, .packageExtensionNoDelete, .packageMessageNoDelete, .packageNoDelete,
      .packageServiceNoDelete:
      [.package]
    case .fieldSameDefault, .fieldSameOneof, .fileSamePackage, .messageSameRequiredFields,
      .reservedEnumNoDelete, .reservedMessageNoDelete, .rpcSameClientStreaming, .rpcSameIdempotencyLevel,
      .rpcSameRequestType, .rpcSameResponseType, .rpcSameServerStreaming:
      [.file, .package, .wireJSON, .wire]
    case .enumSameJSONFormat, .enumValueSameName, .fieldSameJSONName, .fieldSameName, .messageSameJSONFormat:
      [.file, .package, .wireJSON]
    case .enumValueNoDeleteUnlessNumberReserved, .fieldNoDeleteUnlessNumberReserved: [.wireJSON, .wire]
    case .enumValueNoDeleteUnlessNameReserved, .fieldNoDeleteUnlessNameReserved,
      .fieldWireJSONCompatibleCardinality, .fieldWireJSONCompatibleType:
      [.wireJSON]
    case .fieldWireCompatibleCardinality, .fieldWireCompatibleType: [.wire]
    default: [.file, .package]
    }
  }
}

/// A category of rules: what stays compatible.
package enum RuleCategory: String, CaseIterable, Sendable {
  /// Calls, JSON, binary messages, and code generated for each file.
  case file = "FILE"
  /// Calls, JSON, binary messages, and code generated for a package.
  case package = "PACKAGE"
  /// Messages in JSON and in binary.
  case wireJSON = "WIRE_JSON"
  /// Binary messages.
  case wire = "WIRE"

  /// The rules of the category.
  package var rules: Set<Rule> { Set(Rule.allCases.filter { $0.categories.contains(self) }) }
}

extension Rule {
  /// The rules that a name in a `buf.yaml` or an option means: those of a category, or one rule; nil for another name.
  package static func named(_ name: String) -> Set<Rule>? {
    switch name {
    // Names that buf has replaced, or that no longer check anything.
    case "FIELD_SAME_CTYPE": [.fieldSameCppStringType]
    case "FIELD_SAME_LABEL": [.fieldSameCardinality]
    case "FILE_SAME_JAVA_STRING_CHECK_UTF8": [.fieldSameJavaUTF8Validation]
    case "FILE_SAME_PHP_GENERIC_SERVICES", "MESSAGE_SAME_MESSAGE_SET_WIRE_FORMAT": []
    default: RuleCategory(rawValue: name)?.rules ?? Rule(rawValue: name).map { [$0] }
    }
  }

  /// Whether the new schema lacks the declaration that a finding names.
  var isRemoval: Bool {
    switch self {
    case .reservedEnumNoDelete, .reservedMessageNoDelete, .extensionMessageNoDelete: false
    default: rawValue.contains("_NO_DELETE")
    }
  }

  /// Whether it compares files, or packages as files declare them, and no declaration.
  var isOfFile: Bool { self == .packageNoDelete || rawValue.hasPrefix("FILE_") }
}
