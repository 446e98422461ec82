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

struct DirectoryPathTests {
  @Test func makesPathsAbsolute() {
    #expect(DirectoryPath.absolute("a/./b/../c", in: "/x/y") == "/x/y/a/c")
    #expect(DirectoryPath.absolute("../../../../z", in: "/x") == "/z")
    #expect(DirectoryPath.absolute("/", in: "/x") == "/")
    #expect(DirectoryPath.shown("/x/y/z", in: "/x/y") == "z")
    #expect(DirectoryPath.shown("/x/yz", in: "/x/y") == "/x/yz")
    #expect(DirectoryPath.ancestors("/a/b") == ["/a/b", "/a", "/"])
  }
}
