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

  @Test func limitsTheSizeOfDeclarations() {
    let values = (0...1700).map { "A\($0) = \($0);" }.joined(separator: " ")
    let result = compile(["t.proto": "edition = \"2026\"; enum E { \(values) }"])
    #expect(
      result.summaries == [
        "t.proto:1:24: Enum name E should not contain more than 1700 values (features.enforce_proto_limits = LEGACY_NO_EXPLICIT_LIMITS can be used to opt out of this check)"
      ])
  }
}
