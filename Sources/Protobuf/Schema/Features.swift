import RPCurlCSchemas

/// The edition features that affect a field, inherited file → message → field. The values are those of `FeatureSet` in
/// `descriptor.proto`.
struct Features: Equatable {
  enum Presence: UInt32 { case explicit = 1, implicit, legacyRequired }
  enum EnumKind: UInt32 { case open = 1, closed }
  enum RepeatedEncoding: UInt32 { case packed = 1, expanded }
  enum TextValidation: UInt32 { case verify = 2, none }
  enum MessageEncoding: UInt32 { case lengthPrefixed = 1, delimited }

  var presence: Presence
  var enumKind: EnumKind
  var repeatedEncoding: RepeatedEncoding
  var textValidation: TextValidation
  var messageEncoding = MessageEncoding.lengthPrefixed

  static let proto2 = Features(
    presence: .explicit, enumKind: .closed, repeatedEncoding: .expanded, textValidation: .none)
  static let proto3 = Features(
    presence: .implicit, enumKind: .open, repeatedEncoding: .packed, textValidation: .verify)
  /// Editions 2023, 2024 and 2026 have the same features here.
  static let edition2023 = Features(
    presence: .explicit, enumKind: .open, repeatedEncoding: .packed, textValidation: .verify)

  /// These features, overridden by those in a descriptor's options.
  func overridden(by set: UnsafeMutablePointer<Rpcurl__Schemas__FeatureSet>?) -> Features {
    guard let set = set?.pointee else { return self }
    var result = self
    result.presence.override(set.has_field_presence, set.field_presence.rawValue)
    result.enumKind.override(set.has_enum_type, set.enum_type.rawValue)
    result.repeatedEncoding.override(set.has_repeated_field_encoding, set.repeated_field_encoding.rawValue)
    result.textValidation.override(set.has_utf8_validation, set.utf8_validation.rawValue)
    result.messageEncoding.override(set.has_message_encoding, set.message_encoding.rawValue)
    return result
  }

  /// The features that the fields of a message inherit. Delimited encoding does not apply to the entries of maps.
  func inherited(by message: UnsafeMutablePointer<Rpcurl__Schemas__DescriptorProto>) -> Features {
    guard let options = message.pointee.options else { return self }
    var result = overridden(by: options.pointee.features)
    if options.pointee.map_entry != 0 { result.messageEncoding = .lengthPrefixed }
    return result
  }
}

extension RawRepresentable<UInt32> {
  /// Replaces this value by a feature that is set and known.
  fileprivate mutating func override(_ isSet: Int32, _ value: UInt32) {
    if isSet != 0, let value = Self(rawValue: value) { self = value }
  }
}
