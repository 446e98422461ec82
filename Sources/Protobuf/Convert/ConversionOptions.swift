/// A format of messages in files.
package enum MessageFormat: String, Sendable, CaseIterable {
  /// ProtoJSON. Several values may follow each other.
  case json
  /// Text format.
  case text
  /// The wire format.
  case binary
}

/// Options of a ``Converter``.
package struct ConversionOptions: Sendable, Equatable {
  /// The format of the input.
  package var from: MessageFormat
  /// The format of the output.
  package var to: MessageFormat
  /// Whether input and output are streams of messages: in binary each one is preceded by its length as a
  /// varint, in text format each one is on a line.
  package var isDelimited: Bool
  /// Options for reading JSON.
  package var jsonDecoding = JSONDecodingOptions()
  /// Options for writing JSON.
  package var jsonEncoding = JSONEncodingOptions()
  /// Options for reading text format.
  package var textDecoding = TextDecodingOptions()
  /// Options for writing text format.
  package var textEncoding = TextEncodingOptions()
  /// Whether required fields may be missing.
  package var allowPartial = false
  /// Whether unknown fields are part of binary output. Those of JSON and text are in their options.
  package var unknownFields = UnknownFields.show
  /// The maximum length of a message in a stream, in bytes, which bounds memory. The default is protobuf's
  /// own limit.
  package var limitBytes = Int(Int32.max)

  /// How the messages of the input follow each other.
  var framing: MessageFraming {
    switch (from, isDelimited) {
    case (.json, _): .values
    case (.text, true): .lines
    case (.binary, true): .delimited
    case (.text, false), (.binary, false): .whole
    }
  }

  /// Makes options with defaults otherwise.
  package init(from: MessageFormat, to: MessageFormat, isDelimited: Bool = false) {
    self.from = from
    self.to = to
    self.isDelimited = isDelimited
  }
}
