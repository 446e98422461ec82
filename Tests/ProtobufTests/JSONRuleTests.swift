import Testing

@testable import RPCurlProtobuf

/// Rules of ProtoJSON, one by one.
@Suite struct JSONRuleTests {
  @Test(arguments: [
    ("no fraction", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
    ("three digits", "1970-01-01T00:00:00.5Z", "1970-01-01T00:00:00.500Z"),
    ("six digits", "1970-01-01T00:00:00.00001Z", "1970-01-01T00:00:00.000010Z"),
    ("nine digits", "1970-01-01T00:00:00.000000001Z", "1970-01-01T00:00:00.000000001Z"),
    ("an offset", "2024-01-01T01:30:00+05:30", "2023-12-31T20:00:00Z"),
    ("a negative offset", "2023-12-31T22:00:00-02:00", "2024-01-01T00:00:00Z"),
    ("before 1970", "1969-12-31T23:59:59.25Z", "1969-12-31T23:59:59.250Z"),
    ("the first moment", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ("the last moment", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
    ("a leap day", "2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"),
  ])
  func readsAndWritesTimestamps(_ what: String, _ read: String, _ written: String) throws {
    let name = "google.protobuf.Timestamp"
    #expect(try json(name, wire(name, "\"\(read)\"")) == "\"\(written)\"", "\(what)")
  }

  @Test(arguments: [
    "1900-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-04-31T00:00:00Z",
    "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00z", "10000-01-01T00:00:00Z", "2024-01-01", "9999-12-31T23:59:59-01:00", "",
  ])
  func rejectsInvalidTimestamps(_ text: String) {
    #expect(jsonError("google.protobuf.Timestamp", "\"\(text)\"")?.reason == .invalidTimestamp)
  }

  @Test(arguments: [
    ("0s", "0s"), ("1s", "1s"), ("-1s", "-1s"), ("1.5s", "1.500s"), ("-0.5s", "-0.500s"),
    ("0.000001s", "0.000001s"), ("0.000000001s", "0.000000001s"), ("315576000000s", "315576000000s"),
    ("-315576000000s", "-315576000000s"), ("3.000s", "3s"),
    ("315576000000.999999999s", "315576000000.999999999s"),
    ("-315576000000.000000001s", "-315576000000.000000001s"),
  ])
  func readsAndWritesDurations(_ read: String, _ written: String) throws {
    let name = "google.protobuf.Duration"
    #expect(try json(name, wire(name, "\"\(read)\"")) == "\"\(written)\"")
  }

  @Test(arguments: ["1", "s", "1.s", "1.0000000001s", "+1s", "1 s", "--1s", "1e3s", "315576000001s", ""])
  func rejectsInvalidDurations(_ text: String) {
    #expect(jsonError("google.protobuf.Duration", "\"\(text)\"")?.reason == .invalidDuration)
  }

  @Test(arguments: [
    ("", ""), ("_w==", "ff"), ("/w==", "ff"), ("_w", "ff"), ("/w", "ff"), ("-_-_", "fbffbf"),
    ("+/+/", "fbffbf"), ("AAE=", "0001"), ("AAE", "0001"),
  ])
  func readsBytesInBothAlphabetsWithAndWithoutPadding(_ text: String, _ expected: String) throws {
    let bytes = try wire("google.protobuf.BytesValue", "\"\(text)\"")
    let payload = expected.isEmpty ? "" : "0a0" + "\(expected.count / 2)" + expected
    #expect(hexText(bytes) == payload)
  }

  @Test(arguments: ["A", "AA=", "A===", "AA==A", "-+AA", "A A=", "AA\\n="])
  func rejectsInvalidBase64(_ text: String) {
    let error = jsonError("google.protobuf.BytesValue", "\"\(text)\"")
    guard case .invalidBase64? = error?.reason else { return #expect(error == nil, "not rejected as base64") }
  }

  @Test(arguments: [
    ("test3.Scalars", #"{"aColor":9}"#), ("test3.Lists", #"{"colors":["RED",9,-7]}"#),
    ("test3.Maps", #"{"colors":{"1":9}}"#),
  ])
  func keepsUnknownNumbersOfOpenEnums(_ typeName: String, _ text: String) throws {
    #expect(try json(typeName, wire(typeName, text)) == text)
  }

  @Test(arguments: [
    #"{"any":{"@type":"a/google.protobuf.Duration","value":"1s"}}"#,
    #"{"any":{"@type":"a/google.protobuf.Value","value":[1,null]}}"#,
    #"{"any":{"@type":"a/google.protobuf.Any","value":{"@type":"b/test3.Node","name":"x"}}}"#,
    #"{"any":{"@type":"a/google.protobuf.Empty"}}"#,
    #"{"any":{"@type":"a/test2.Strict","id":1,"name":""}}"#,
  ])
  func anyContainsEveryKindOfMessage(_ text: String) throws {
    #expect(try json("test3.WellKnown", wire("test3.WellKnown", text)) == text)
  }

  /// Go's libraries write the member `value`.
  @Test(arguments: [
    #"{"any":{"@type":"a/google.protobuf.Empty","value":{}}}"#,
    #"{"any":{"value": {} ,"@type":"a/google.protobuf.Empty"}}"#,
  ])
  func readsEmptyAsValueOfAny(_ text: String) throws {
    #expect(
      try wire("test3.WellKnown", text)
        == wire("test3.WellKnown", #"{"any":{"@type":"a/google.protobuf.Empty"}}"#))
  }

  @Test(arguments: [
    #"{"any":{"@type":"a/google.protobuf.Empty","value":{"a":1}}}"#,
    #"{"any":{"@type":"a/google.protobuf.Empty","value":{},"a":1}}"#,
    #"{"any":{"@type":"a/google.protobuf.Empty","value":1}}"#,
  ])
  func refusesOtherMembersInAnyOfEmpty(_ text: String) {
    #expect(jsonError("test3.WellKnown", text) != nil)
  }

  @Test func limitsDepthOfNestedAny() {
    let text =
      String(repeating: #"{"@type":"a/google.protobuf.Any","value":"#, count: 200) + "{}"
      + String(repeating: "}", count: 200)
    #expect(jsonError("google.protobuf.Any", text)?.reason == .tooDeep)
  }

  @Test func jsonNameDoesNotHideOtherField() throws {
    // `@renamed` is the JSON name of `other`; both names are accepted, but together they are a duplicate
    // field.
    #expect(hexText(try wire("test3.Named", #"{"@renamed":1}"#)) == "1001")
    #expect(hexText(try wire("test3.Named", #"{"other":1}"#)) == "1001")
    #expect(
      jsonError("test3.Named", #"{"other":1,"@renamed":1}"#)?.reason
        == .syntax(expected: #"one of "other" and "@renamed", which are the same field"#))
  }

  @Test func doublesKeepEveryBit() throws {
    for bits in [
      1, 0x7fef_ffff_ffff_ffff, 0x0010_0000_0000_0000, 0x3fb9_9999_9999_999a, 0x4340_0000_0000_0001,
    ] {
      var out = OutputBuffer()
      out.append(0x09)
      out.appendFixed64(UInt64(bits))
      let bytes = out.copyBytes()
      #expect(try wire("test3.Scalars", json("test3.Scalars", bytes)) == bytes)
      let message = try Message(type("test3.Scalars"), serialized: bytes)
      #expect(try Message(type("test3.Scalars"), text: message.text()).serialized() == bytes)
    }
  }

  /// The text is read eight bytes at a time; every byte must be checked.
  @Test func rejectsEveryOtherByteInTimestamp() {
    let text = Array("2024-05-31T12:47:09.5Z".utf8)
    func read(_ text: [UInt8]) -> (seconds: Int64, nanos: Int32)? {
      text.withUnsafeBytes { TimeText.timestamp($0) }
    }
    #expect(read(text)?.seconds == 1_717_159_629 && read(text)?.nanos == 500_000_000)
    for index in text.indices {
      for byte in UInt8.min...UInt8.max where byte != text[index] {
        var changed = text
        changed[index] = byte
        let isDigit = (48...57).contains(text[index]) && (48...57).contains(byte)
        guard let time = read(changed) else { continue }
        #expect(isDigit && time != (1_717_159_629, 500_000_000), "\(index): \(byte)")
      }
    }
  }

  /// Digits are read eight at a time if so many bytes follow, and one by one near the end.
  @Test func readsFractionsOfEachLength() {
    for zone in ["Z", "+00:00"] {
      for digits in [
        "", "1", "98", "007", "1234", "00050", "999999", "1234567", "00000001", "987654321", "1234567890",
      ] {
        let text = Array("2024-05-31T12:47:09.\(digits)\(zone)".utf8)
        let nanos = text.withUnsafeBytes { TimeText.timestamp($0)?.nanos }
        let padded = digits + String(repeating: "0", count: max(9 - digits.count, 0))
        #expect(nanos == (1...9 ~= digits.count ? Int32(padded) : nil), "\(digits)\(zone)")
      }
    }
  }

  /// Short strings are copied in blocks, with what follows them; every byte must be checked.
  @Test func escapesAndReadsEachByteOfStrings() throws {
    let specials: [(character: String, escaped: String)] = [
      ("\"", "\\\""), ("\\", "\\\\"), ("\u{1f}", "\\u001f"), ("\u{7f}", "\\u007f"), ("\u{0}", "\\u0000"),
      ("é", "é"), ("\u{80}", "\\u0080"), (" ", " "), ("~", "~"), ("!", "!"), ("[", "["), ("]", "]"),
    ]
    // Followed by enough bytes to copy blocks, by few, and by none.
    let ends = [#","maybe":1,"maybeText":"0123456789012345678901234567890123456789""#, #","maybe":1"#, ""]
    let transcoder = JSONTranscoder(try type("test3.Scalars"))
    for length in 0...40 {
      for position in 0...length {
        for special in specials where position < length || special.character == " " {
          let before = String(repeating: "a", count: position)
          let after = String(repeating: "z", count: max(length - position - 1, 0))
          for end in ends {
            let text = #"{"aString":""# + before + special.escaped + after + "\"" + end + "}"
            var bytes: [UInt8] = []
            try transcoder.transcode(json: Array(text.utf8), into: &bytes)
            var back: [UInt8] = []
            try transcoder.transcode(serialized: bytes, into: &back)
            let content = Array((before + special.character + after).utf8)
            #expect(bytes.starts(with: [0x4a, UInt8(content.count)] + content))
            #expect(String(decoding: back, as: UTF8.self) == text)
          }
        }
      }
    }
  }

  /// A byte that is not UTF-8 is found at each place of a short string.
  @Test func rejectsInvalidByteOfStrings() throws {
    let transcoder = JSONTranscoder(try type("test3.Scalars"))
    var out: [UInt8] = []
    for length in 1...40 {
      for position in 0..<length {
        var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
        text[position] = 0xff
        let rest: [UInt8] =
          [0x88, 0x01, 1] + [0x92, 0x13, 40] + [UInt8](repeating: UInt8(ascii: "b"), count: 40)
        for end in [[], rest] {
          let bytes = [0x4a, UInt8(length)] + text + end
          #expect(throws: DecodeError.self) { try transcoder.transcode(serialized: bytes, into: &out) }
        }
        let quoted = Array(#"{"aString":""#.utf8) + text + Array(#"","maybe":1}"#.utf8)
        #expect(throws: MessageParseError.self) { try transcoder.transcode(json: quoted, into: &out) }
      }
    }
  }

  /// The calendar is computed in different ways for reading and writing.
  @Test func writesDatesThatReadBack() {
    func check(_ seconds: Int64) {
      let text = [UInt8](unsafeUninitializedCapacity: TimeText.room) { buffer, count in
        count =
          buffer.baseAddress.flatMap { TimeText.writeTimestamp(seconds: seconds, nanos: 0, at: $0) } ?? 0
      }
      let read = text.withUnsafeBytes { TimeText.timestamp($0)?.seconds }
      if read != seconds { Issue.record("\(seconds) is written as \(String(decoding: text, as: UTF8.self))") }
    }
    let range = TimeText.timestampSeconds
    for seconds in stride(from: range.lowerBound, through: range.upperBound, by: 86400 * 13 + 4567) {
      check(seconds)
    }
    // Each day around the ends of centuries.
    for century in stride(from: range.lowerBound, through: range.upperBound, by: 36524 * 86400) {
      for day in -500...500 where range.contains(century + Int64(day) * 86400) {
        check(century + Int64(day) * 86400)
      }
    }
    check(range.upperBound)
  }
}
