import RPCurlBase
import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

/// The direct conversions must agree with those through a message.
struct TranscoderTests {
  private static let old: [String] = [
    #""number":7"#, #""text":"ä\n""#, #""level":"HIGH""#, #""levels":["LOW","NEGATIVE"]"#,
    #""packedLevels":["LOW",2]"#, #""plain":[1,2,300]"#, #""inner":{"old":{"number":1},"label":"x"}"#,
    #""items":[{"id":1},{},{"id":3}]"#, #""flags":{"z":"ON","a":"OFF","m":1}"#, #""second":{"plain":[5]}"#,
    #""raw":"AAEC""#, #""ratio":-1.5e-7"#, #""[test2.ext_number]":5"#, #""[test2.ext_texts]":["a","b"]"#,
    #""[test2.Old.nested_ext]":{"text":"deep","number":9}"#,
  ]

  @Test func orderOfKeysDoesNotMatter() throws {
    var random = SeededGenerator(seed: 1)
    let expected = try wire("test2.Old", "{" + TranscoderTests.old.joined(separator: ",") + "}")
    for _ in 0..<200 {
      let shuffled = TranscoderTests.old.shuffled(using: &random).joined(separator: " ,\n ")
      #expect(hexText(try wire("test2.Old", "{\(shuffled)}")) == hexText(expected))
    }
    let items = #""[test2.SetItem.item]":{"label":"x"}"#
    #expect(hexText(try wire("test2.Set", "{\(items)}")) == "0b10d2091a030a01780c")
  }

  @Test(arguments: [
    "test2.Old", "test3.Scalars", "test3.Lists", "test3.Maps", "test3.WellKnown", "test2.Set",
  ])
  func anyBytesConvertToSameJSON(_ typeName: String) throws {
    let pool = try makePool()
    let type = try #require(try pool.messageType(named: typeName))
    var random = SeededGenerator(seed: 1)
    var valid = 0
    for round in 0..<1500 {
      let bytes = TranscoderTests.fields(&random, depth: 0, count: Int(random.next() % 8))
      let options = JSONEncodingOptions(emitDefaults: round % 2 == 0, pretty: round % 3 == 0)
      var json: [UInt8] = []
      let isValid =
        (try? JSONTranscoder(type, encoding: options).transcode(serialized: bytes, into: &json)) != nil
      let direct = isValid ? json : nil
      let message = try? Message(type, serialized: bytes).json(options: options)
      if direct != message {
        Issue.record("\(hexText(bytes)): \(direct.map { String(decoding: $0, as: UTF8.self) } ?? "error")")
      }
      guard let direct else { continue }
      valid += 1
      // A field mask with an empty path has a JSON form that cannot be read.
      guard let viaMessage = try? Message(type, json: direct).serialized() else { continue }
      var back: [UInt8] = []
      try JSONTranscoder(type).transcode(json: direct, into: &back)
      if back != viaMessage { Issue.record("\(String(decoding: direct, as: UTF8.self)): \(hexText(back))") }
    }
    #expect(valid > 100)
  }

  /// Lines of many messages are those of each, up to one that has an error.
  @Test(arguments: ["test2.Old", "test3.Lists", "test3.Maps", "test3.WellKnown", "test2.Set"])
  func linesOfMessagesAreThoseOfEach(_ typeName: String) throws {
    var transcoder = JSONTranscoder(try type(typeName))
    var random = SeededGenerator(seed: 1)
    var together = 0
    for round in 0..<200 {
      transcoder.encoding = JSONEncodingOptions(emitDefaults: round % 2 == 0, protoNames: round % 3 == 0)
      let messages = (0..<8).map { _ in
        TranscoderTests.fields(&random, depth: 0, count: Int(random.next() % 4))
      }
      var expected = OutputBuffer()
      var valid = 0
      for message in messages {
        guard (try? transcoder.transcode(serialized: message.span.bytes, into: &expected)) != nil else {
          break
        }
        expected.append(0x0a)
        valid += 1
      }
      var ends = [0]
      for message in messages { ends.append((ends.last ?? 0) + message.count) }
      let places = zip(ends, ends.dropFirst()).map { $0..<$1 }
      let piece = messages.flatMap(\.self)
      var lines = OutputBuffer()
      let count = transcoder.transcodeLines(serialized: places.span, of: piece.span.bytes, into: &lines)
      together = max(together, count)
      #expect(count == valid)
      let (a, b) = (lines.copyBytes(), expected.copyBytes())
      #expect(String(decoding: a, as: UTF8.self) == String(decoding: b, as: UTF8.self))
    }
    #expect(together > 2)
  }

