/// How text format is read.
public struct TextDecodingOptions: Sendable, Equatable {
  /// Whether fields and extensions that the schema does not define are skipped, by name or by number.
  public var allowUnknownFields: Bool
  /// Whether required fields may be missing.
  public var allowPartial: Bool

  /// Strict, unless said otherwise.
  public init(allowUnknownFields: Bool = false, allowPartial: Bool = false) {
    self.allowUnknownFields = allowUnknownFields
    self.allowPartial = allowPartial
  }
}

/// How text format is written.
public struct TextEncodingOptions: Sendable, Equatable {
  /// Whether the whole message stands on one line.
  public var singleLine: Bool
  /// Whether an Any of a known type is written as the message it holds, `[type.googleapis.com/pkg.Name] { … }`.
  public var expandAny: Bool
  /// Whether fields that the schema does not define are written, by number. Such text can only be read with
  /// `allowUnknownFields`, which skips them.
  public var unknownFields: Bool

  /// A line for each value, Any expanded, unknown fields by number, unless said otherwise.
  public init(singleLine: Bool = false, expandAny: Bool = true, unknownFields: Bool = true) {
    self.singleLine = singleLine
    self.expandAny = expandAny
    self.unknownFields = unknownFields
  }
}
