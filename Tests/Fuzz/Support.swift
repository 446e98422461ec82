import RPCurlPlatform
import RPCurlProtobufSupport

@testable import RPCurlProtobuf

/// What the fuzz targets share.
enum Fuzz {
  /// The types that inputs are of: the first byte of an input chooses.
  private static let types: [MessageType] = {
    let pool = DescriptorPool()
    do {
      try pool.add(SchemaBytes(Base64.decode(FixtureData.encoded) ?? []), source: "fixtures")
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
      return try [
        "test3.Scalars", "test3.Lists", "test3.Maps", "test3.Node", "test3.Choice", "test3.WellKnown",
        "test2.Old",
        "test2.Set", "test2.Strict", "test23.Modern", "google.protobuf.Value",
        "google.protobuf.FileDescriptorSet",
      ].compactMap { try pool.messageType(named: $0) }
    } catch {
      fatalError("\(error)")
    }
  }()

  /// Splits an input into a type and the rest.
  static func split(_ start: UnsafePointer<UInt8>, _ count: Int) -> (MessageType, [UInt8])? {
    guard count > 0 else { return nil }
    let bytes = [UInt8](UnsafeBufferPointer(start: start + 1, count: count - 1))
    return (types[Int(start[0]) % types.count], bytes)
  }

  /// Ends the run when a property does not hold.
  static func require(_ holds: Bool, _ what: String, _ values: [UInt8]...) {
    if holds { return }
    for value in values { print(String(decoding: value, as: UTF8.self)) }
    fatalError("violated: \(what)")
  }

  // MARK: Properties of a message

  private static let partialJSON = JSONDecodingOptions(allowPartial: true)
  private static let partialText = TextDecodingOptions(allowPartial: true)

  /// What must hold for every message: writing and reading again, in each form, changes nothing.
  static func check(_ message: Message) {
    let type = message.type
    let bytes = message.serialized()
    guard let again = try? Message(type, serialized: bytes) else {
      return require(false, "what is written in binary can be read", bytes)
    }
    require(again.serialized() == bytes, "binary is stable", bytes, again.serialized())
    checkText(message)
    guard let json = try? message.json() else { return }
    var direct: [UInt8] = []
    do { try JSONTranscoder(type, decoding: partialJSON).transcode(json: json, into: &direct) } catch {
      return require(false, "what is written in JSON can be read: \(error)", json)
    }
    guard let read = try? Message(type, serialized: direct), let jsonAgain = try? read.json() else {
      return require(false, "what was read from JSON can be written again", json)
    }
    require(read.serialized() == direct, "JSON is turned into what a message is serialized to", json)
    // NullValue's unknown numbers are written as null, which is read as 0: without presence that is not set.
    let isExempt = String(decoding: json, as: UTF8.self).contains("\"null\":null")
    require(jsonAgain == json || isExempt, "JSON is stable", json, jsonAgain)
  }

  private static func checkText(_ message: Message) {
    for options in [
      TextEncodingOptions(unknownFields: false),
      TextEncodingOptions(singleLine: true, expandAny: false, unknownFields: false),
    ] {
      let text = message.text(options: options)
      guard let read = try? Message(message.type, text: text, options: partialText) else {
        return require(false, "what is written in text format can be read", text)
      }
      require(read.text(options: options) == text, "text format is stable", text, read.text(options: options))
    }
    _ = message.text()
  }

  /// That a converter gives the same whether the input comes whole or in pieces.
  static func checkPieces(_ type: MessageType, _ options: ConversionOptions, _ input: [UInt8]) {
    func run(pieces: Int) -> ([UInt8], ConversionError?) {
      var converter = Converter(type, options: options)
      var output = OutputBuffer()
      do throws(ConversionError) {
        for start in stride(from: 0, to: input.count, by: pieces) {
          let piece = Array(input[start..<min(start + pieces, input.count)])
          try converter.convert(piece.span.bytes, into: &output)
        }
        try converter.finish(into: &output)
        return (output.copyBytes(), nil)
      } catch {
        return (output.copyBytes(), error)
      }
    }
    let whole = run(pieces: max(input.count, 1))
    let parts = run(pieces: 3)
    require(whole.0 == parts.0 && whole.1 == parts.1, "pieces do not matter", whole.0, parts.0)
  }
}