  /// Serialized fields with random numbers and wire types, in no order.
  private static func fields(_ random: inout SeededGenerator, depth: Int, count: Int) -> [UInt8] {
    var buffer = OutputBuffer()
    let numbers: [UInt32] = [1, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 100, 101, 102]
    for _ in 0..<count {
      let number = numbers.randomElement(using: &random) ?? 1
      switch random.next() % 6 {
      case 0:
        buffer.appendTag(Tag(number, .varint))
        buffer.appendVarint([0, 1, 2, 3, 300, .max, 1 << 32].randomElement(using: &random) ?? 0)
      case 1:
        buffer.appendTag(Tag(number, .fixed32))
        buffer.appendFixed32(random.next() % 2 == 0 ? 0 : 0x3fc0_0000)
      case 2:
        buffer.appendTag(Tag(number, .fixed64))
        buffer.appendFixed64(random.next() % 2 == 0 ? 0 : 0x3ff8_0000_0000_0000)
      case 3 where depth < 3:
        buffer.appendTag(Tag(number, .startGroup))
        buffer.append(fields(&random, depth: depth + 1, count: Int(random.next() % 3)))
        buffer.appendTag(Tag(number, .endGroup))
      case 4:
        buffer.appendTag(Tag(number, .lengthDelimited))
        let text =
          ["", "a", "ä\u{85}", "\u{1}\u{2}\u{3}", "\u{0}\u{0}\u{0}\u{0}"].randomElement(using: &random) ?? ""
        buffer.appendVarint(UInt64(text.utf8.count))
        buffer.append(text)
      default:
        let nested = depth < 3 ? fields(&random, depth: depth + 1, count: Int(random.next() % 4)) : []
        buffer.appendTag(Tag(number, .lengthDelimited))
        buffer.appendVarint(UInt64(nested.count))
        buffer.append(nested)
      }
    }
    return buffer.copyBytes()
  }

  @Test func appendsToBufferAndDoesNotChangeItOnErrors() throws {
    let transcoder = JSONTranscoder(try type("test3.Scalars"))
    var buffer = OutputBuffer()
    let message: [UInt8] = [0x28, 7]
    try transcoder.transcode(serialized: message.span.bytes, into: &buffer)
    try transcoder.transcode(serialized: message.span.bytes, into: &buffer)
    let broken: [UInt8] = [0x28, 7, 0x4a, 9]
    let isRead = (try? transcoder.transcode(serialized: broken.span.bytes, into: &buffer)) != nil
    #expect(!isRead)
    let text = Array(#"{"anInt32":1,"nothing":2}"#.utf8)
    let isParsed = (try? transcoder.transcode(json: text.span.bytes, into: &buffer)) != nil
    #expect(!isParsed)
    let written = buffer.copyBytes()
    #expect(String(decoding: written, as: UTF8.self) == #"{"anInt32":7}{"anInt32":7}"#)
    buffer.removeAll()
    let count = buffer.count
    #expect(count == 0)
  }

  @Test func escapesAtAnyPosition() throws {
    let transcoder = JSONTranscoder(try type("test3.Scalars"))
    for length in 0..<36 {
      let plain = String(repeating: "x", count: length)
      for special in ["\"", "\\", "\n", "\u{7f}", "\u{85}", "é", "€", "𝄞", "\u{1f}"] {
        for offset in 0...length {
          let text = plain.prefix(offset) + special + plain.dropFirst(offset)
          let message = [0x4a, UInt8(text.utf8.count)] + Array(text.utf8)
          var json: [UInt8] = []
          try transcoder.transcode(serialized: message, into: &json)
          var back: [UInt8] = []
          try transcoder.transcode(json: json, into: &back)
          if back != message { Issue.record("\(text) comes back as \(hexText(back))") }
        }
      }
    }
  }
}
