/// Options for reading JSON.
public struct JSONDecodingOptions: Sendable, Equatable {
  /// Whether unknown fields and enum values are ignored.
  public var allowUnknownFields: Bool
  /// Whether required fields may be missing.
  public var allowPartial: Bool
  /// Whether base64 that is probably text is an error, see ``Base64/resemblesText(_:)``.
  package var refusesText = false

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
  /// The form of 64-bit integers.
  public enum Int64Form: Sendable, Equatable {
    /// Strings, as ProtoJSON prescribes.
    case strings
    /// Numbers. Many readers round those above 2^53.
    case numbers
  }

  /// How 64-bit integers are written.
  public var int64s: Int64Form
  /// Whether each value is on a line, indented by two spaces per level.
  public var pretty: Bool
  /// Whether unknown fields are written: as members named by number. Each has a list of values, and each value is an
  /// object with all types that it can have: `{"7":[{"uint64":"150","sint64":"75"}]}`. ProtoJSON has no form for
  /// them. Those of well-known types whose JSON is no object are not written.
  package var unknownFields = UnknownFields.drop

  /// How the values of bytes fields are written.
  package var bytes = BytesForm.base64

  /// Makes options; compact ProtoJSON by default.
  ///
  /// - Parameters:
  ///   - emitDefaults: Whether fields without presence are written with their default values.
  ///   - enumNumbers: Whether values of enums are written as numbers.
  ///   - protoNames: Whether the names of fields are those of the `.proto` file.
  ///   - int64s: How 64-bit integers are written.
  ///   - pretty: Whether the text has line breaks and indentation.
  public init(
    emitDefaults: Bool = false, enumNumbers: Bool = false, protoNames: Bool = false,
    int64s: Int64Form = .strings, pretty: Bool = false
  ) {
    self.emitDefaults = emitDefaults
    self.enumNumbers = enumNumbers
    self.protoNames = protoNames
    self.int64s = int64s
    self.pretty = pretty
  }
}

/// The form of bytes in JSON: in ProtoJSON base64; others are for people and cannot be read again.
package enum BytesForm: String, Sendable {
  case base64, hex
  /// UTF-8, in which other bytes become U+FFFD.
  case text
  /// ASCII with the escapes of text format.
  case escape
}
