import RPCurlProtobuf
import Testing

@testable import RPCurlEngine
@testable import RPCurlProtocols

/// A serialized descriptor with a package of the file's name, a message and a syntax.
private func descriptor(_ name: String, syntax: String? = "proto3") -> [UInt8] {
  func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [number << 3 | 2]
    bytes.append(delimited: content)
    return bytes
  }
  let package = String(name.prefix { $0 != "." && $0 != "/" })
  return field(1, Array(name.utf8)) + field(2, Array(package.utf8)) + field(4, field(1, Array("Item".utf8)))
    + (syntax.map { field(12, Array($0.utf8)) } ?? [])
}

private func set(_ names: [String]) -> [UInt8] { names.flatMap { EmbeddedDescriptors.entry(descriptor($0)) } }

private func read(_ bytes: [UInt8]) throws(DescriptorSetReader.Problem) -> [UInt8] {
  let set = try DescriptorSetReader.set(SchemaBytes(bytes))
  return withExtendedLifetime(set) { Array(set.bytes) }
}

struct DescriptorSetReaderTests {
  private let demo = set(["demo.proto", "shop/v1/shop.proto"])

  @Test func keepsSets() throws {
    #expect(try read(demo) == demo)
    #expect(DescriptorSetForm(UnsafeRawBufferPointer(start: nil, count: 0)) == nil)
  }

  @Test(arguments: [Compression.gzip, .zstd])
  func decompresses(compression: Compression) throws {
    var compressor = MessageCompressor(compression)
    let packed = try compressor.compress(demo)
    #expect(try read(packed) == demo)
    let twice = try compressor.compress(packed)
    #expect(try read(twice) == demo)
    let deep = try compressor.compress(twice)
    #expect(throws: DescriptorSetReader.Problem(why: "is compressed more than twice")) { try read(deep) }
    #expect(throws: DescriptorSetReader.Problem.self) { try read(Array(packed.dropLast(3))) }
  }

  @Test(arguments: [
    #"{"file":[{"name":"demo.proto","package":"demo","messageType":[{"name":"Item"}],"syntax":"proto3","bufExtension":{"isImport":false}}]}"#,
    #"{"name":"demo.proto","package":"demo","messageType":[{"name":"Item"}],"syntax":"proto3"}"#,
    "\n\n  file {\n  name: \"demo.proto\" package: \"demo\"\n  message_type { name: \"Item\" }\n syntax: \"proto3\"\n}\n",
    "# proto-file: x\nfile: { name: 'demo.proto', package: 'demo', message_type: [{ name: 'Item' }], syntax: 'proto3' }",
  ])
  func readsTexts(text: String) throws {
    #expect(try read(Array(text.utf8)) == set(["demo.proto"]))
  }

