import RPCurlProtobuf
import RPCurlProtobufSupport
import Testing

@testable import RPCurlSchemaTools

/// Declarations as source text. End-to-end tests compile the output.
struct DeclarationTests {
  private func print(_ name: String) throws -> String {
    let pool = try makePool()
    let (declaration, file) = try #require(try pool.declaration(named: name))
    return ProtoPrinter(file, in: pool).print(declaration)
  }

  @Test func printsWellKnownTypes() throws {
    #expect(
      try print("google.protobuf.Struct") == """
        message Struct {
          map<string, Value> fields = 1;
        }

        """)
    #expect(try print("google.protobuf.Value.null_value") == "NullValue null_value = 1;\n")
    #expect(try print("google.protobuf.NullValue") == "enum NullValue {\n  NULL_VALUE = 0;\n}\n")
    #expect(try print("google.protobuf.Empty") == "message Empty {}\n")
  }

  @Test func findsAllDeclarations() throws {
    let pool = try makePool()
    for symbol in pool.symbols(Set(SymbolKind.allCases)) {
      let file = try #require(try pool.file(named: symbol.file))
      let found = try #require(file.declaration(named: symbol.name), "\(symbol.name)")
      #expect(found.kind == symbol.kind)
      #expect(found.name == symbol.name)
      #expect(!ProtoPrinter(file, in: pool).print(found).isEmpty)
    }
  }

  @Test func findsNothingForUnknownNames() throws {
    let pool = try makePool()
    for name in ["", ".", "google", "google.protobuf.Struct.none", "google.protobuf.Nothing", "/", "a/b"] {
      #expect(try pool.declaration(named: name) == nil)
    }
    #expect(try pool.file(named: "none.proto") == nil)
  }

  @Test func everyTruncationIsReadOrRejected() throws {
    let bytes = try #require(Base64.decode(FixtureData.encoded))
    let file = try #require(try WireRecord.all(in: bytes[...]).first).bytes
    for end in stride(from: 0, to: file.count, by: 3) {
      _ = try? DeclarationReader.read(Array(file.prefix(end)), pool: DescriptorPool().core)
    }
  }

  @Test(arguments: [
    ("snake_case", "snakeCase"), ("camelCase", "camelCase"), ("_a", "A"), ("a_1", "a1"), ("a__b", "aB"),
    ("a_", "a"),
  ])
  func derivesJSONNames(name: String, json: String) {
    #expect(ProtoText.jsonName(of: name) == json)
  }

  @Test func escapesControlCharacters() {
    #expect(ProtoText.safe("a\u{1b}[31m\n") == #"a\033[31m\012"#)
    #expect(ProtoText.safe("\u{61c}\u{200e}") == #"\330\234\342\200\216"#)
    #expect(ProtoText.literal("\u{202e}\"\\\n\t") == #""\342\200\256\"\\\n\t""#)
    #expect(ProtoText.literal([0, 0xff, 0x22, 0x41]) == #""\000\377\"A""#)
    #expect(ProtoText.safe("é 中 😀") == "é 中 😀")
  }

  @Test func closuresAreInOrderOfImportsAndReportMissingOnes() throws {
    let pool = try makePool()
    let set = try pool.descriptorSet(ofFiles: pool.fileNames)
    #expect(set.missingImports.isEmpty)
    #expect(try pool.descriptorSet(ofFiles: pool.fileNames).serialized == set.serialized)
    let again = DescriptorPool()
    try again.add(SchemaBytes(set.serialized), source: "again")
    #expect(again.fileNames.sorted() == pool.fileNames.sorted())
    #expect(try pool.descriptorSet(ofFiles: ["none.proto"]).serialized.isEmpty)
  }

  @Test func templatesCutRecursion() throws {
    let type = try #require(try makePool().messageType(named: "google.protobuf.DescriptorProto"))
    let template = try MessageTemplate(type)
    #expect(template.json.contains("\"nestedType\": []"))
    #expect(template.notes.contains { $0.path == "field[].label" && $0.text.contains("LABEL_OPTIONAL") })
  }

  // MARK: Groups

  /// A field of a descriptor, with its length.
  private func record(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    var out = OutputBuffer()
    out.append(number << 3 | 2)
    out.appendVarint(UInt64(content.count))
    return out.copyBytes() + content
  }

  private func record(_ number: UInt8, _ text: String) -> [UInt8] { record(number, Array(text.utf8)) }

  private func group(_ name: String, _ number: UInt8, _ type: String) -> [UInt8] {
    record(2, record(1, name) + [0x18, number, 0x20, 1, 0x28, 10] + record(6, type))
  }

  private func file(_ content: [UInt8]) throws -> String {
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(record(1, record(1, "g.proto") + content)), source: "g")
    let file = try #require(try pool.file(named: "g.proto"))
    return ProtoPrinter(file, in: pool).print()
  }

  @Test func printsRecursiveGroups() throws {
    let first = record(4, record(1, "A") + group("self", 1, ".A") + group("b", 2, ".B"))
    let second = record(4, record(1, "B") + group("a", 1, ".A"))
    #expect(
      try file(first + second) == """
        syntax = "proto2";

        message A {
          optional A self = 1; // encoded as a group
          optional B b = 2; // encoded as a group
        }

        message B {
          optional A a = 1; // encoded as a group
        }

        """)
  }

  /// Nested in each other, and side by side.
  @Test(arguments: [true, false]) func printsGroupOnceForAnyNumberOfFields(isNested: Bool) throws {
    var content: [UInt8] = []
    var inner: [UInt8] = []
    for index in (0..<30).reversed() {
      let scope = isNested ? (0...index).map { ".M\($0)" }.joined() : ""
      let next = "\(scope).M\(index + 1)"
      let fields = index == 29 ? [] : group("one", 1, next) + group("two", 2, next)
      let message = record(1, "M\(index)") + fields + (isNested ? inner : [])
      inner = record(3, message)
      content += isNested ? index == 0 ? record(4, message) : [] : record(4, message)
    }
    let text = try file(content)
    #expect(text.utf8.count < 10_000)
    for index in 0..<30 {
      let keyword = isNested && index > 0 ? "group" : "message"
      #expect(text.contains("\(keyword) M\(index) "))
    }
    if isNested { #expect(text.contains("optional M1 two = 2; // encoded as a group")) }
  }
}
