import RPCurlProtoCompiler
import Testing

/// Each kind of error with its text. The first error of each source is at the same place as protoc's.
struct ErrorTests {
  @Test func reportsEachKindOfErrorAtItsPlace() throws {
    let blocks = try Blocks.read("errors.txt")
    // The first block has a file that others import.
    let common = try #require(blocks.first).files
    for block in blocks.dropFirst() {
      let result = block.compile(common: common)
      let found = result.diagnostics.flatMap { [$0.summary] + ($0.hint.map { ["hint: " + $0] } ?? []) }
      #expect(found == block.expected, "\(block.files["t.proto"] ?? "")")
    }
  }

  @Test func limitsTheDepthOfValues() throws {
    let common = try #require(try Blocks.read("errors.txt").first).files
    func nested(_ opening: String, _ closing: String, _ inner: String = "") -> String {
      String(repeating: opening, count: 401) + inner + String(repeating: closing, count: 401)
    }
    let limit = "Message is too deep, the parser exceeded the configured recursion limit of 400."
    for (value, text) in [
      (nested("o { ", "} "), limit), ("old { \(nested("o { ", "} ")) }", "Message is too deep."),
      ("old: \(nested("[", "]", "1"))", "Message is too deep."),
    ] {
      let source = "syntax = \"proto2\"; import \"options.proto\"; option (opt) = { \(value) };"
      let result = compile(common.merging(["t.proto": source]) { $1 })
      #expect(result.summaries == ["t.proto:1:59: Error while parsing option value for \"opt\": \(text)"])
    }
  }

  @Test func limitsNamesAndNumbersOfFields() {
    let name = String(repeating: "a", count: 65536)
    #expect(compile(["t.proto": "message \(name) {}"]).summaries.contains("t.proto:1:9: Name too long."))
    let fields = (1...65536).map { "optional bool a\($0) = \($0 < 19000 ? $0 : $0 + 1000);" }
    let result = compile(["t.proto": "message A { \(fields.joined()) }"])
    #expect(result.summaries.contains("t.proto:1:9: 65536 fields in A exceeds the limit of 65535"))
  }

  @Test func refusesTheStartOfAnotherMarkOfTheByteOrder() {
    let result = ProtoCompiler { _ in .found([0xef, 0x41]) }.compile(["t.proto"])
    let text = "Proto file starts with 0xEF but not UTF-8 BOM. Only UTF-8 is accepted for proto file."
    #expect(result.summaries.first?.hasSuffix(text) == true)
  }

  @Test func namesWhatIsMissing() {
    #expect(compile([:]).summaries == ["t.proto: file not found"])
    let source = "syntax = \"proto3\"; import \"other.proto\"; message A { B b = 1; }"
    let result = compile(["t.proto": source], options: ProtoCompilerOptions(isTolerant: true))
    #expect(
      result.diagnostics.last?.hint == "an import of this file or of one that it imports was not found")
  }

  @Test func limitsTheSizeOfDeclarations() {
    let values = (0...1700).map { "A\($0) = \($0);" }.joined(separator: " ")
    let result = compile(["t.proto": "edition = \"2026\"; enum E { \(values) }"])
    #expect(
      result.summaries == [
        "t.proto:1:24: Enum name E should not contain more than 1700 values (features.enforce_proto_limits = LEGACY_NO_EXPLICIT_LIMITS can be used to opt out of this check)"
      ])
  }
}
