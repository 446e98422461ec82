/// The type of a field's values, numbered as in `descriptor.proto`.
public enum FieldKind: UInt8, Sendable, CaseIterable {
  /// Kinds with the names of the protobuf language; a group is a delimited message.
  case double = 1
  /// Kinds with the names of the language.
  case float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes, uint32
  /// An enum.
  case enumeration
  /// Kinds with the names of the language.
  case sfixed32, sfixed64, sint32, sint64

  /// The type's name in the protobuf language.
  package var protoName: String {
    switch self {
    case .double: "double"
    case .float: "float"
    case .int64: "int64"
    case .uint64: "uint64"
    case .int32: "int32"
    case .fixed64: "fixed64"
    case .fixed32: "fixed32"
    case .bool: "bool"
    case .string: "string"
    case .group: "group"
    case .message: "message"
    case .bytes: "bytes"
    case .uint32: "uint32"
    case .enumeration: "enum"
    case .sfixed32: "sfixed32"
    case .sfixed64: "sfixed64"
    case .sint32: "sint32"
    case .sint64: "sint64"
    }
  }

  @inline(__always)
  var wireType: WireType {
    switch self {
    case .double, .fixed64, .sfixed64: .fixed64
    case .float, .fixed32, .sfixed32: .fixed32
    case .string, .bytes, .message: .lengthDelimited
    case .group: .startGroup
    default: .varint
    }
  }

  @inline(__always)
  var isMessage: Bool { self == .message || self == .group }

  var isInteger: Bool {
    switch self {
    case .int32, .int64, .uint32, .uint64, .sint32, .sint64, .fixed32, .fixed64, .sfixed32, .sfixed64: true
    default: false
    }
  }

  /// Whether values of this kind may be packed.
  @inline(__always)
  var isPackable: Bool { !isMessage && self != .string && self != .bytes }
}

/// The content of a ``Field``.
///
/// Fields, types and enums refer to each other in cycles, without reference counting: the pool owns them all,
/// and lives as long as a handle to one of them (``Field``, ``MessageType``, ``EnumType``) or a message.
final class FieldNode: Sendable {
  /// The properties that a field has or lacks.
  struct Traits: OptionSet {
    let rawValue: UInt8
    static let isRepeated = Traits(rawValue: 1)
    static let isMap = Traits(rawValue: 2)
    static let isPacked = Traits(rawValue: 4)
    static let hasPresence = Traits(rawValue: 8)
    static let validatesUTF8 = Traits(rawValue: 16)
    static let isRequired = Traits(rawValue: 32)
    static let isExtension = Traits(rawValue: 64)
    static let isDeprecated = Traits(rawValue: 128)
  }

  let name: String
  let fullName: String
  let jsonName: String
  let number: UInt32
  let kind: FieldKind
  let traits: Traits
  let oneofIndex: Int?
  unowned(unsafe) let messageType: MessageNode?
  unowned(unsafe) let enumType: EnumNode?
  let mapKey: FieldNode?
  let mapValue: FieldNode?
  let defaultText: String?
  let options: SerializedOptions

  /// The index among the fields of the type, or -1 for an extension.
  let slot: Int
  /// The tag before a value, or before all values of a packed list.
  let tag: Tag
  /// The field's data for the transcoders: constant, and owned by the pool.
  nonisolated(unsafe) let plan: FieldPointer

  init(
    name: String, fullName: String, jsonName: String, number: UInt32, kind: FieldKind, traits: Traits,
    oneofIndex: Int? = nil, messageType: MessageNode? = nil, enumType: EnumNode? = nil,
    mapKey: FieldNode? = nil,
    mapValue: FieldNode? = nil,
    defaultText: String? = nil, options: SerializedOptions = .none, slot: Int
  ) {
    self.name = name
    self.fullName = fullName
    self.jsonName = jsonName
    self.number = number
    self.kind = kind
    self.traits = traits
    self.oneofIndex = oneofIndex
    self.messageType = messageType
    self.enumType = enumType
    self.mapKey = mapKey
    self.mapValue = mapValue
    self.defaultText = defaultText
    self.options = options
    self.slot = slot
    tag = Tag(number, traits.contains(.isPacked) ? .lengthDelimited : kind.wireType)
    let plan = UnsafeMutablePointer<FieldPlan>.allocate(capacity: 1)
    self.plan = FieldPointer(plan)
    plan.initialize(to: FieldPlan(self))
  }

  deinit {
    plan.pointee.jsonKey.deallocate()
    plan.pointee.protoKey.deallocate()
    plan.deallocate()
  }

  /// Whether another field can have each value of this one, not counting whether it is a list.
  func hasType(of other: FieldNode) -> Bool {
    if let mapKey, let mapValue {
      guard let otherKey = other.mapKey, let otherValue = other.mapValue else { return false }
      return mapKey.hasType(of: otherKey) && mapValue.hasType(of: otherValue)
    }
    return kind == other.kind && !other.isMap && messageType === other.messageType
      && enumType === other.enumType && (validatesUTF8 || !other.validatesUTF8)
  }

  @inline(__always)
  var isRepeated: Bool { traits.contains(.isRepeated) }
  @inline(__always)
  var isMap: Bool { traits.contains(.isMap) }
  @inline(__always)
  var isPacked: Bool { traits.contains(.isPacked) }
  @inline(__always)
  var hasPresence: Bool { traits.contains(.hasPresence) }
  @inline(__always)
  var validatesUTF8: Bool { traits.contains(.validatesUTF8) }
  @inline(__always)
  var isRequired: Bool { traits.contains(.isRequired) }
  @inline(__always)
  var isExtension: Bool { traits.contains(.isExtension) }
  @inline(__always)
  var isDeprecated: Bool { traits.contains(.isDeprecated) }

  /// Its name in paths.
  var pathName: String { isExtension ? "[\(fullName)]" : name }

  var defaultValue: Value? {
    if isRepeated || kind.isMessage { return nil }
    return defaultText.flatMap { DefaultValue.parse($0, of: self) } ?? DefaultValue.zero(of: self)
  }
}
