import RPCurlProtobuf
import RPCurlProtobufSupport
import Testing

@testable import RPCurlSchemaTools

/// Searches names by prefix and suffix. End-to-end tests cover large sets.
struct NameSearchTests {
  private func answer(
    _ part: NameSearch.Part, _ typed: String, _ kinds: Set<SymbolKind>, crowd: Int = 10_000,
    limit: Int = 10_000
  ) throws -> NameSearch.Answer {
    let set = SchemaBytes(try #require(Base64.decode(FixtureData.encoded)))
    return NameSearch([set], crowd: crowd, limit: limit) { false }.names(part, typed, kinds)
  }

  private func texts(_ part: NameSearch.Part, _ typed: String, _ kinds: Set<SymbolKind>) throws -> [String] {
    try answer(part, typed, kinds).matches.map(\.text)
  }

  @Test func findsDeclarationsOfPool() throws {
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(try #require(Base64.decode(FixtureData.encoded))), source: "fixtures")
    for kind in [SymbolKind.service, .method, .message, .enumeration, .extensionField] {
      #expect(try Set(texts(.beginning, "", [kind])) == Set(pool.symbols([kind]).map(\.name)))
    }
  }

  @Test func returnsTypesOfMethods() throws {
    let found = try answer(.beginning, "test3.Greeter/Ch", [.method]).matches
    #expect(found.map(\.name) == ["test3.Greeter/Chat"])
    let method = try #require(found.first?.method)
    #expect(method.clientStreaming && method.serverStreaming)
    #expect((method.input, method.output) == ("test3.Scalars", "test3.Lists"))
    #expect(
      try answer(.beginning, "test3.Greeter/He", [.method]).matches.first?.method?.serverStreaming == false)
  }

  @Test func keepsTypedText() throws {
    #expect(try texts(.beginning, "test3.Greeter.Ch", [.method]) == ["test3.Greeter.Chat"])
    #expect(try texts(.end, "Greeter.Ch", [.method]) == ["Greeter.Chat"])
  }

  @Test func suffixesStartAtPart() throws {
    #expect(try texts(.end, "Ch", [.method]) == ["Chat"])
    #expect(try texts(.end, "Greeter/Ch", [.method]) == ["Greeter/Chat"])
    #expect(try texts(.end, "Gree", [.service, .method]) == ["Greeter"])
    #expect(try texts(.end, "hat", [.method]) == [])
    #expect(try texts(.end, "eter/Ch", [.method]) == [])
  }

  @Test func ignoresCaseWhereNothingMatchesWithIt() throws {
    #expect(try texts(.beginning, "TEST3.greeter/ch", [.method]) == ["test3.Greeter/Chat"])
    #expect(try texts(.beginning, "test3.greeter.ch", [.method]) == ["test3.Greeter.Chat"])
    #expect(try texts(.end, "ch", [.method]) == ["Chat"])
    #expect(try texts(.end, "greeter/CHAT", [.method]) == ["Greeter/Chat"])
    #expect(try texts(.end, "hat", [.method]) == [])
    #expect(try texts(.beginning, "test3.sc", [.message, .field]) == ["test3.Scalars"])
    #expect(
      try texts(.beginning, "test3.scalars.", [.field]) == texts(.beginning, "test3.Scalars.", [.field]))
  }

  @Test func suggestsMembersOnlyAfterParent() throws {
    #expect(try texts(.beginning, "test3.Sc", [.message, .field]) == ["test3.Scalars"])
    let fields = try texts(.beginning, "test3.Scalars.", [.field])
    #expect(!fields.isEmpty && fields.allSatisfy { $0.hasPrefix("test3.Scalars.") })
  }

  @Test func returnsPackagesAboveCrowdLimit() throws {
    let crowd = try answer(.beginning, "te", [.message], crowd: 3)
    #expect(crowd.packages.contains("test3.") && crowd.packages.contains("test2."))
    #expect(crowd.packages.count == Set(crowd.packages).count)
    #expect(crowd.matches.allSatisfy { !$0.name.hasPrefix("test3.") })
    // Within a package there is no shorter result.
    #expect(try answer(.beginning, "test3.", [.message], crowd: 3).packages == [])
    #expect(try answer(.beginning, "test3.", [.message], crowd: 3, limit: 2).matches.count == 2)
  }

  @Test func stopsAtTimeLimit() throws {
    var set: [UInt8] = []
    for number in 0..<200 {
      // A file with a name and one message of this name.
      let name = Array("f\(number)".utf8)
      let message = [0x22, UInt8(name.count + 2), 0x0A, UInt8(name.count)] + name
      let file = [0x0A, UInt8(name.count)] + name + message
      set += [0x0A, UInt8(file.count)] + file
    }
    let search = NameSearch([SchemaBytes(set)], crowd: 1000, limit: 1000) { true }
    #expect(search.names(.beginning, "", [.message]).matches.count == 63)
  }

  @Test func ignoresInvalidSets() throws {
    for bytes in [[], [0xFF], [0x0A, 0x7F], Array("text".utf8)] as [[UInt8]] {
      let search = NameSearch([SchemaBytes(bytes)], crowd: 10, limit: 10) { false }
      #expect(search.names(.beginning, "", Set(SymbolKind.allCases)) == NameSearch.Answer())
      #expect(search.names(.end, "a", Set(SymbolKind.allCases)) == NameSearch.Answer())
    }
  }
}
