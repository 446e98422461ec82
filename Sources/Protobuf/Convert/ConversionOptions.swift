/// A format of messages in files.
public enum MessageFormat: String, Sendable, CaseIterable {
  /// ProtoJSON. Several values may follow each other.
  case json
  /// Text format.
  case text
  /// The wire format.
  case binary
}

/// Options of a ``Converter``.
public struct ConversionOptions: Sendable, Equatable {
  /// The format of the input.
  public var from: MessageFormat
  /// The format of the output.
  public var to: MessageFormat
  /// Whether input and output are streams of messages: in binary each one is preceded by its length as a
  /// varint, in text format each one is on a line.
  public var isDelimited: Bool
  /// Options for reading JSON.
  public var jsonDecoding = JSONDecodingOptions()
  /// Options for writing JSON.
  public var jsonEncoding = JSONEncodingOptions()
  /// Options for reading text format.
  public var textDecoding = TextDecodingOptions()
  /// Options for writing text format.
  public var textEncoding = TextEncodingOptions()
  /// Whether required fields may be missing.
  public var allowPartial = false
  /// The maximum length of a message in a stream, in bytes, which bounds memory. The default is protobuf's
  /// own limit.
  public var limitBytes = Int(Int32.max)

  /// Makes options with defaults otherwise.
  public init(from: MessageFormat, to: MessageFormat, isDelimited: Bool = false) {
    self.from = from
    self.to = to
    self.isDelimited = isDelimited
  }
}
