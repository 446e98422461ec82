/// Options for reading text format.
public struct TextDecodingOptions: Sendable, Equatable {
  /// Whether fields and extensions that the schema does not define are skipped, by name or by number.
  public var allowUnknownFields: Bool
  /// Whether required fields may be missing.
  public var allowPartial: Bool

  /// Makes options; strict by default.
  public init(allowUnknownFields: Bool = false, allowPartial: Bool = false) {
    self.allowUnknownFields = allowUnknownFields
    self.allowPartial = allowPartial
  }
}

/// Options for writing text format.
public struct TextEncodingOptions: Sendable, Equatable {
  /// Whether the whole message is written on one line.
  public var singleLine: Bool
  /// Whether an Any of a known type is written as its message, `[type.googleapis.com/pkg.Name] { … }`.
  public var expandAny: Bool
  /// Whether unknown fields are written, by number. Such text can be read only with `allowUnknownFields`,
  /// which skips them.
  public var unknownFields: Bool
  /// Whether a comment after each unknown field has the other types that its value can have, unless the message is on
  /// one line.
  package var showsTypes = false
  /// Whether `-nan` is written for a NaN with a sign, as options of `.proto` files may have it. Other implementations omit the sign.
  package var showsSignOfNaN = false

  /// Makes options; by default one line per value, Any expanded, unknown fields by number.
  public init(singleLine: Bool = false, expandAny: Bool = true, unknownFields: Bool = true) {
    self.singleLine = singleLine
    self.expandAny = expandAny
    self.unknownFields = unknownFields
  }
}
