/// A form in which messages stand in files.
public enum MessageFormat: String, Sendable, CaseIterable {
  /// ProtoJSON. Several values may follow each other.
  case json
  /// Text format.
  case text
  /// The wire format.
  case binary
}

/// How a ``Converter`` reads and writes.
public struct ConversionOptions: Sendable, Equatable {
  /// The form of the input.
  public var from: MessageFormat
  /// The form of the output.
  public var to: MessageFormat
  /// Whether input and output are streams of messages: in binary each behind its length as a varint, in text format
  /// each on a line of its own.
  public var isDelimited: Bool
  /// How JSON is read.
  public var jsonDecoding = JSONDecodingOptions()
  /// How JSON is written.
  public var jsonEncoding = JSONEncodingOptions()
  /// How text format is read.
  public var textDecoding = TextDecodingOptions()
  /// How text format is written.
  public var textEncoding = TextEncodingOptions()
  /// Whether required fields may be missing.
  public var allowPartial = false
  /// The longest message of a stream, so that memory stays bounded. Protobuf's own limit, unless said otherwise.
  public var limitBytes = Int(Int32.max)

  /// A conversion without further options.
  public init(from: MessageFormat, to: MessageFormat, isDelimited: Bool = false) {
    self.from = from
    self.to = to
    self.isDelimited = isDelimited
  }
}
