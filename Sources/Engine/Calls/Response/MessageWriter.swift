import RPCurlProtobuf
import RPCurlProtocols

/// The format of responses.
package enum OutputFormat: String {
  case pretty
  case json
  case text
  case binary
  case tsv
  case csv
  case events
  case none

  /// Whether each message is a row of fields, below a line with their names.
  var isRow: Bool { self == .tsv || self == .csv }
}

/// Writes response messages in the chosen format.
///
/// A class, so that its use for each message copies nothing.
package final class MessageWriter {
  private let type: MessageType
  private let codec: CodecName
  private let format: OutputFormat
  /// Whether several messages may be written.
  private let isSequence: Bool
  private let transcoder: JSONTranscoder
  private let filter: FieldFilter?
  private let isTerminal: Bool
  /// Whether unknown fields are part of text and binary output.
  private let unknownFields: UnknownFields

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - plan: The call.
  ///   - settings: How it is shown.
  ///   - isTerminal: Whether the messages are printed on a terminal.
  package init(_ plan: CallPlan, _ settings: OutputSettings, isTerminal: Bool) {
    self.isTerminal = isTerminal
    type = plan.method.output
    codec = plan.settings.wire.codec
    format = settings.format
    filter = plan.filter
    unknownFields = settings.unknownFields
    isSequence = plan.isSequence
    var encoding = settings.jsonEncoding
    encoding.pretty = settings.format == .pretty && plan.filter == nil
    transcoder = JSONTranscoder(plan.method.output, encoding: encoding)
  }

  /// Appends a message encoded with the call's codec, which has an index among the responses.
  package func append(_ message: RawSpan, at index: Int = 0, to out: inout OutputBuffer) throws {
    if filter != nil, codec == .proto {
      return try append(Message(type, serialized: message), at: index, to: &out)
    }
    switch (codec, format) {
    case (.proto, .binary): append(binary: try output(message), to: &out)
    case (.proto, .text):
      try type.appendText(of: message, options: textEncoding, to: &out)
      endText(&out)
    case (.proto, _):
      try transcoder.transcode(serialized: message, into: &out)
    case (.json, _):
      // Decode and encode it, to check it and apply the options. A server may know more fields.
      let lenient = JSONDecodingOptions(allowUnknownFields: true)
      try append(Message(type, json: message.copyBytes(), options: lenient), at: index, to: &out)
    }
  }

  /// Whether messages are lines that can be written together.
  package var writesLines: Bool { codec == .proto && format == .json && filter == nil }

  /// Appends JSON of messages in protobuf, each with a line feed, as `JSONTranscoder.transcodeLines` does.
  package func appendLines(of places: Span<Range<Int>>, in piece: RawSpan, to out: inout OutputBuffer) -> Int
  {
    transcoder.transcodeLines(serialized: places, of: piece, into: &out)
  }

  /// Appends a message.
  package func append(_ message: Message, at index: Int = 0, to out: inout OutputBuffer) throws {
    if let filter {
      var text: [UInt8] = []
      try filter.append(
        message, named: "response message \(index)", options: transcoder.encoding,
        escapesControls: isTerminal, to: &text)
      return out.append(text)
    }
    switch format {
    case .binary: append(binary: try output(message.serialized().span.bytes), to: &out)
    case .text:
      out.append(message.text(options: textEncoding))
      endText(&out)
    default: out.append(try message.json(options: transcoder.encoding))
    }
  }

  /// The bytes to write for a message: as they arrived, unless unknown fields are dropped.
  private func output(_ message: RawSpan) throws -> [UInt8] {
    switch unknownFields {
    case .show: message.copyBytes()
    case .drop: try type.droppingUnknownFields(message)
    }
  }

  private func append(binary bytes: [UInt8], to out: inout OutputBuffer) {
    if isSequence { out.appendVarint(UInt64(bytes.count)) }
    out.append(bytes)
  }

  private var textEncoding: TextEncodingOptions {
    TextEncodingOptions(singleLine: isSequence, unknownFields: unknownFields == .show)
  }

  private func endText(_ out: inout OutputBuffer) {
    if isSequence { out.append(UInt8(ascii: "\n")) }
  }
}
