import Testing

@testable import RPCurlProtobuf

@Suite struct MessageSplitterTests {
  /// The messages of `data`, fed in pieces of `size` bytes, as `OFFSET:TEXT`.
  private func split(_ framing: MessageFraming, _ data: [UInt8], by size: Int) throws -> [String] {
    var splitter = MessageSplitter(framing)
    var messages: [String] = []
    for start in stride(from: 0, to: data.count, by: size) {
      splitter.append(data[start..<min(start + size, data.count)])
      while let piece = try splitter.next() { messages.append(Self.text(piece)) }
    }
    splitter.finish()
    while let piece = try splitter.next() { messages.append(Self.text(piece)) }
    return messages
  }

  private static func text(_ piece: MessageSplitter.Piece) -> String {
    "\(piece.start.byteOffset):\(String(decoding: piece.bytes, as: UTF8.self))"
  }

  private static let sizes = [1, 2, 3, 7, 1000]

  @Test(arguments: 0..<100) func countsCharactersAndLines(_: Int) {
    let scalars = (0..<Int.random(in: 0...300)).map { _ in "aé€😀\n".unicodeScalars.randomElement() ?? "a" }
    let text = Array(String(String.UnicodeScalarView(scalars)).utf8)
    var position = TextPosition()
    let (first, second) = (text.prefix(text.count / 3), text.dropFirst(text.count / 3))
    for part in [Array(first), Array(second)] { part.withUnsafeBytes { position.advance(over: $0) } }
    #expect(position.byteOffset == text.count)
    #expect(position.line == 1 + scalars.count { $0 == "\n" })
    #expect(position.column == 1 + scalars.reversed().prefix { $0 != "\n" }.count)
  }

  // MARK: JSON

  @Test(arguments: [
    ("", []), ("  \n", []), ("{}", ["0:{}"]), ("{}{}", ["0:{}", "2:{}"]),
    (" {\"a\":\"}\"} \n[1]", ["1:{\"a\":\"}\"}", "12:[1]"]),
    ("${a} {}${f([1], \"}\")}", ["0:${a}", "5:{}", "7:${f([1], \"}\")}"]), ("$a 1", ["0:$a", "3:1"]),
    ("1 2", ["0:1", "2:2"]), ("\"a b\"true", ["0:\"a b\"", "5:true"]),
    (
      #" {"a":"}\"{"}[1,[2]]"x]"{} 12 true null-5"#,
      [#"1:{"a":"}\"{"}"#, "13:[1,[2]]", #"20:"x]""#, "24:{}", "27:12", "30:true", "35:null-5"]
    ),
  ])
  func splitsJSON(data: String, messages: [String]) throws {
    for size in Self.sizes {
      #expect(try split(.values, Array(data.utf8), by: size) == messages)
    }
  }

  @Test func skipsByteOrderMarkAtTheStartOnly() throws {
    for size in Self.sizes {
      #expect(try split(.values, Array("\u{FEFF} {}[1]".utf8), by: size) == ["4:{}", "6:[1]"])
      #expect(try split(.values, Array("\u{FEFF}".utf8), by: size) == [])
      for data: [UInt8] in [[0xFF, 0xFE, 0x7B, 0], [0xFE, 0xFF, 0, 0x7B]] {
        let error = #expect(throws: MessageParseError.self) { try split(.values, data, by: size) }
        #expect(error?.description == "the data is UTF-16")
      }
      for data: [UInt8] in [Array("{}\u{FEFF}".utf8), [0xEF, 0xBB], [0xEF, 0x7B], [0xFF]] {
        let error = #expect(throws: MessageParseError.self) { try split(.values, data, by: size) }
        #expect(error?.description.hasPrefix("expected a JSON value (line 1, column ") == true)
      }
    }
    var splitter = MessageSplitter(.values)
    splitter.append(Array("\u{FEFF}{}".utf8))
    #expect(try splitter.next()?.start.column == 1)
  }

  @Test func returnsValueAsSoonAsComplete() throws {
    var splitter = MessageSplitter(.values)
    splitter.append("{\"a\":1".utf8)
    #expect(try splitter.next() == nil)
    splitter.append("} 2".utf8)
    #expect(try splitter.next()?.bytes == Array("{\"a\":1}".utf8))
    #expect(splitter.unreadCount == 2)
    #expect(try splitter.next() == nil)
  }

  @Test func reportsStartOfValue() throws {
    var splitter = MessageSplitter(.values)
    splitter.append("{}\n\n  {\"anInt32\": x}".utf8)
    _ = try splitter.next()
    let piece = try #require(try splitter.next())
    #expect(piece.start.line == 3 && piece.start.column == 3 && piece.start.byteOffset == 6)
    let error = #expect(throws: MessageParseError.self) {
      try Message(try type("test3.Scalars"), json: piece.bytes)
    }
    let position = error?.moved(to: piece.start).position
    #expect(position?.line == 3 && position?.column == 15)
  }