  /// An extension that the set declares itself.
  @Test func readsOptionsOfTheSetInTexts() throws {
    let text = #"""
      {"file":[{"name":"demo.proto","package":"demo","dependency":["google/protobuf/descriptor.proto"],
      "messageType":[{"name":"Item","options":{"[demo.tag]":"x"}}],
      "extension":[{"name":"tag","number":50001,"label":"LABEL_OPTIONAL","type":"TYPE_STRING",
      "extendee":".google.protobuf.MessageOptions"}],"syntax":"proto3"}]}
      """#
    // Field 50001 with the text "x".
    #expect(try read(Array(text.utf8)).contains([0x8A, 0xB5, 0x18, 1, UInt8(ascii: "x")]))
  }

  @Test func readsEditionsInTexts() throws {
    let text =
      #"{"file":[{"name":"e.proto","options":{"features":{"fieldPresence":"IMPLICIT"}},"syntax":"editions","edition":"EDITION_2024"}]}"#
    #expect(try read(Array(text.utf8)).contains([0x42, 5, 0x92, 3, 2, 8, 2]))
  }

  @Test(arguments: ["{\"file\":[{\"name\":1}]}", "file { name: }"])
  func reportsInvalidTexts(text: String) {
    let problem = #expect(throws: DescriptorSetReader.Problem.self) { try read(Array(text.utf8)) }
    #expect(problem?.why.hasPrefix("not a descriptor set: ") == true)
  }

  @Test(arguments: ["", "syntax = \"proto3\";\n", "import \"x.proto\";", "hello", "package a;"])
  func keepsOtherTexts(text: String) throws {
    #expect(try read(Array(text.utf8)) == Array(text.utf8))
  }

  @Test func wrapsASingleDescriptor() throws {
    #expect(try read(descriptor("demo.proto")) == set(["demo.proto"]))
  }
}

struct EmbeddedDescriptorsTests {
  private static let head: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0]
  private static let long = "shop/" + String(repeating: "long/", count: 40) + "x.proto"

  @Test(arguments: [
    [], [0], Array("package main".utf8), Array("b\u{6}proto9".utf8), Array("\u{0A}\u{0B}other.data".utf8),
    [0x12, 0xFF],
    [0x70, 0x61], [0x4A, 2, 0xFF, 0xFF],
  ])
  func findsDescriptorsBetweenOtherData(after: [UInt8]) throws {
    for syntax in ["proto3", nil] {
      let first = descriptor("demo.proto", syntax: syntax)
      let second = descriptor(Self.long)
      let program = Self.head + Array("usage: x.proto\n".utf8) + first + after + second + after + first
      #expect(
        try read(program) == EmbeddedDescriptors.entry(first) + EmbeddedDescriptors.entry(second),
        "\(String(describing: syntax))")
    }
  }

  @Test func findsDescriptorsWithoutAnythingBetweenThem() throws {
    let names = ["a.proto", "bcdefghi.proto", "c/d.proto"]
    #expect(try read(Self.head + names.flatMap { descriptor($0) }) == set(names))
    #expect(try read(Self.head + names.flatMap { descriptor($0, syntax: nil) }).count > 60)
    // The set of other languages.
    #expect(try read(Self.head + set(names)) == set(names))
  }

  @Test func findsEditions() throws {
    let file = descriptor("demo.proto", syntax: "editions") + [0x70, 0xE9, 7]
    #expect(try read(Self.head + file + [0x70, 0x61]) == EmbeddedDescriptors.entry(file))
  }

  @Test func findsCompressedDescriptors() throws {
    var compressor = MessageCompressor(.gzip)
    let packed = try compressor.compress(descriptor("old.proto"))
    let program = Self.head + [0x1F, 0x8B, 8, 0xFF] + packed + Array("rest".utf8) + [0x1F, 0x8B, 8]
    #expect(try read(program) == set(["old.proto"]))
  }

  @Test func keepsProgramsWithoutDescriptors() throws {
    let program = Self.head + Array("\u{0A}\u{05}.proto".utf8) + Array("no.proto".utf8) + [0x0A, 0xFF]
    #expect(try read(program) == program)
  }

  @Test func findsDescriptorsInPythonCode() throws {
    let literal = descriptor("demo.proto").map { byte -> String in
      switch byte {
      case 0x0A: "\\n"
      case 0x22: "\\\""
      case 0x12: "\\022"
      case 0..<0x20, 0x7F...: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      default: String(UnicodeScalar(byte))
      }
    }.joined()
    let code =
      "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.\nDESCRIPTOR = pool.AddSerializedFile(b'\(literal)')\n"
    #expect(try read(Array(code.utf8)) == set(["demo.proto"]))
    #expect(try read(Array(code.utf8.dropLast(40))).isEmpty == false)
  }

  /// A name with control characters, which no set may have.
  @Test func ignoresWhatOnlyResemblesADescriptor() {
    let code =
      "# Generated by the protocol buffer compiler.\nDESCRIPTOR = pool.AddSerializedFile(b'\\n\\x08a\\x01.protob\\x06proto3')\n"
    var found = EmbeddedDescriptors()
    Array(code.utf8).withUnsafeBytes { found.addPython($0) }
    #expect(found.set.isEmpty)
  }

  @Test func findsDescriptorsInArchives() throws {
    var compressor = MessageCompressor(.gzip)
    let library = Self.head + descriptor("demo.proto")
    let member = try compressor.compress(library)
    // gzip is a header of ten bytes, the data, and a checksum and a size of four bytes each.
    let archive = zip([
      ("x/lib.so", 8, Array(member.dropFirst(10).dropLast(8)), Array(member.suffix(8))),
      ("x/a.binpb", 0, descriptor("stored.proto"), [UInt8](repeating: 0, count: 8)),
      ("x/readme", 0, descriptor("no.proto"), [0, 0, 0, 0, 0, 0, 0, 0]),
    ])
    #expect(try read(archive) == set(["demo.proto", "stored.proto"]))
    for count in 0..<archive.count { _ = try? read(Array(archive.prefix(count))) }
  }

  private func zip(_ files: [(name: String, method: UInt8, data: [UInt8], end: [UInt8])]) -> [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
    var (contents, directory) = ([UInt8](), [UInt8]())
    for file in files {
      let name = Array(file.name.utf8)
      // The method, the time, the checksum and the sizes.
      var facts: [UInt8] = [file.method, 0, 0, 0, 0, 0]
      facts += file.end.prefix(4)
      facts += number(file.data.count, 4)
      facts += file.end.suffix(4)
      facts += number(name.count, 2)
      directory += Array("PK\u{1}\u{2}".utf8)
      directory += number(0, 6)
      directory += facts
      directory += number(0, 12)
      directory += number(contents.count, 4)
      directory += name
      contents += Array("PK\u{3}\u{4}".utf8)
      contents += number(0, 4)
      contents += facts
      contents += number(0, 2)
      contents += name
      contents += file.data
    }
    var end = Array("PK\u{5}\u{6}".utf8)
    end += number(0, 4)
    for count in [files.count, files.count] { end += number(count, 2) }
    for count in [directory.count, contents.count] { end += number(count, 4) }
    end += number(0, 2)
    return contents + directory + end
  }
}
