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
