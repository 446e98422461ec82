import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

struct UnknownFieldTests {
  private let empty: MessageType

  init() throws {
    let pool = try makePool()
    empty = try #require(try pool.messageType(named: "google.protobuf.Empty"))
  }

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.filter { $0 != " " })
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0..<$0 + 2]), radix: 16)
    }
  }

  private func json(_ hex: String, numbers: Bool = false) throws -> String {
    var options = JSONEncodingOptions(int64s: numbers ? .numbers : .strings)
    options.unknownFields = .show
    let message = try Message(empty, serialized: bytes(hex))
    return String(decoding: try message.json(options: options), as: UTF8.self)
  }

  private func text(_ hex: String) throws -> String {
    var options = TextEncodingOptions()
    options.showsTypes = true
    return String(decoding: try Message(empty, serialized: bytes(hex)).text(options: options), as: UTF8.self)
  }

  @Test(arguments: [
    ("", "{}"),
    ("08 96 01", #"{"1":[{"uint64":"150","sint64":"75"}]}"#),
    (
      "08 00 08 01",
      #"{"1":[{"uint64":"0","sint64":"0","bool":false},{"uint64":"1","sint64":"-1","bool":true}]}"#
    ),
    (
      "08 ff ff ff ff ff ff ff ff ff 01",
      #"{"1":[{"uint64":"18446744073709551615","int64":"-1","sint64":"-9223372036854775808"}]}"#
    ),
    ("0d 00 00 80 bf", #"{"1":[{"fixed32":3212836864,"sfixed32":-1082130432,"float":-1}]}"#),
    ("0d 00 00 c0 7f", #"{"1":[{"fixed32":2143289344,"float":"NaN"}]}"#),
    ("09 00 00 00 00 00 00 f0 3f", #"{"1":[{"fixed64":"4607182418800017408","double":1}]}"#),
    ("0a 03 41 64 61", #"{"1":[{"string":"Ada","bytes":"QWRh"}]}"#),
    ("0a 02 ff fe", #"{"1":[{"bytes":"//4="}]}"#),
    ("0a 00", #"{"1":[{"message":{},"string":"","bytes":""}]}"#),
    (
      "0a 02 28 41",
      #"{"1":[{"message":{"5":[{"uint64":"65","sint64":"-33"}]},"string":"(A","bytes":"KEE="}]}"#
    ),
    ("0b 10 02 0c", #"{"1":[{"group":{"2":[{"uint64":"2","sint64":"1"}]}}]}"#),
    (
      "12 01 61 08 02 12 01 62",
      #"{"1":[{"uint64":"2","sint64":"1"}],"2":[{"string":"a","bytes":"YQ=="},{"string":"b","bytes":"Yg=="}]}"#
    ),
  ])
  func writesAllTypesInJSON(hex: String, expected: String) throws {
    #expect(try json(hex) == expected)
  }

  @Test func writesNumbersInJSON() throws {
    #expect(try json("08 96 01", numbers: true) == #"{"1":[{"uint64":150,"sint64":75}]}"#)
  }

  @Test(arguments: [
    ("08 96 01", "1: 150  # or sint64 75\n"), ("08 01", "1: 1  # or sint64 -1, bool true\n"),
    (
      "08 ff ff ff ff ff ff ff ff ff 01",
      "1: 18446744073709551615  # or sint64 -9223372036854775808, int64 -1\n"
    ),
    ("0d 00 00 80 bf", "1: 0xbf800000  # or fixed32 3212836864, sfixed32 -1082130432, float -1\n"),
    ("09 00 00 00 00 00 00 f0 7f", "1: 0x7ff0000000000000  # or fixed64 9218868437227405312, double inf\n"),
    ("0a 03 41 64 61", "1: \"Ada\"\n"), ("0a 00", "1: \"\"  # or an empty message\n"),
    ("0a 02 c3 bc", "1: \"\\303\\274\"  # or string \"ü\"\n"), ("0a 02 ff fe", "1: \"\\377\\376\"\n"),
    ("0a 02 28 41", "1 {  # or string \"(A\"\n  5: 65  # or sint64 -33\n}\n"),
    ("0b 10 02 0c", "1 {\n  2: 2  # or sint64 1\n}\n"),
  ])
  func writesAllTypesInText(hex: String, expected: String) throws {
    #expect(try text(hex) == expected)
  }

  @Test func readsLimitedDepth() throws {
    var nested: [UInt8] = []
    for _ in 0..<20 { nested = [0x0a, UInt8(nested.count)] + nested }
    var options = JSONEncodingOptions()
    options.unknownFields = .show
    let json = String(decoding: try Message(empty, serialized: nested).json(options: options), as: UTF8.self)
    #expect(json.split(separator: "\"message\"").count - 1 == UnknownField.depthLimit)
  }

  @Test func writesUnknownFieldsAfterOthers() throws {
    let type = try #require(try makePool().messageType(named: "google.rpc.Status"))
    var options = JSONEncodingOptions()
    let message = try Message(type, serialized: bytes("12 01 61 08 02 50 01"))
    #expect(
      String(decoding: try message.json(options: options), as: UTF8.self) == #"{"code":2,"message":"a"}"#)
    options.unknownFields = .show
    #expect(
      String(decoding: try message.json(options: options), as: UTF8.self)
        == #"{"code":2,"message":"a","10":[{"uint64":"1","sint64":"-1","bool":true}]}"#)
  }

  @Test func dropsUnknownFieldsInBinary() throws {
    let type = try #require(try makePool().messageType(named: "google.rpc.BadRequest"))
    let cases = [
      // In order, and not: field_violations { field: "a", unknown 9 }, unknown 10.
      ("0a 05 0a 01 61 48 01 50 01", "0a 03 0a 01 61"),
      ("50 01 0a 07 48 01 12 00 0a 01 61 50 02", "0a 03 0a 01 61"),
    ]
    for (input, output) in cases {
      #expect(try type.droppingUnknownFields(bytes(input).span.bytes) == bytes(output))
    }
  }

  @Test func writesUnknownNumbersOfClosedEnums() throws {
    let type = try #require(try makePool().messageType(named: "test2.Old"))
    var options = JSONEncodingOptions()
    options.unknownFields = .show
    // level: 9, levels: [1, 9], packed_levels: [9, 2], flags {"a": 7}, flags {"b": 1}, in this order and reversed.
    let parts = ["18 09", "20 01 20 09", "2a 02 09 02", "4a 05 0a 01 61 10 07", "4a 05 0a 01 62 10 01"]
    let nine = #"{"uint64":"9","sint64":"-5"}"#
    let entry = #"{"message":{"1":[{"string":"a","bytes":"YQ=="}],"2":[{"uint64":"7","sint64":"-4"}]}"#
    let expected =
      #"{"levels":["LOW"],"packedLevels":["HIGH"],"flags":{"b":"ON"},"3":[\#(nine)],"4":[\#(nine)],"5":[\#(nine)],"#
      + #""9":[\#(entry),"string":"\n\u0001a\u0010\u0007","bytes":"CgFhEAc="}]}"#
    for order in [parts, parts.reversed()] {
      let transcoder = JSONTranscoder(type, encoding: options)
      var json: [UInt8] = []
      try transcoder.transcode(serialized: bytes(order.joined()), into: &json)
      #expect(String(decoding: json, as: UTF8.self) == expected)
    }
  }
}
