import RPCurlPlatform
import RPCurlProtobuf
import RPCurlSchemaTools
import Testing

@testable import RPCurlProtoCompiler

/// Random sources: valid ones compile, and what is printed of their descriptors has the same descriptors; what is made of them by
/// changes of their tokens ends with a set or with an error.
struct RandomSchemaTests {
  /// How many schemas there are; RPCURL_RANDOM_RUNS has a number for cheaper tests.
  private static let runs =
    (getenv("RPCURL_RANDOM_RUNS").flatMap { Int(String(cString: $0)) } ?? 2_000) / 20
  /// The first seed, from RPCURL_RANDOM_SEED.
  private static let first = getenv("RPCURL_RANDOM_SEED").flatMap { Int(String(cString: $0)) } ?? 0

  private static func seeds(_ block: Int) -> Range<Int> {
    (first + block * runs / 4)..<(first + (block + 1) * runs / 4)
  }

  private func compile(_ files: [(name: String, text: String)]) -> ProtoCompilation {
    ProtoCompiler { name in
      files.first { $0.name == name }.map { .found(Array($0.text.utf8)) } ?? .missing(tried: [])
    }
    .compile(files.map(\.name))
  }

  private func printed(_ names: [String], of set: SchemaBytes) throws -> [(name: String, text: String)] {
    let pool = DescriptorPool()
    try pool.add(set, source: "test")
    return try names.map { name in
      (name, ProtoPrinter(try #require(try pool.file(named: name)), in: pool).print())
    }
  }

  @Test(arguments: 0..<4)
  func printedSchemaHasTheSameDescriptors(_ block: Int) throws {
    for seed in Self.seeds(block) {
      let schema = RandomSchema(seed: seed)
      let result = compile(schema.files)
      try #require(!result.hasErrors, "seed \(seed): \(result.summaries)")
      let written = try printed(schema.files.map(\.name), of: result.set)
      let again = compile(written)
      try #require(!again.hasErrors, "seed \(seed): \(again.summaries)")
      for (file, other) in zip(result.files, again.files) {
        try #require(
          file.descriptor == other.descriptor,
          "seed \(seed): \(written)")
      }
    }
  }

  @Test func bytesAndSignsArePrintedExactly() throws {
    let text = #"""
      syntax = "proto2";
      import "google/protobuf/descriptor.proto";
      message O { optional double d = 1; optional float f = 2; optional string s = 3; repeated double r = 4; }
      extend google.protobuf.MessageOptions { optional O o = 5000; }
      message M {
        option (o) = { d: -nan f: -nan s: "a\377b" r: [-nan, nan, -inf] };
        optional string a = 1 [json_name = "a\377", default = "\377"];
        optional string b = 2 [json_name = "a\376"];
      }
      """#
    let result = compile([("t.proto", text)])
    #expect(result.summaries == [])
    let again = compile(try printed(["t.proto"], of: result.set))
    #expect(again.summaries == [] && again.files.map(\.descriptor) == result.files.map(\.descriptor))
  }

  @Test(arguments: 0..<4)
  func changedSourceEndsWithSetOrError(_ block: Int) {
    for seed in Self.seeds(block) {
      var numbers = SeededNumbers(-seed - 1)
      var files = RandomSchema(seed: seed).files
      for _ in 0..<8 {
        let index = Int.random(in: 0...1, using: &numbers)
        files[index].text = changed(files[index].text, &numbers)
        let result = compile(files)
        #expect(result.hasErrors || result.files.count >= 2, "seed \(seed)")
        #expect(result.diagnostics.allSatisfy { !$0.text.isEmpty }, "seed \(seed)")
      }
    }
  }

  /// The text with a word removed, doubled, exchanged with another one or cut.
  private func changed(_ text: String, _ numbers: inout SeededNumbers) -> String {
    var words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard let place = words.indices.randomElement(using: &numbers) else { return text }
    let other = words.indices.randomElement(using: &numbers) ?? place
    switch Int.random(in: 0..<5, using: &numbers) {
    case 0: words.remove(at: place)
    case 1: words.insert(words[place], at: other)
    case 2: words.swapAt(place, other)
    case 3: words[place] = words[place].dropLast()
    default: words[place] = words[place].dropFirst()
    }
    return words.joined(separator: " ")
  }

  /// Writes the files for `scripts/compare-protoc` into the directory RPCURL_RANDOM_OUTPUT.
  @Test(.enabled(if: getenv("RPCURL_RANDOM_OUTPUT") != nil))
  func writesFiles() throws {
    let folder = try #require(getenv("RPCURL_RANDOM_OUTPUT").map { String(cString: $0) })
    for seed in Self.first..<Self.first + Self.runs {
      for file in RandomSchema(seed: seed).files {
        let path = "\(folder)/random+schemas/\(file.name)"
        Directory.make(path.split(separator: "/").dropLast().map { "/\($0)" }.joined())
        #expect(FileContents.replace(path, with: Array(file.text.utf8)) == nil)
      }
    }
  }
}
