import RPCurlCommandSupport
import RPCurlPlatform
import Testing

@testable import RPCurlEngine

struct ProtoOutlineTests {
  @Test func readsPackageAndImports() {
    let text = """
      // import "not/this.proto";
      syntax = "proto3";
      /* package no; */
      package demo . v1;
      package demo.v1;
      import "a.proto"; import public 'b/c.proto';
      import weak "d.proto";
      option (x) = "import \\"no.proto\\";";
      message M { option (y) = { package: "z" }; string import = 1; }
      import "after.proto";
      """
    let outline = ProtoOutline(Array(text.utf8))
    #expect(outline.package == "demo.v1")
    #expect(outline.imports == ["a.proto", "b/c.proto", "d.proto", "after.proto"])
  }

  @Test(arguments: ["", "import", "import \"", "/*", "package", "{{{", "}", "import \"a\\", "\u{0}\u{ff}\"'"])
  func acceptsAnyText(text: String) {
    let outline = ProtoOutline(Array(text.utf8))
    #expect(outline.imports.isEmpty && outline.package.isEmpty)
  }
}

struct ImportRootsTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path }

  init() throws {
    directory = try #require(TemporaryDirectory())
    for name in ["protos", "protos/api", "protos/api/v1", "other", "other/x"] {
      directory.makeDirectory(name)
    }
  }

  private func write(_ name: String, package: String = "", imports: [String] = []) -> String {
    let text = "package \(package);\n" + imports.map { "import \"\($0)\";\n" }.joined()
    return directory.write(name, text.utf8)
  }

  @Test func followsPackage() {
    let file = write("protos/api/v1/a.proto", package: "api.v1")
    #expect(ImportRoots(of: [file], in: "/none").directories == ["\(path)/protos"])
  }

  @Test func usesDirectoryOfFileOtherwise() {
    let file = write("protos/api/v1/a.proto", package: "other.v1")
    #expect(ImportRoots(of: [file], in: "/none").directories == ["\(path)/protos/api/v1"])
  }

  @Test func usesWorkingDirectory() {
    let file = write("protos/own.proto", imports: ["a.proto"])
    _ = write("other/a.proto")
    #expect(ImportRoots(of: [file], in: path).directories == [path])
    #expect(ImportRoots(of: [file], in: "\(path)/other").directories == ["\(path)/other", "\(path)/protos"])
  }

  @Test func followsImportsOfImports() {
    let file = write("protos/a.proto", imports: ["other/b.proto", "none.proto", "google/protobuf/any.proto"])
    _ = write("other/b.proto", imports: ["x/c.proto"])
    _ = write("other/x/c.proto", imports: ["other/b.proto", "../escape.proto"])
    let roots = ImportRoots(of: [file], in: "/none")
    #expect(roots.directories == ["\(path)/other", path])
    #expect(roots.missing.map(\.name).sorted() == ["../escape.proto", "none.proto"])
    #expect(roots.missing.first { $0.name == "none.proto" }?.importer == file)
  }

  @Test func prefersDirectoriesOfWorkspace() {
    let file = write("protos/api/v1/a.proto", package: "api.v1", imports: ["x/c.proto"])
    _ = write("other/x/c.proto")
    let roots = ImportRoots(of: [file], in: "/none", after: ["\(path)/other", "\(path)/protos"])
    #expect(roots.directories == ["\(path)/other", "\(path)/protos"])
    #expect(roots.missing.isEmpty)
  }

  @Test func ordersInnerDirectoriesFirst() {
    let file = write("protos/api/a.proto", imports: ["protos/b.proto", "c.proto"])
    _ = write("protos/b.proto")
    _ = write("protos/api/c.proto")
    #expect(ImportRoots(of: [file], in: "/none").directories == ["\(path)/protos/api", path])
  }

  @Test func namesFilesAsImportsDo() {
    let names = ["a", "b"].map { "protos/api/v1/\($0).proto" }
    let files = [write(names[0], package: "api.v1", imports: [names[1]]), write(names[1], package: "api.v1")]
    #expect(ImportRoots(of: files, in: "/none").directories == [path])
    // An import that uses the package's directory keeps it.
    _ = write("protos/api/v1/b.proto", package: "api.v1", imports: ["api/v1/a.proto"])
    #expect(ImportRoots(of: files, in: "/none").directories == ["\(path)/protos", path])
  }

  @Test func doesNotReadPipes() {
    let file = write("protos/a.proto", imports: ["pipe.proto"])
    mkfifo("\(path)/protos/pipe.proto", 0o600)
    #expect(ImportRoots(of: [file], in: "/none").missing.map(\.name) == ["pipe.proto"])
  }

  @Test func makesPathsAbsolute() {
    #expect(DirectoryPath.absolute("a/./b/../c", in: "/x/y") == "/x/y/a/c")
    #expect(DirectoryPath.absolute("../../../../z", in: "/x") == "/z")
    #expect(DirectoryPath.absolute("/", in: "/x") == "/")
    #expect(DirectoryPath.shown("/x/y/z", in: "/x/y") == "z")
    #expect(DirectoryPath.shown("/x/yz", in: "/x/y") == "/x/yz")
    #expect(DirectoryPath.ancestors("/a/b") == ["/a/b", "/a", "/"])
  }
}
