import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SourceLocatorTests {
  /// Files by their paths: a package, and imports after it.
  private func locate(
    _ given: [String], in working: String = "/w", roots: [ImportRoot] = [], _ files: [String: String]
  ) throws(Failure) -> SourceLocator {
    let texts = files.mapValues { text in
      guard !text.hasPrefix("->") else { return text }
      let words = text.split(separator: Character(" ")).map(String.init)
      return (words.first.map { $0 == "-" ? "" : "package \($0);\n" } ?? "")
        + words.dropFirst().map { "import \"\($0)\";\n" }.joined()
    }
    let tree = FileTree.memory(texts)
    var sources: [SourceFiles.File] = []
    for name in given {
      sources += try SourceFiles(tree: tree, working: working, roots: roots, excluded: []).find(name) ?? []
    }
    return try SourceLocator(sources, roots: roots, in: working, SourceCache(tree), BuiltInFiles())
  }

  @Test func followsPackage() throws {
    let found = try locate(["/p/api/v1/a.proto"], ["/p/api/v1/a.proto": "api.v1"])
    #expect(found.names == ["api/v1/a.proto"] && found.roots == [ImportRoot("/p")])
  }

  @Test func usesDirectoryOfFileOtherwise() throws {
    #expect(try locate(["/p/api/a.proto"], ["/p/api/a.proto": "other.v1"]).names == ["a.proto"])
    #expect(try locate(["api/a.proto"], ["/w/api/a.proto": "other.v1"]).names == ["api/a.proto"])
    #expect(try locate(["api"], ["/w/api/a.proto": "other.v1"]).names == ["a.proto"])
  }

  @Test func followsImportsOfImports() throws {
    let found = try locate(
      ["/w/p/a.proto"],
      [
        "/w/p/a.proto": "- other/b.proto none.proto google/protobuf/any.proto",
        "/w/other/b.proto": "- x/c.proto",
        "/w/other/x/c.proto": "- other/b.proto ../escape.proto",
      ])
    #expect(found.places["other/b.proto"] == .file("/w/other/b.proto"))
    #expect(found.places["x/c.proto"] == .file("/w/other/x/c.proto"))
    #expect(found.places["google/protobuf/any.proto"] == .builtIn)
    #expect(found.missing.map(\.name) == ["none.proto", "../escape.proto"])
    #expect(found.missing.first?.importer == "/w/p/a.proto")
  }

  @Test func prefersGivenDirectories() throws {
    let found = try locate(
      ["p/api/v1/a.proto"], roots: [ImportRoot("/w/other"), ImportRoot("/w/p")],
      ["/w/p/api/v1/a.proto": "api.v1 x/c.proto", "/w/other/x/c.proto": "", "/w/p/x/c.proto": ""])
    #expect(found.names == ["api/v1/a.proto"])
    #expect(found.places["x/c.proto"] == .file("/w/other/x/c.proto"))
    #expect(found.roots == [ImportRoot("/w/other"), ImportRoot("/w/p")])
  }

  @Test func namesFilesAsImportsDo() throws {
    let files = ["/w/p/api/v1/a.proto": "api.v1 p/api/v1/b.proto", "/w/p/api/v1/b.proto": "api.v1"]
    let found = try locate(["p/api/v1/a.proto", "p/api/v1/b.proto"], files)
    #expect(found.names == ["p/api/v1/a.proto", "p/api/v1/b.proto"] && found.roots == [ImportRoot("/w")])
  }

  @Test func fileWithTwoNamesIsOneFile() throws {
    let found = try locate(
      ["p/a.proto"], roots: [ImportRoot("/w"), ImportRoot("/w/p")],
      ["/w/p/a.proto": "- p/b.proto c.proto", "/w/p/c.proto": "- b.proto", "/w/p/b.proto": ""])
    #expect(found.places["p/b.proto"] == .file("/w/p/b.proto"))
    #expect(found.places["b.proto"] == .alias(of: "p/b.proto"))
    let linked = try locate(
      ["a.proto"], ["/w/a.proto": "- b.proto c.proto", "/w/b.proto": "x", "/w/c.proto": "->/w/b.proto"])
    #expect(linked.places["c.proto"] == .alias(of: "b.proto"))
  }

  @Test func fileOfTwoArgumentsIsOneFile() throws {
    let files = ["/w/p/a.proto": "p", "/w/p/b.proto": "p"]
    #expect(try locate(["p", "/w/p/a.proto", "./p/b.proto"], files).names == ["p/a.proto", "p/b.proto"])
  }

  @Test func refusesTwoFilesWithOneName() {
    let files = ["/w/x/shop/a.proto": "shop", "/w/y/shop/a.proto": "shop other.proto"]
    let failure = #expect(throws: Failure.self) { try locate(["."], files) }
    #expect(failure?.message?.why == "has the name shop/a.proto, as /w/x/shop/a.proto has")
    // A copy is the same.
    #expect(throws: Never.self) {
      try locate(["."], ["/w/x/shop/a.proto": "shop", "/w/y/shop/a.proto": "shop"])
    }
  }

  @Test func findsGoModules() throws {
    let files = [
      "/src/shop/.git": "",
      "/src/shop/api/v1/a.proto": "api github.com/acme/shop/api/types/b.proto github.com/x/y/z.proto",
      "/src/shop/api/types/b.proto": "types", "/src/shop/vendor/github.com/x/y/z.proto": "z",
    ]
    let found = try locate(["/src/shop/api/v1/a.proto"], files)
    #expect(found.places["github.com/acme/shop/api/types/b.proto"] == .file("/src/shop/api/types/b.proto"))
    #expect(found.places["github.com/x/y/z.proto"] == .file("/src/shop/vendor/github.com/x/y/z.proto"))
    #expect(found.names == ["github.com/acme/shop/api/v1/a.proto"])
  }

  @Test(arguments: [
    ("google/api/annotations.proto", SourceLocator.Place.builtIn), ("grpc/health/v1/health.proto", .builtIn),
    ("github.com/gogo/protobuf/gogoproto/gogo.proto", .alias(of: "gogoproto/gogo.proto")),
    ("third_party/googleapis/google/api/http.proto", .alias(of: "google/api/http.proto")),
    ("gnostic/openapi/v3/annotations.proto", .alias(of: "openapiv3/annotations.proto")),
  ])
  func hasCommonFiles(name: String, place: SourceLocator.Place) throws {
    #expect(try locate(["a.proto"], ["/w/a.proto": "- \(name)"]).places[name] == place)
  }

  @Test func prefersVendoredFiles() throws {
    let files = [
      "/w/protos/a.proto": "- google/api/http.proto google/protobuf/any.proto",
      "/w/third_party/google/api/http.proto": "",
      "/w/google/protobuf/any.proto": "",
    ]
    let found = try locate(["protos/a.proto"], files)
    #expect(found.places["google/api/http.proto"] == .file("/w/third_party/google/api/http.proto"))
    #expect(found.places["google/protobuf/any.proto"] == .builtIn)
    let given = try locate(["protos/a.proto"], roots: [ImportRoot("/w")], files)
    #expect(given.places["google/protobuf/any.proto"] == .file("/w/google/protobuf/any.proto"))
  }

  @Test func placesImportsOfBuiltInFiles() throws {
    let found = try locate(["a.proto"], ["/w/a.proto": "- google/api/annotations.proto"])
    #expect(found.place("google/api/http.proto") == .builtIn)
    #expect(found.place("google/protobuf/descriptor.proto") == .builtIn)
    #expect(found.place("none.proto") == nil)
  }

  @Test func aFileAloneIsNoGoModule() throws {
    let files = ["/src/api/v1/a.proto": "- k8s.io/other/pkg/b.proto", "/src/api/v1/b.proto": "-"]
    #expect(try locate(["/src/api/v1/a.proto"], files).missing.map(\.name) == ["k8s.io/other/pkg/b.proto"])
  }

  @Test func doesNotReadPipesAsImports() throws {
    #expect(try locate(["a.proto"], ["/w/a.proto": "- p", "/w/p/x": ""]).missing.map(\.name) == ["p"])
  }
}
