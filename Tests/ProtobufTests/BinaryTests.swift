import Testing

@testable import RPCurlProtobuf

@Suite struct BinaryTests {
  private func reencode(_ typeName: String, _ bytes: String) throws -> String {
    hexText(try Message(type(typeName), serialized: hex(bytes)).serialized())
  }

  private func failure(_ typeName: String, _ bytes: String) throws -> DecodeError.Reason? {
    let type = try type(typeName)
    var direct: DecodeError.Reason?
    var out: [UInt8] = []
    do { try JSONTranscoder(type).transcode(serialized: hex(bytes), into: &out) } catch {
      direct = error.reason
    }
    do {
      _ = try Message(type, serialized: hex(bytes))
      return nil
    } catch {
      #expect(direct == error.reason)
      return error.reason
    }
  }

  @Test(arguments: [
    ("the last of several scalars wins", "test3.Scalars", "2801 2802", "2802"),
    ("zero without presence is not written", "test3.Scalars", "2800", ""),
    ("a later zero overrides", "test3.Scalars", "2801 2800", ""),
    ("negative zero is not zero", "test3.Scalars", "09 0000000000000080", "090000000000000080"),
    ("zero with presence is kept", "test3.Scalars", "880100", "880100"),
    ("fields are written by number", "test3.Scalars", "4a0161 2801", "28014a0161"),
    ("int32 drops the upper bits", "test3.Scalars", "28ffffffffffffffff7f", "28ffffffffffffffffff01"),
    ("over-long varints are read", "test3.Scalars", "28 8180808000", "2801"),
    ("over-long tags are read", "test3.Scalars", "a88000 01", "2801"),
    ("bool is any non-zero varint", "test3.Scalars", "40 8001", "4001"),
    ("unpacked is read for packed", "test3.Lists", "2801 2802", "2a020102"),
    ("packed is read for unpacked", "test3.Lists", "8a01020102", "880101880102"),
    ("packed and unpacked mix", "test3.Lists", "2801 2a020203", "2a03010203"),
    ("an empty packed list is no list", "test3.Lists", "2a00", ""),
    ("sub-messages merge", "test3.Node", "12030a0161 12022005", "12050a01612005"),
    ("the last member of a oneof wins", "test3.Choice", "1005 1a0161", "1a0161"),
    ("messages of a oneof merge", "test3.Choice", "22030a0161 22022005", "22050a01612005"),
    ("another member in between prevents it", "test3.Choice", "22030a0161 1001 22022005", "22022005"),
    ("a map entry may lack its key", "test3.Maps", "0a03120161", "0a050a00120161"),
    ("a map entry may lack its value", "test3.Maps", "0a030a0161", "0a050a01611200"),
    ("map entries are written by key", "test3.Maps", "1204080a1001 120408021002", "1204080210021204080a1001"),
    (
      "negative keys come first", "test3.Maps", "120408011001 120d08ffffffffffffffffff011001",
      "120d08ffffffffffffffffff011001120408011001"
    ),
    ("the last value of a map key wins", "test3.Maps", "120408011001 120408011002", "120408011002"),
    ("unknown fields are kept in order", "test3.Node", "d00f01 2005 ca0f0161", "2005d00f01ca0f0161"),
    ("unknown groups are kept", "test3.Node", "d30f 0801 d40f", "d30f0801d40f"),
    ("another wire type makes a field unknown", "test3.Node", "25 01000000", "2501000000"),
    ("unknown numbers of a closed enum are unknown fields", "test2.Old", "1807 1801", "18011807"),
    ("also in lists", "test2.Old", "2001 2007 2002", "200120022007"),
    ("also in packed lists", "test2.Old", "2a03010702", "2a0201022807"),
    ("also in maps", "test2.Old", "4a050a01611007", "4a050a01611007"),
    (
      "also in maps, before other fields", "test2.Old", "4a050a01611007 690000000000000000",
      "6900000000000000004a050a01611007"
    ),
    ("groups", "test2.Old", "3b 0a0161 3c", "3b0a01613c"),
    ("groups merge", "test2.Old", "3b0a01613c 3b1202080a3c", "3b0a01611202080a3c"),
    ("repeated groups", "test2.Old", "430801444308024 4", "4308014443080244"),
    ("extensions", "test2.Old", "a00605", "a00605"),
    ("extensions within messages", "test2.Old", "b206020805", "b206020805"),
    ("delimited messages of editions", "test23.Modern", "330805 34", "33080534"),
    ("packing by feature", "test23.Modern", "2001 2a0102 2801 ", "22010128022801"),
    ("strings that need not be UTF-8", "test2.Old", "1201ff", "1201ff"),
    ("message sets", "test2.Set", "0b10d2091a030a01610c", "0b10d2091a030a01610c"),
    ("message sets with the parts swapped", "test2.Set", "0b1a030a016110d2090c", "0b10d2091a030a01610c"),
  ])
  func reencodes(_ what: String, _ typeName: String, _ bytes: String, _ expected: String) throws {
    #expect(try reencode(typeName, bytes) == expected, "\(what)")
    // The direct conversion to JSON must behave the same.
    _ = try json(typeName, hex(bytes))
  }

