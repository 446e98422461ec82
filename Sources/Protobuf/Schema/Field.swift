/// The type of a field's values, numbered as in `descriptor.proto`.
public enum FieldKind: UInt8, Sendable, CaseIterable {
  /// The scalar kinds have the names of the protobuf language; a group is a delimited message.
  case double = 1
  case float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes, uint32
  case enumeration
  case sfixed32, sfixed64, sint32, sint64

  /// The type's name in the protobuf language.
  public var protoName: String { self == .enumeration ? "enum" : "\(self)" }

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

  /// Whether values of this kind may be packed.
  @inline(__always)
  var isPackable: Bool { !isMessage && self != .string && self != .bytes }
}

/// A field of a message type, or an extension, with all features resolved.
public final class Field: Sendable {
  /// The name in the `.proto` file.
  public let name: String
  /// For an extension its full name, otherwise the name.
  public let fullName: String
  /// The name in JSON; for an extension `[full.name]`.
  public let jsonName: String
  /// The field number.
  public let number: UInt32
  /// The type of its values; for a map ``FieldKind/message``.
  public let kind: FieldKind
  /// Whether it is a list or a map.
  public let isRepeated: Bool
  /// Whether it is a map; ``mapKey`` and ``mapValue`` describe its entries.
  public let isMap: Bool
  /// Whether the list is written packed. Both forms are read.
  public let isPacked: Bool
  /// Whether “not set” differs from “set to the default”.
  public let hasPresence: Bool
  /// Whether it is marked `required`.
  public let isRequired: Bool
  /// Whether its strings must be UTF-8.
  public let validatesUTF8: Bool
  /// Whether it is an extension.
  public let isExtension: Bool
  /// Whether it is marked `deprecated`.
  public let isDeprecated: Bool
  /// The position of its oneof in ``MessageType/oneofNames``. Oneofs that stand for `optional` do not count.
  public let oneofIndex: Int?
  /// The type of the values of a message field.
  public let messageType: MessageType?
  /// The type of the values of an enum field.
  public let enumType: EnumType?
  /// A map's key.
  public let mapKey: Field?
  /// A map's value.
  public let mapValue: Field?
  /// The default that the `.proto` file states, as text.
  public let defaultText: String?
  /// The options, with the custom ones.
  public let options: DescriptorOptions

  /// The position among the fields of the type, or -1 for an extension.
  let slot: Int
  /// The tag that is written before a value, or before all values of a packed list.
  let tag: Tag
  /// What the transcoders need of it.
  nonisolated(unsafe) let plan: FieldPointer

  init(
    name: String, fullName: String, jsonName: String, number: UInt32, kind: FieldKind,
    isRepeated: Bool = false,
    isPacked: Bool = false, hasPresence: Bool = false, isRequired: Bool = false, validatesUTF8: Bool = false,
    isExtension: Bool = false, isDeprecated: Bool = false, oneofIndex: Int? = nil,
    messageType: MessageType? = nil, enumType: EnumType? = nil, mapKey: Field? = nil, mapValue: Field? = nil,
    defaultText: String? = nil, options: DescriptorOptions = .none, slot: Int
  ) {
    self.name = name
    self.fullName = fullName
    self.jsonName = jsonName
    self.number = number
    self.kind = kind
    self.isRepeated = isRepeated
    isMap = mapKey != nil
    self.isPacked = isPacked
    self.hasPresence = hasPresence
    self.isRequired = isRequired
    self.validatesUTF8 = validatesUTF8
    self.isExtension = isExtension
    self.isDeprecated = isDeprecated
    self.oneofIndex = oneofIndex
    self.messageType = messageType
    self.enumType = enumType
    self.mapKey = mapKey
    self.mapValue = mapValue
    self.defaultText = defaultText
    self.options = options
    self.slot = slot
    tag = Tag(number, isPacked ? .lengthDelimited : kind.wireType)
    let plan = UnsafeMutablePointer<FieldPlan>.allocate(capacity: 1)
    self.plan = FieldPointer(plan)
    plan.initialize(to: FieldPlan(self))
  }

  deinit {
    plan.pointee.jsonKey.deallocate()
    plan.pointee.protoKey.deallocate()
    plan.deallocate()
  }

  /// How paths name it.
  var pathName: String { isExtension ? "(\(fullName))" : name }

  /// The value of the field where it is not set: what the schema states, or zero. Nil for messages, lists, maps.
  public var defaultValue: Value? {
    if isRepeated || kind.isMessage { return nil }
    return defaultText.flatMap { DefaultValue.parse($0, of: self) } ?? DefaultValue.zero(of: self)
  }
}
