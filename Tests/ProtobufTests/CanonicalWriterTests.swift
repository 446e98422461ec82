import RPCurlBase
import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

/// The canonical writer and the printer of text format must give the same result as decoding and encoding.
@Suite struct CanonicalWriterTests {
  private func check(_ type: MessageType, _ bytes: [UInt8]) throws {
    try checkBinary(type, bytes)
    for options in [
      TextEncodingOptions(), TextEncodingOptions(singleLine: true),
      TextEncodingOptions(expandAny: false, unknownFields: false),
    ] { checkText(type, bytes, options) }
  }

  private func checkText(_ type: MessageType, _ bytes: [UInt8], _ options: TextEncodingOptions) {
    var text = OutputBuffer()
    text.append(0)
    let result = Result { () throws(DecodeError) in
      try type.appendText(of: bytes.span.bytes, options: options, to: &text)
    }
    let out = text.copyBytes()
    let message = Result { () throws(DecodeError) in try Message(type, serialized: bytes) }
    switch (result, message) {
    case (.success, .success(let message)):
      let expected = String(decoding: message.text(options: options), as: UTF8.self)
      #expect(String(decoding: out.dropFirst(), as: UTF8.self) == expected, "\(type.name) \(hexText(bytes))")
    case (.failure(let one), .failure(let other)):
      #expect(one == other)
      #expect(out == [0])
    default: Issue.record("\(type.name) \(hexText(bytes)): \(result), \(message)")
    }
  }

  private func checkBinary(_ type: MessageType, _ bytes: [UInt8]) throws {
    var out = OutputBuffer()
    out.append(0)
    let result = Result { () throws(DecodeError) in
      try bytes.withRawBytes { (bytes) throws(DecodeError) in
        try CanonicalWriter.rewrite(bytes, type: type.node, into: &out)
      }
    }
    let message = Result { () throws(DecodeError) in try Message(type, serialized: bytes) }
    switch (result, message) {
    case (.success(let lacksRequired), .success(let message)):
      #expect(
        hexText(out.copyBytes(from: 1)) == hexText(message.serialized()), "\(type.name) \(hexText(bytes))")
      #expect(lacksRequired == !message.missingRequiredFields().isEmpty, "\(type.name) \(hexText(bytes))")
    case (.failure(let one), .failure(let other)):
      #expect(one == other)
      #expect(out.count == 1)
    default: Issue.record("\(type.name) \(hexText(bytes)): \(result), \(message)")
    }
  }

  @Test(arguments: [
    ("in order", "test3.Node", "0a0161 2001"), ("in no order", "test3.Node", "2001 0a0161"),
    ("a field twice", "test3.Node", "0a0161 0a0162"), ("zeros", "test3.Node", "0a00 2000"),
    ("unknown fields within", "test3.Node", "0a0161 d00f01 2001"),
    ("unknown fields last", "test3.Node", "2001 d00f01"),
    ("a wire type of no use", "test3.Node", "0d00000000 2001"),
    ("long numbers", "test3.Node", "8a00 8100 61 208180808000"),
    ("no order within", "test3.Node", "1204 2001 0a00"),
    ("no order within, twice", "test3.Node", "1206 1204 2001 0a00"),
    ("negative numbers", "test3.Scalars", "10ffffffffffffffffff01 10ffffffff0f"),
    ("a map in order", "test3.Maps", "0a06 0a0161 120162 0a06 0a0162 120162"),
    ("a map in no order", "test3.Maps", "0a06 0a0162 120162 0a06 0a0161 120162"),
    ("a map with a key twice", "test3.Maps", "0a06 0a0161 120162 0a06 0a0161 120163"),
    ("a map without keys", "test3.Maps", "0a00 0a00"),
    ("a map's value first", "test3.Maps", "0a06 120162 0a0161"),
    ("a packed list and an element", "test3.Lists", "2a020102 2803"),
    ("an element and a packed list", "test3.Lists", "2803 2a020102"),
    ("elements around another field", "test3.Lists", "2803 320161 2803"),
    ("a string that is not UTF-8", "test3.Node", "0a01ff"), ("the same in proto2", "test2.Old", "1201ff"),
    ("cut off", "test3.Node", "0a05"), ("a message set", "test2.Set", "0b10d2091a030a01610c"),
    ("required fields", "test2.Strict", "0801 120161"), ("missing", "test2.Strict", "0801"),
    ("missing within", "test2.Strict", "0801 120161 1a020801"), ("an extension", "test2.Old", "a0060508 01"),
  ])
  func agrees(_ what: String, _ typeName: String, _ bytes: String) throws {
    try check(try type(typeName), hex(bytes))
  }

  @Test func agreesForChangedMessages() throws {
    let pool = try makePool()
    var random = SeededGenerator(seed: 1)
    let set = try #require(Base64.decode(FixtureData.encoded))
    let seeds: [(String, [UInt8])] = [
      ("google.protobuf.FileDescriptorSet", set),
      (
        "test3.Scalars",
        try wire("test3.Scalars", #"{"anInt32":-1,"aUint64":"5","aString":"é","someBytes":"AQI="}"#)
      ),
      ("test3.Maps", try wire("test3.Maps", #"{"texts":{"a":"b","c":"d"}}"#)),
      ("test3.Lists", hex("2a0201020a10000000000000f03f000000000000f07f")),
      ("test3.Node", hex("0a0161 1204 0a016220 03 2001")), ("test2.Old", hex("3b0a01613c a00605 0801 4801")),
      ("test2.Strict", hex("0801 120161 1a05 0801 120161 2a0b 0a0161 1206 0801 120161 2000")),
    ]
    for (name, seed) in seeds {
      let type = try #require(try pool.messageType(named: name))
      try check(type, seed)
      for _ in 0..<(seed.count > 1000 ? 60 : 1500) {
        var bytes = seed
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
          let index = Int.random(in: bytes.indices, using: &random)
          let end = min(index + Int.random(in: 1...8, using: &random), bytes.count)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
          case 1:
            bytes.insert(contentsOf: bytes[index..<end], at: Int.random(in: 0...bytes.count, using: &random))
          case 2: bytes.removeSubrange(index..<end)
          default: bytes[index] ^= 8
          }
        }
        try check(type, bytes)
      }
    }
  }

  /// No level is in canonical order: decoding each one again would take quadratic time.
  @Test func limitsWorkOnNestedMessages() throws {
    var bytes: [UInt8] = []
    for _ in 0..<90 {
      var out = OutputBuffer()
      out.appendTag(Tag(4, .varint))
      out.append(1)
      out.appendTag(Tag(2, .lengthDelimited))
      out.appendVarint(UInt64(bytes.count))
      out.append(bytes)
      bytes = out.copyBytes()
    }
    try check(try type("test3.Node"), bytes)
  }
}