  @Test(arguments: [
    ("a tag that is cut off", "80", DecodeError.Reason.truncated),
    ("a varint that is cut off", "2880", .truncated),
    ("a length beyond the end", "4a0561", .truncated),
    ("a huge length", "4affffffffffffffffff01", .truncated),
    ("fixed32 that is cut off", "3d010203", .truncated),
    ("fixed64 that is cut off", "0901020304050607", .truncated),
    ("a varint of eleven bytes", "28ffffffffffffffffffff01", .varintTooLong),
    ("field number 0", "0001", .invalidTag),
    ("field number 0 as a string", "020161", .invalidTag),
    ("a tag of more than 32 bits", "888080801001", .invalidTag),
    ("wire type 6", "2e", .invalidWireType(6)),
    ("wire type 7", "2f", .invalidWireType(7)),
    ("the end of no group", "2c", .unexpectedEndGroup),
    ("a group without end", "d30f0801", .missingEndGroup),
    ("the end of another group", "d30f0801dc0f", .unexpectedEndGroup),
    ("a string that is not UTF-8", "4a01ff", .invalidUTF8),
    ("an over-long UTF-8 form", "4a02c080", .invalidUTF8),
    ("a surrogate in UTF-8", "4a03eda080", .invalidUTF8),
    ("above U+10FFFF", "4a04f4908080", .invalidUTF8),
  ])
  func rejects(_ what: String, _ bytes: String, _ expected: DecodeError.Reason) throws {
    #expect(try failure("test3.Scalars", bytes) == expected, "\(what)")
  }

  @Test func rejectsPackedListsOfInvalidLength() throws {
    #expect(try failure("test3.Lists", "3a03010203") == .invalidPackedLength)
    #expect(try failure("test3.Lists", "2a0180") == .truncated)
  }

  @Test func rejectsDamageAfterUnknownEnumValueInMapEntry() throws {
    #expect(try failure("test2.Old", "4a070a01611007 4a04") == .truncated)
    #expect(try reencode("test2.Old", "4a070a016110071001") == "4a050a01611001")
  }

  @Test func checksUTF8IfTheFeatureRequiresIt() throws {
    #expect(try failure("test23.Modern", "3a01ff") == .invalidUTF8)
    #expect(try failure("test23.Modern", "4201ff") == nil)
  }

