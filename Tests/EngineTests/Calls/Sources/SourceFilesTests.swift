import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SourceFilesTests {
  private let tree = FileTree.memory([
    "/w/a.proto": "", "/w/protos/b.proto": "", "/w/protos/shop/v1/c.proto": "",
    "/w/protos/shop/v2/d.proto": "",
    "/w/protos/shop/readme.md": "", "/w/protos/.hidden/e.proto": "", "/w/protos/node_modules/f.proto": "",
    "/other/g.proto": "", "/w/empty/x.txt": "", "/w/odd[1].proto": "",
  ])

  private func find(
    _ argument: String, roots: [ImportRoot] = [], excluded: [String] = []
  ) throws(Failure) -> [String]? {
    try SourceFiles(tree: tree, working: "/w", roots: roots, excluded: excluded).find(argument)?.map(\.path)
  }

  @Test(arguments: [
    ("a.proto", ["/w/a.proto"]), ("./protos/../a.proto", ["/w/a.proto"]),
    ("/other/g.proto", ["/other/g.proto"]),
    ("protos", ["/w/protos/b.proto", "/w/protos/shop/v1/c.proto", "/w/protos/shop/v2/d.proto"]),
    ("protos/**/*.proto", ["/w/protos/b.proto", "/w/protos/shop/v1/c.proto", "/w/protos/shop/v2/d.proto"]),
    ("protos/shop/v[12]/*.proto", ["/w/protos/shop/v1/c.proto", "/w/protos/shop/v2/d.proto"]),
    ("protos/shop/*/d.proto", ["/w/protos/shop/v2/d.proto"]), ("pro*/?.proto", ["/w/protos/b.proto"]),
    ("**/c.proto", ["/w/protos/shop/v1/c.proto"]), ("/w/protos/.hidden/*", ["/w/protos/.hidden/e.proto"]),
    ("odd[1].proto", ["/w/odd[1].proto"]),
  ])
  func findsFiles(argument: String, paths: [String]) throws {
    #expect(try find(argument) == paths)
  }

  @Test func namesAboveAnArgumentAreNoPatterns() throws {
    let tree = FileTree.memory(["/w/v[12]/r.proto": "", "/w/v1/w.proto": ""])
    let files = SourceFiles(tree: tree, working: "/w/v[12]", roots: [], excluded: [])
    for pattern in ["*.proto", "**/*.proto", "./*.proto"] {
      #expect(try files.find(pattern)?.map(\.path) == ["/w/v[12]/r.proto"])
    }
    #expect(try files.find("../v[12]/*.proto")?.map(\.path) == ["/w/v1/w.proto"])
  }

  @Test func followsLinksToDirectoriesOnce() throws {
    let tree = RevisionFiles.memory(
      ["/w/p/p.proto": "", "/w/c/c.proto": ""],
      links: [
        "/w/p/c": "../c", "/w/p/self": ".", "/w/c/up": "..", "/w/p/gone.proto": "none", "/w/p/out": "../..",
      ])
    var dangling: [String] = []
    let files = SourceFiles(
      tree: tree, working: "/w", roots: [], excluded: [], isDangling: { dangling.append($0) })
    #expect(try files.find("p")?.map(\.path) == ["/w/p/c/c.proto", "/w/p/p.proto"])
    #expect(dangling == ["/w/p/gone.proto", "/w/p/out"])
    #expect(try files.find("p/*/*.proto")?.map(\.path) == ["/w/p/c/c.proto", "/w/p/self/p.proto"])
    #expect(try files.find(".")?.map(\.path) == ["/w/c/c.proto", "/w/p/p.proto"])
  }

  @Test func resolvesLinksOfARevision() throws {
    let tree = RevisionFiles.memory(
      ["/w/x/a.proto": "a", "/w/x/y/b.proto": "b"],
      links: ["/w/l": "x/y/../y", "/w/m/a.proto": "../l/../a.proto", "/w/loop": "loop", "/w/docs": "none"],
      submodules: ["/w/sub"])
    #expect(try tree.read("/w/m/a.proto") == Array("a".utf8) && tree.read("/w/l/b.proto") == Array("b".utf8))
    #expect(tree.isDirectory("/w/l") && tree.isDirectory("/w/m") && tree.status("/w/loop") == nil)
    #expect(Set(try tree.entries("/w").map(\.name)) == ["x", "l", "m", "loop", "sub"])
    #expect(try tree.entries("/w/l").map(\.name) == ["b.proto"])
  }

  @Test func searchesDirectoriesOfImports() throws {
    let roots = [ImportRoot("/w/protos"), ImportRoot("/other", prefix: "virtual/x")]
    #expect(try find("shop/v1/c.proto", roots: roots) == ["/w/protos/shop/v1/c.proto"])
    #expect(try find("virtual/x/g.proto", roots: roots) == ["/other/g.proto"])
    #expect(try find("g.proto", roots: roots) == nil)
  }

  @Test func omitsExcludedDirectories() throws {
    #expect(
      try find("protos", excluded: ["/w/protos/shop/v2"]) == [
        "/w/protos/b.proto", "/w/protos/shop/v1/c.proto",
      ])
  }

  @Test func namesFilesAfterTheDirectory() throws {
    let files = SourceFiles(tree: tree, working: "/w", roots: [], excluded: [])
    #expect(try files.find("protos/shop")?.map(\.base) == ["/w/protos/shop", "/w/protos/shop"])
    #expect(try files.find("protos/shop/v1/c.proto")?.map(\.base) == ["/w"])
    #expect(try files.find("/other/g.proto")?.map(\.base) == ["/other"])
  }

  @Test(arguments: [
    ("empty", "a directory without .proto files"), ("none/*.proto", "matches no .proto file"),
    ("protos/*.txt", "matches no .proto file"),
  ])
  func reportsWhatHasNoFiles(argument: String, why: String) {
    let failure = #expect(throws: Failure.self) { try find(argument) }
    #expect(failure?.message?.why == why)
  }

  @Test func findsNothing() throws {
    #expect(try find("none.proto") == nil)
  }

  @Test(arguments: [
    ("protos", [ImportRoot("/w/protos")]), ("/x", [ImportRoot("/x")]),
    ("a:b", [ImportRoot("/w/a"), ImportRoot("/w/b")]),
    ("github.com/acme/shop=protos", [ImportRoot("/w/protos", prefix: "github.com/acme/shop")]),
    ("x/=protos", [ImportRoot("/w/protos", prefix: "x")]), ("=protos", [ImportRoot("/w/protos")]),
  ])
  func readsDirectoriesOfImports(value: String, roots: [ImportRoot]) {
    #expect(ImportRoot.parse(value, in: "/w", isDirectory: tree.isDirectory) == roots)
  }

  @Test func directoryMayHaveAnEqualsSignInItsName() {
    #expect(ImportRoot.parse("a=b", in: "/w") { $0 == "/w/a=b" } == [ImportRoot("/w/a=b")])
  }
}
