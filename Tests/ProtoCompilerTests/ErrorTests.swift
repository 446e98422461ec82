import RPCurlPlatform
import RPCurlProtoCompiler
import Testing

/// Each kind of error with its text.
///
/// `errors.txt` has a block for each source: the files, of which those after the first one begin with `== NAME`, and the errors,
/// warnings and hints in lines that begin with `> `. The first block has a file for all others. Each first error is at the same place as protoc's.
struct ErrorTests {
  private struct Block {
    var files: [String: String] = [:]
    var expected: [String] = []

    init(_ text: Substring) {
      var name = "t.proto"
      var lines: [Substring] = []
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("> ") {
          expected.append(String(line.dropFirst(2)))
        } else if line.hasPrefix("== ") {
          files[name] = lines.joined(separator: "\n")
          name = String(line.dropFirst(3))
          lines = []
        } else {
          lines.append(line)
        }
      }
      files[name] = lines.joined(separator: "\n")
    }
  }

  private func blocks() throws -> [Block] {
    let path = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/errors.txt"
    let text = String(decoding: try FileContents.read(path), as: UTF8.self)
    var blocks: [Block] = []
    var lines: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == "%%" {
        blocks.append(Block(lines.joined(separator: "\n")[...]))
        lines = []
      } else {
        lines.append(line)
      }
    }
    return blocks + [Block(lines.joined(separator: "\n")[...])]
  }

  @Test func reportsEachKindOfErrorAtItsPlace() throws {
    let blocks = try blocks()
    let common = try #require(blocks.first).files
    for block in blocks.dropFirst() {
      let compiler = ProtoCompiler { name in
        (block.files[name] ?? common[name]).map { .found(Array($0.utf8)) } ?? .missing(tried: ["."])
      }
      let result = compiler.compile(["t.proto"])
      let found = result.diagnostics.flatMap { [$0.summary] + ($0.hint.map { ["hint: " + $0] } ?? []) }
      #expect(found == block.expected, "\(block.files["t.proto"] ?? "")")
    }
  }
}