  @Test func reportsPositionOfInvalidJSON() {
    for size in Self.sizes {
      let error = #expect(throws: MessageParseError.self) {
        try split(.values, Array("{}\n  ]".utf8), by: size)
      }
      #expect(error?.position.line == 2)
      #expect(error?.position.column == 3)
      #expect(error?.position.byteOffset == 5)
    }
  }

  @Test(arguments: ["}", "]", ",", "{},{}", ":"])
  func rejectsInvalidStart(text: String) {
    let error = #expect(throws: MessageParseError.self) { try split(.values, Array(text.utf8), by: 1) }
    #expect(error?.description.hasPrefix("expected a JSON value (line 1") == true)
  }

  @Test(arguments: ["{", "[1", "\"a", "{\"a\":\"}", "{} [\n"])
  func rejectsIncompleteValue(text: String) {
    for size in Self.sizes {
      let error = #expect(throws: MessageParseError.self) { try split(.values, Array(text.utf8), by: size) }
      #expect(error?.description.hasPrefix("unexpected end of the JSON (line ") == true)
      #expect(error?.position.byteOffset == text.utf8.count)
    }
  }

  @Test func limitsValue() {
    var splitter = MessageSplitter(.values, limitBytes: 10)
    splitter.append(String(repeating: "[", count: 20).utf8)
    let error = #expect(throws: MessageParseError.self) { try splitter.next() }
    #expect(error?.description == "a value longer than 10 bytes (line 1, column 1)")
  }

  // MARK: Lines

  @Test(arguments: [
    ("", []), ("a: 1", ["0:a: 1"]), ("a\nb\n", ["0:a", "2:b"]), ("\n\n", ["0:", "1:"]),
    ("a\n\nb", ["0:a", "2:", "3:b"]),
  ])
  func splitsLines(data: String, messages: [String]) throws {
    for size in Self.sizes {
      #expect(try split(.lines, Array(data.utf8), by: size) == messages)
    }
  }

  @Test func limitsLine() throws {
    var splitter = MessageSplitter(.lines, limitBytes: 4)
    splitter.append("abcd\nabcde".utf8)
    _ = try splitter.next()
    let error = #expect(throws: MessageParseError.self) { try splitter.next() }
    #expect(error?.description == "the message is longer than 4 bytes (line 2, column 1)")
    #expect(error?.position.byteOffset == 5)
  }

  // MARK: Delimited messages

  @Test(
    arguments: [
      ([], []), ([0], ["1:"]), ([2, 0x61, 0x62, 0, 1, 0x63], ["1:ab", "4:", "5:c"]),
      ([0x81, 0, 0x61], ["2:a"]), ([1, 10, 1, 0x61], ["1:\n", "3:a"]),
    ] as [([UInt8], [String])])
  func splitsDelimitedMessages(data: [UInt8], messages: [String]) throws {
    for size in Self.sizes {
      #expect(try split(.delimited, data, by: size) == messages)
    }
  }

  @Test(
    arguments: [
      ([2, 0x61], "the data ends within the message (byte 0)"),
      ([0, 0x80], "the data ends within the message (byte 1)"),
      ([0, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "expected the length of a message (byte 1)"),
      ([0xff, 0xff, 0xff, 0xff, 0xff], "expected the length of a message (byte 0)"),
      ([0xff, 0xff, 0xff, 0xff, 0x0f], "the message is longer than 67108864 bytes (byte 0)"),
      ([0x81, 0x80, 0x80, 0x20, 0], "the message is longer than 67108864 bytes (byte 0)"),
    ] as [([UInt8], String)])
  func rejectsInvalidLengths(data: [UInt8], why: String) {
    for size in Self.sizes {
      let error = #expect(throws: MessageParseError.self) { try split(.delimited, data, by: size) }
      #expect(error?.description == why)
      #expect(error?.hasLine == false)
    }
  }

  // MARK: One message

  @Test(arguments: ["", "{}{}\n"])
  func treatsDataAsOneMessage(data: String) throws {
    for size in Self.sizes {
      #expect(try split(.whole, Array(data.utf8), by: size) == ["0:\(data)"])
    }
  }

  @Test(arguments: [1, 3, 4, 7, 100])
  func splitsPiecesOfASize(_ step: Int) throws {
    var splitter = MessageSplitter(.pieces(4))
    let data = Array("0123456789".utf8)
    var found: [String] = []
    for start in stride(from: 0, to: data.count, by: step) {
      splitter.append(data[start..<min(start + step, data.count)])
      while let piece = try splitter.next() { found.append(String(decoding: piece.bytes, as: UTF8.self)) }
    }
    #expect(found == ["0123", "4567"])
    splitter.finish()
    #expect(try splitter.next()?.bytes == Array("89".utf8))
    #expect(try splitter.next() == nil)
  }
}
