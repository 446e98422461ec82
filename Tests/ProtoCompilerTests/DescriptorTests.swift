import RPCurlPlatform
import RPCurlProtoCompiler
import RPCurlProtobuf
import Testing

/// The descriptors of protoc 36.2 for sources with each part of the language, with source positions and comments.
struct DescriptorTests {
  @Test func writesTheDescriptorsOfProtoc() throws {
    for block in try Blocks.read("descriptors.txt") {
      let result = block.compile(options: ProtoCompilerOptions(sourceInfo: true))
      #expect(result.summaries.filter { !$0.contains("warning:") } == [])
      let descriptor = try #require(result.files.last { $0.name == "t.proto" }).descriptor
      let expected = Base64.decode(Array(block.expected.joined().utf8))
      #expect(descriptor == expected, "\(block.files["t.proto"] ?? "")")
    }
  }

  @Test func readsItsOwnDescriptorsAsImports() throws {
    let imported = compile([
      "t.proto": """
      edition = "2023";
      package lib;
      import "google/protobuf/descriptor.proto";
      message Kit { string name = 1; Hue hue = 2; oneof pick { int32 a = 3; int32 b = 4; } extensions 100; }
      enum Hue { RED = 0; BLUE = 2; }
      extend google.protobuf.MessageOptions { Kit kit = 50000; }
      """
    ])
    let descriptor = try #require(imported.files.last).descriptor
    let source = """
      syntax = "proto3";
      import "lib.proto";
      message Use { option (lib.kit) = { name: "n" hue: BLUE b: 4 }; lib.Kit kit = 1; }
      """
    let compiler = ProtoCompiler { name in
      switch name {
      case "t.proto": .found(Array(source.utf8))
      case "lib.proto": .descriptor(descriptor)
      default: .missing(tried: [])
      }
    }
    let result = compiler.compile(["t.proto"])
    #expect(result.summaries == [])
    // A descriptor keeps the name that it has.
    #expect(result.files.map(\.name) == ["google/protobuf/descriptor.proto", "t.proto", "t.proto"])
  }

  @Test func retainsOptionsOfSourcesOnRequest() throws {
    let source =
      "edition = \"2024\"; option features.enforce_naming_style = STYLE_LEGACY; message bad_name {}"
    let stripped = try #require(compile(["t.proto": source]).files.last).descriptor
    let retained = try #require(
      compile(["t.proto": source], options: ProtoCompilerOptions(retainsOptions: true)).files.last
    ).descriptor
    #expect(stripped.count < retained.count)
  }
}
