import RPCurlProtobuf

/// The rules of protoc-gen-validate as those of protovalidate: almost all have the same numbers and meanings.
///
/// What only the older rules have gets numbers that `buf.validate` does not use.
enum OlderRules {
  /// The number of the extensions `disabled` of messages, `required` of oneofs and `rules` of fields of `validate`.
  static let extensionNumber: UInt32 = 1071
  /// The number that is added to those of the formats of strings that differ.
  static let formatOffset: UInt32 = 200
  /// The field of `buf.validate.FieldRules` which says that a message is not validated, but may be required.
  static let skip: UInt32 = 200
  /// The value of `buf.validate.Ignore` for a value that is zero, also if it is set.
  static let ignoresEmpty: UInt64 = 200

  /// Whether no rules of protoc-gen-validate apply to a message.
  static func areDisabled(by options: WireFields) -> Bool {
    options.flag(extensionNumber) || options.flag(extensionNumber + 1)
  }

  /// The rules of a field as `buf.validate.FieldRules`; nil without any.
  static func translated(_ options: WireFields, isInOneof: Bool) -> WireFields? {
    guard let rules = options.message(extensionNumber) else { return nil }
    return WireFields(translated(rules, isInOneof: isInOneof))
  }

  private static func translated(_ rules: WireFields, isInOneof: Bool) -> [UInt8] {
    let message = rules.message(17)
    var isRequired = message?.flag(2) == true
    var bytes = message?.flag(1) == true ? record(skip, 1) : []
    let number = rules.records.last { (1...22).contains($0.number) && $0.number != 17 }?.number ?? 0
    if let typed = rules.message(number) {
      if number >= 20 { isRequired = isRequired || typed.flag(1) }
      if let empty = emptyFlag(number), typed.flag(empty) { bytes += record(27, ignoresEmpty) }
      var own: [UInt8] = []
      for field in typed.records { own += translated(field, of: number) }
      bytes += varint(UInt64(number << 3 | 2))
      bytes.append(delimited: own)
    }
    // A field in a oneof is validated only if it is set.
    return isRequired && !isInOneof ? bytes + record(25, 1) : bytes
  }

  /// A rule of a type; empty if it says something about the field, or holds for each message that was read.
  private static func translated(_ rule: WireRecord, of type: UInt32) -> [UInt8] {
    if rule.number == emptyFlag(type) { return [] }
    switch (type, rule.number) {
    // A value that is missing on the wire is an empty message: `no_sparse` holds.
    case (19, 3), (20..., 1): return []
    case (14, 12), (14, 13), (14, 21): return record(rule.number + formatOffset, rule.bits)
    case (18, 4), (19, 4), (19, 5):
      var bytes = varint(UInt64(rule.number << 3 | 2))
      bytes.append(delimited: translated(WireFields(Array(rule.bytes)), isInOneof: false))
      return bytes
    default: return Array(rule.whole)
    }
  }

  /// The number of `ignore_empty` in the rules of a type.
  private static func emptyFlag(_ type: UInt32) -> UInt32? {
    switch type {
    case 1...12: 8
    case 14: 26
    case 15: 14
    case 18: 5
    case 19: 6
    default: nil
    }
  }

  private static func record(_ number: UInt32, _ bits: UInt64) -> [UInt8] {
    varint(UInt64(number << 3)) + varint(bits)
  }

  private static func varint(_ value: UInt64) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f | 0x80)] + varint(value >> 7)
  }
}
