import Testing

@testable import Protobuf

@Suite struct JSONValueReaderTests {
  private func values(_ chunks: [String]) throws -> [String] {
    var reader = JSONValueReader()
    var found: [String] = []
    for chunk in chunks {
      reader.append(chunk.utf8)
      while let item = try reader.next() { found.append(String(decoding: item.json, as: UTF8.self)) }
    }
    reader.finish()
    while let item = try reader.next() { found.append(String(decoding: item.json, as: UTF8.self)) }
    return found
  }

  @Test func splitsValuesAtAnyPosition() throws {
    let text = #" {"a":"}\"{"}[1,[2]]"x]"{} 12 true null-5"#
    let expected = [#"{"a":"}\"{"}"#, "[1,[2]]", #""x]""#, "{}", "12", "true", "null-5"]
    #expect(try values([text]) == expected)
    #expect(try values(text.map(String.init)) == expected)
  }

  @Test func returnsValueAsSoonAsComplete() throws {
    var reader = JSONValueReader()
    reader.append("{\"a\":1".utf8)
    #expect(try reader.next() == nil)
    reader.append("}".utf8)
    #expect(try reader.next()?.json == Array("{\"a\":1}".utf8))
    #expect(try reader.next() == nil)
  }

  @Test func reportsStartOfValue() throws {
    var reader = JSONValueReader()
    reader.append("{}\n\n  {\"anInt32\": x}".utf8)
    _ = try reader.next()
    let item = try #require(try reader.next())
    #expect(item.start.line == 3 && item.start.column == 3 && item.start.byteOffset == 6)
    let error = #expect(throws: JSONError.self) { try Message(try type("test3.Scalars"), json: item.json) }
    #expect(error?.moved(to: item.start).line == 3)
    #expect(error?.moved(to: item.start).column == 15)
  }

  @Test func rejectsInvalidStart() {
    for text in ["}", "]", ",", "{},{}", ":"] { #expect(throws: JSONError.self) { try values([text]) } }
    for text in ["{", "[1", "\"a", "{\"a\":\"}"] {
      let error = #expect(throws: JSONError.self) { try values([text]) }
      #expect(error?.reason == .unexpectedEnd)
    }
  }

  @Test func limitsValue() {
    var reader = JSONValueReader(limitBytes: 10)
    reader.append(String(repeating: "[", count: 20).utf8)
    let error = #expect(throws: JSONError.self) { try reader.next() }
    #expect(error?.reason == .tooLong(limitBytes: 10))
  }
}
