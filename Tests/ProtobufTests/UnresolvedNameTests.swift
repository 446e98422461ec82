import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

struct UnresolvedNameTests {
  private let pool: DescriptorPool

  init() throws { pool = try makePool() }

  private func type(_ name: String) throws -> MessageType {
    try #require(try pool.messageType(named: name))
  }

  private func names(_ type: String, _ bytes: [UInt8], limit: Int = 10) throws -> [UnresolvedName] {
    try self.type(type).unresolvedNames(in: bytes.span.bytes, limit: limit) { _ in true }
  }

  /// A field that has a length.
  private func field(_ number: UInt32, _ content: [UInt8]) -> [UInt8] {
    var out = OutputBuffer()
    out.appendTag(Tag(number, .lengthDelimited))
    out.appendVarint(UInt64(content.count))
    return out.copyBytes() + content
  }

  private func field(_ number: UInt32, _ value: UInt64) -> [UInt8] {
    var out = OutputBuffer()
    out.appendTag(Tag(number, .varint))
    out.appendVarint(value)
    return out.copyBytes()
  }

  private func any(_ url: String, _ content: [UInt8] = []) -> [UInt8] {
    field(1, Array(url.utf8)) + field(2, content)
  }

  @Test func findsNumbersInExtensionRangesOnly() throws {
    let known = field(102, field(105, 1))  // in a message of the extension nested_ext
    #expect(try names("test2.Old", field(150, 1)) == [.extensionNumber(of: "test2.Old", number: 150)])
    #expect(try names("test2.Old", known) == [.extensionNumber(of: "test2.Old", number: 105)])
    #expect(try names("test2.Old", field(99, 1) + field(201, [])) == [])
    #expect(try names("google.protobuf.Empty", field(150, 1)) == [])
  }

  @Test func findsItemsOfMessageSets() throws {
    func item(_ number: UInt64) -> [UInt8] {
      [0x0B] + field(2, number) + field(3, [UInt8]()) + [0x0C]
    }
    #expect(
      try names("test2.Set", item(1234) + item(77)) == [.extensionNumber(of: "test2.Set", number: 77)])
  }

  @Test func findsTypesInAny() throws {
    let unknown = any("type.googleapis.com/no.Type")
    let known = any("x/test2.Old", field(150, 1))
    #expect(try names("google.protobuf.Any", unknown) == [.symbol("no.Type")])
    #expect(
      try names("google.protobuf.Any", any("x/google.protobuf.Any", known))
        == [.extensionNumber(of: "test2.Old", number: 150)])
    #expect(try names("google.protobuf.Any", any("x/google.protobuf.Duration", field(150, 1))) == [])
  }

  @Test func findsEachNameOnceUpToALimit() throws {
    let bytes = (110..<120).flatMap { field($0, 1) + field($0, 2) }
    #expect(try names("test2.Old", bytes).count == 10)
    #expect(try names("test2.Old", bytes, limit: 3).count == 3)
    let wanted = try type("test2.Old").unresolvedNames(in: bytes.span.bytes, limit: 3) { name in
      name == .extensionNumber(of: "test2.Old", number: 119)
    }
    #expect(wanted == [.extensionNumber(of: "test2.Old", number: 119)])
  }

  @Test func invalidBytesHaveTheNamesBeforeTheError() throws {
    #expect(
      try names("test2.Old", field(150, 1) + [0xFF]) == [.extensionNumber(of: "test2.Old", number: 150)])
    let deep = (0..<200).reduce([UInt8]()) { content, _ in field(102, content) }
    #expect(try names("test2.Old", deep) == [])
  }

  @Test func typesThatReachNeitherAnyNorRangesLackNoNames() throws {
    #expect(try type("test2.Old").mayLackNames)
    #expect(try type("google.protobuf.Any").mayLackNames)
    #expect(try !type("google.protobuf.Struct").mayLackNames)
  }

  @Test func findsNamesInJSON() {
    let json = #"{"a":[{"@type":"x/p.T","[p.e]":1,"b":"[p.f]"}],"[p.g]":null,"@type":2}"#
    #expect(
      UnresolvedName.all(inJSON: Array(json.utf8)) == [.symbol("p.T"), .symbol("p.e"), .symbol("p.g")])
    #expect(UnresolvedName.all(inJSON: Array("{".utf8)) == [])
  }

  @Test func findsNamesInPaths() {
    let text = "assert,field=[p.e].z == 1,field=a.[q.f] exists,message=(one|two),a[\"b.c\"],b[1],header=["
    #expect(UnresolvedName.all(inBracketsOf: text) == [.symbol("p.e"), .symbol("q.f")])
    let message = #"[p.e]: 1 list: [1, 2] any { [x/p.T] {} }"#
    #expect(UnresolvedName.all(inBracketsOf: message) == [.symbol("p.e"), .symbol("p.T")])
  }

  @Test func namesTheExtensionOrTypeOfAnError() throws {
    let old = try type("test2.Old")
    let holder = try type("google.protobuf.Any")
    #expect(jsonError(old, #"{"[p.e]":1}"#)?.missingName == .symbol("p.e"))
    #expect(jsonError(holder, #"{"@type":"x/p.T"}"#)?.missingName == .symbol("p.T"))
    #expect(jsonError(old, #"{"p":1}"#)?.missingName == nil)
    #expect(textError(old, "[p.e]: 1")?.missingName == .symbol("p.e"))
    #expect(textError(holder, "[x/p.T] {}")?.missingName == .symbol("p.T"))
    #expect(throws: FieldPathError.unknownField(name: "[p.e]", type: "test2.Old", nearest: [])) {
      try old.field(at: FieldPath("[p.e]"))
    }
    let error = FieldPathError.unknownField(name: "[p.e]", type: "test2.Old", nearest: [])
    #expect(error.missingName == .symbol("p.e"))
  }

  private func jsonError(_ type: MessageType, _ json: String) -> MessageParseError? {
    do throws(MessageParseError) { _ = try Message(type, json: Array(json.utf8)) } catch { return error }
    return nil
  }

  private func textError(_ type: MessageType, _ text: String) -> MessageParseError? {
    do throws(MessageParseError) { _ = try Message(type, text: Array(text.utf8)) } catch { return error }
    return nil
  }
}
