import RPCurlProtobuf

/// The features of editions that rules compare, inherited file → message → oneof → field. The values are those of
/// `google.protobuf.FeatureSet`, `pb.CppFeatures` and `pb.JavaFeatures`.
struct FeatureValues: Equatable {
  /// The numbers of `features` in the options of each kind of declaration.
  enum Holder: UInt32 {
    case oneof = 1
    case enumeration = 7
    case message = 12
    case field = 21
    case file = 50
  }

  /// 1 for explicit, 2 for implicit, 3 for required.
  private(set) var presence: UInt64 = 1
  /// 1 for open, 2 for closed.
  private(set) var enumType: UInt64 = 1
  /// 2 for verified, 3 for none.
  private(set) var utf8Validation: UInt64 = 2
  /// 1 for length-prefixed, 2 for delimited.
  private(set) var messageEncoding: UInt64 = 1
  /// 1 for allowed, 2 for best effort.
  private(set) var jsonFormat: UInt64 = 1
  /// 1 for a view, 2 for a cord, 3 for a string.
  private(set) var cppStringType: UInt64 = 3
  /// 2 for verified; otherwise as `utf8Validation`.
  private(set) var javaUTF8Validation: UInt64 = 1
  /// Whether the file is of an edition, so that options may have features.
  private let isEdition: Bool

  /// The defaults of a syntax.
  init(_ syntax: FileDeclaration.Syntax) {
    switch syntax {
    case .proto2:
      (enumType, utf8Validation, jsonFormat) = (2, 3, 2)
      isEdition = false
    case .proto3:
      presence = 2
      isEdition = false
    case .edition(let number):
      if number >= 1001 { cppStringType = 1 }
      isEdition = true
    }
  }

  /// These features with those that the options of a declaration set.
  func overridden(by options: DescriptorOptions, of holder: Holder) -> FeatureValues {
    guard isEdition, !options.serialized.isEmpty else { return self }
    var result = self
    for set in WireFields(options).messages(holder.rawValue) {
      for record in set.records { result.set(record) }
    }
    return result
  }

  private mutating func set(_ record: WireRecord) {
    switch record.number {
    case 1: presence = record.bits
    case 2: enumType = record.bits
    case 4: utf8Validation = record.bits
    case 5: messageEncoding = record.bits
    case 6: jsonFormat = record.bits
    // The extensions for C++ and for Java.
    case 1000: cppStringType = WireFields(Array(record.bytes)).bits(2) ?? cppStringType
    case 1001: javaUTF8Validation = WireFields(Array(record.bytes)).bits(2) ?? javaUTF8Validation
    default: break
    }
  }
}
