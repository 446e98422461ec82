import RPCurlProtobuf
import Testing

@testable import RPCurlProtoCompiler

/// What the compiler returns: descriptors in their order, and errors as a person reads them.
struct ProtoCompilerTests {
  @Test func compilesImportsBeforeTheFilesThatImportThem() {
    let result = compile([
      "t.proto": "syntax = \"proto3\"; import \"b.proto\"; message A { b.B b = 1; }",
      "b.proto":
        "syntax = \"proto3\"; package b; import \"google/protobuf/any.proto\"; message B { google.protobuf.Any any = 1; }",
    ])
    #expect(result.summaries == [])
    #expect(result.files.map(\.name) == ["google/protobuf/any.proto", "b.proto", "t.proto"])
  }

  @Test func writesDescriptorsThatTheCodecReads() throws {
    let result = compile([
      "t.proto": """
      edition = "2023";
      package shop;
      message Order { string id = 1; repeated Line lines = 2; map<string, int64> totals = 3; }
      message Line { oneof kind { string sku = 1; bytes code = 2; } }
      """
    ])
    #expect(result.summaries == [])
    let pool = DescriptorPool()
    for file in result.files {
      var set: [UInt8] = [0x0a]
      var count = file.descriptor.count
      while count > 0x7f {
        set.append(UInt8(count & 0x7f) | 0x80)
        count >>= 7
      }
      set.append(UInt8(count))
      try pool.add(SchemaBytes(set + file.descriptor), source: "test")
    }
    let type = try #require(try pool.messageType(named: "shop.Order"))
    let message = try Message(type, json: Array(#"{"id":"a","lines":[{"sku":"b"}],"totals":{"c":"1"}}"#.utf8))
    #expect(!message.serialized().isEmpty)
  }

  @Test func showsTheLineAndWhatIsNear() {
    let result = compile([
      "t.proto": "syntax = \"proto3\";\nimport \"types.proto\";\nmessage Order {\n\tProdct product = 1;\n}\n",
      "types.proto": "syntax = \"proto3\"; message Product {}",
    ])
    #expect(
      result.diagnostics.map(\.rendered) == [
        """
        t.proto:4:9: "Prodct" is not defined.
                  Prodct product = 1;
                  ^
        hint: did you mean Product in types.proto?
        """
      ])
  }

  @Test func namesTheDirectoriesThatWereSearched() {
    let result = compile(["t.proto": "syntax = \"proto3\";\nimport \"missing.proto\";\n"])
    #expect(result.diagnostics.map(\.summary) == ["t.proto:2:1: Import \"missing.proto\" was not found."])
    #expect(result.diagnostics.first?.hint == "searched in protos")
    #expect(result.files.isEmpty)
  }

  @Test func reportsAtMostTwentyErrorsOfAFile() {
    let fields = (1...30).map { "  Missing m\($0) = \($0);" }.joined(separator: "\n")
    let result = compile(["t.proto": "syntax = \"proto3\";\nmessage A {\n\(fields)\n}\n"])
    #expect(result.diagnostics.count == 20)
  }

  @Test func leavesOptionsOfMissingImportsUninterpreted() {
    let source =
      "syntax = \"proto3\"; import \"missing.proto\"; message A { int32 a = 1 [(check.rule) = 1, deprecated = true]; }"
    let tolerant = compile(["t.proto": source], options: ProtoCompilerOptions(isTolerant: true))
    #expect(tolerant.summaries == ["t.proto:1:20: warning: Import \"missing.proto\" was not found."])
    #expect(tolerant.files.map(\.name) == ["t.proto"])
    let needed = compile(
      ["t.proto": "syntax = \"proto3\"; import \"missing.proto\"; message A { B b = 1; }"],
      options: ProtoCompilerOptions(isTolerant: true))
    #expect(needed.hasErrors)
  }

  @Test func allWordsHaveTheirNames() {
    let names = Names()
    for word in Word.allCases where word != .empty { #expect(names[Name(word)] == "\(word)") }
  }
}
