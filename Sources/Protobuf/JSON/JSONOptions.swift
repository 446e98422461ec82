/// How JSON is read.
public struct JSONDecodingOptions: Sendable, Equatable {
  /// Whether fields and enum values that the schema does not know are passed over.
  public var allowUnknownFields: Bool
  /// Whether required fields may be missing.
  public var allowPartial: Bool

  /// Strict, unless said otherwise.
  public init(allowUnknownFields: Bool = false, allowPartial: Bool = false) {
    self.allowUnknownFields = allowUnknownFields
    self.allowPartial = allowPartial
  }
}

/// How JSON is written.
public struct JSONEncodingOptions: Sendable, Equatable {
  /// Whether fields without presence are written when they are not set.
  public var emitDefaults: Bool
  /// Whether enum values are written as numbers.
  public var enumNumbers: Bool
  /// Whether fields have their names from the `.proto` file, instead of the JSON names.
  public var protoNames: Bool
  /// Whether there is a line for each value, indented by two.
  public var pretty: Bool

  /// Compact ProtoJSON, unless said otherwise.
  public init(
    emitDefaults: Bool = false, enumNumbers: Bool = false, protoNames: Bool = false, pretty: Bool = false
  ) {
    self.emitDefaults = emitDefaults
    self.enumNumbers = enumNumbers
    self.protoNames = protoNames
    self.pretty = pretty
  }
}
