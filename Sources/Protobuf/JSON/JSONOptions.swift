/// Options for reading JSON.
public struct JSONDecodingOptions: Sendable, Equatable {
  /// Whether unknown fields and enum values are ignored.
  public var allowUnknownFields: Bool
  /// Whether required fields may be missing.
  public var allowPartial: Bool

  /// Makes options; strict by default.
  public init(allowUnknownFields: Bool = false, allowPartial: Bool = false) {
    self.allowUnknownFields = allowUnknownFields
    self.allowPartial = allowPartial
  }
}

/// Options for writing JSON.
public struct JSONEncodingOptions: Sendable, Equatable {
  /// Whether unset fields without presence are written.
  public var emitDefaults: Bool
  /// Whether enum values are written as numbers.
  public var enumNumbers: Bool
  /// Whether fields have the names of the `.proto` file instead of the JSON names.
  public var protoNames: Bool
  /// Whether each value is on a line, indented by two spaces per level.
  public var pretty: Bool

  /// Makes options; compact ProtoJSON by default.
  public init(
    emitDefaults: Bool = false, enumNumbers: Bool = false, protoNames: Bool = false, pretty: Bool = false
  ) {
    self.emitDefaults = emitDefaults
    self.enumNumbers = enumNumbers
    self.protoNames = protoNames
    self.pretty = pretty
  }
}
