import CSchemas

/// The edition features that affect a field, inherited file → message → field.
struct Features: Equatable {
  enum Presence: UInt32 { case explicit = 1, implicit, legacyRequired }

  var presence: Presence
  var closedEnums: Bool
  var packed: Bool
  var validatesUTF8: Bool
  var delimited: Bool
  var strictJSON: Bool

  static let proto2 = Features(
    presence: .explicit, closedEnums: true, packed: false, validatesUTF8: false, delimited: false,
    strictJSON: false)
  static let proto3 = Features(
    presence: .implicit, closedEnums: false, packed: true, validatesUTF8: true, delimited: false,
    strictJSON: true)
  /// Editions 2023 and 2024 have the same features here.
  static let edition2023 = Features(
    presence: .explicit, closedEnums: false, packed: true, validatesUTF8: true, delimited: false,
    strictJSON: true)

  /// These features, overridden by those in a descriptor's options.
  func overridden(by set: UnsafeMutablePointer<Rpcurl__Schemas__FeatureSet>?) -> Features {
    guard let set = set?.pointee else { return self }
    var result = self
    if set.has_field_presence != 0, let presence = Presence(rawValue: set.field_presence.rawValue) {
      result.presence = presence
    }
    switch (set.has_enum_type, set.enum_type.rawValue) {
    case (1, 1): result.closedEnums = false
    case (1, 2): result.closedEnums = true
    default: break
    }
    switch (set.has_repeated_field_encoding, set.repeated_field_encoding.rawValue) {
    case (1, 1): result.packed = true
    case (1, 2): result.packed = false
    default: break
    }
    switch (set.has_utf8_validation, set.utf8_validation.rawValue) {
    case (1, 2): result.validatesUTF8 = true
    case (1, 3): result.validatesUTF8 = false
    default: break
    }
    switch (set.has_message_encoding, set.message_encoding.rawValue) {
    case (1, 1): result.delimited = false
    case (1, 2): result.delimited = true
    default: break
    }
    switch (set.has_json_format, set.json_format.rawValue) {
    case (1, 1): result.strictJSON = true
    case (1, 2): result.strictJSON = false
    default: break
    }
    return result
  }
}