  @Test func limitsDepthTo100() throws {
    func nested(_ depth: Int) -> String {
      var out: [UInt8] = []
      for _ in 0..<depth {
        var buffer = OutputBuffer()
        buffer.append(0x12)
        buffer.appendVarint(UInt64(out.count))
        buffer.append(out)
        out = buffer.copyBytes()
      }
      return hexText(out)
    }
    #expect(try failure("test3.Node", nested(100)) == nil)
    #expect(try failure("test3.Node", nested(101)) == .tooDeep)
    let groups = String(repeating: "d30f", count: 101) + String(repeating: "d40f", count: 101)
    #expect(try failure("test3.Node", groups) == .tooDeep)
    let hundred = String(repeating: "d30f", count: 100) + String(repeating: "d40f", count: 100)
    #expect(try failure("test3.Node", hundred) == nil)
  }

  @Test func errorsNameFieldAndByte() throws {
    let error = #expect(throws: DecodeError.self) {
      try Message(try type("test3.Node"), serialized: hex("2001 1203 0a01ff"))
    }
    #expect(error == DecodeError(.invalidUTF8, at: 5, path: "child.name"))
  }

  @Test func everyPrefixOfMessageIsReadOrRejected() throws {
    let bytes = try wire(
      "test3.Maps",
      #"{"texts":{"a":"b","é":"ü"},"nodes":{"-5":{"name":"n","children":[{}]}},"fixed":{"1":1.5}}"#)
    let type = try type("test3.Maps")
    for length in 0...bytes.count {
      let whole = try? Message(type, serialized: Array(bytes[..<length]))
      var out: [UInt8] = []
      let direct: Void? = try? JSONTranscoder(type).transcode(serialized: Array(bytes[..<length]), into: &out)
      #expect((whole == nil) == (direct == nil))
    }
  }

  /// Reads a varint within bytes and returns its value and end; nil if there is none.
  private func varint(_ bytes: [UInt8], at start: Int) -> (value: UInt64, end: Int)? {
    bytes.withUnsafeBytes { bytes in
      var reader = WireReader(bytes)
      reader.cursor += start
      return (try? reader.varint()).map { ($0, reader.offset) }
    }
  }

  /// Varints are read eight bytes at a time if that many are available, before or after them.
  @Test func readsVarintsAtAnyPosition() {
    for bits in 0...64 {
      let value = bits == 0 ? 0 : UInt64.max >> UInt64(64 - bits)
      var buffer = OutputBuffer()
      buffer.appendVarint(value)
      let bytes = buffer.copyBytes()
      for before in 0..<10 {
        for after in 0..<10 {
          let whole = [UInt8](repeating: 0x81, count: before) + bytes + [UInt8](repeating: 0x83, count: after)
          let read = varint(whole, at: before)
          #expect(read?.value == value && read?.end == before + bytes.count)
          #expect(varint(whole.dropLast(after + 1), at: before) == nil)
        }
      }
    }
  }

  /// Two keys that are not UTF-8, which proto2 does not check, and whose repaired forms are equal.
  @Test func keepsMapKeysThatAreNotUTF8() throws {
    let bytes = hex("12 01 61  2a 07 0a 01 ee 12 02 08 01  2a 07 0a 01 ef 12 02 08 02")
    let type = try type("test2.Strict")
    let message = try Message(type, serialized: bytes)
    #expect(hexText(message.serialized()) == hexText(bytes))
    let text = message.text(options: TextEncodingOptions(singleLine: true))
    #expect(
      String(decoding: text, as: UTF8.self)
        == #"name: "a" by_name { key: "\356" value { id: 1 } } by_name { key: "\357" value { id: 2 } }"#)
    let read = try Message(type, text: text, options: TextDecodingOptions(allowPartial: true))
    #expect(read == message)
    var json: [UInt8] = []
    let error = #expect(throws: DecodeError.self) {
      try JSONTranscoder(type).transcode(serialized: bytes, into: &json)
    }
    #expect(error?.fieldPath == "by_name")
    #expect(error?.description.contains("a map key that is not UTF-8") == true)
    #expect(throws: DecodeError.self) { try message.json() }
    #expect(message.missingRequiredFields().contains(#"by_name["\357"].name"#))
  }
}
