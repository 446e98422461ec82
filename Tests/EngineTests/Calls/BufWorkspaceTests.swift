import RPCurlCommandSupport
import Testing

@testable import RPCurlEngine

struct BufFileTests {
  @Test(
    arguments: [
      ("version: v2\n", "v2", [], false),
      (
        "version: v2\nmodules:\n  - path: proto\n    name: buf.build/acme/a\n  - path: \"vendor\"\n", "v2",
        ["proto", "vendor"], false
      ),
      (
        "version: v2\nmodules:\n- name: buf.build/a/b\n- name: x\n  path: y # comment\n", "v2", [".", "y"],
        false
      ),
      (
        "version: v2\nmodules:\n  - path: a\n    lint:\n      ignore:\n        - a/b\n    excludes: [a/c]\ndeps:\n  - buf.build/x/y\n",
        "v2", ["a"], true
      ),
      ("version: v1\ndeps: []\nlint:\n  use:\n    - DEFAULT\n", "v1", [], false),
      ("version: v1\ndeps:\n- buf.build/x/y:v1\n", "v1", [], true),
      ("# head\n---\nversion: v1\ndirectories:\n  - a\n  - 'b'\r\n", "v1", ["a", "b"], false),
      ("version: v1\ndirectories: [a, \"b\"]\n", "v1", ["a", "b"], false),
      (
        "version: v1beta1\nbuild:\n  roots:\n    - proto\n  excludes:\n    - proto/x\n", "v1beta1", ["proto"],
        false
      ),
      ("", "", [], false), (":\n- :\n  -\n[\n- - -\n\t x: y", "", [], false),
    ] as [(String, String, [String], Bool)])
  func readsDirectoriesAndDependencies(
    text: String, version: String, directories: [String], hasDependencies: Bool
  ) {
    let file = BufFile(text)
    #expect(file.version == version)
    #expect(file.directories == directories)
    #expect(file.hasDependencies == hasDependencies)
  }
}

struct BufWorkspaceTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path }

  init() throws {
    directory = try #require(TemporaryDirectory())
    for name in ["proto", "proto/api", "vendor", "other"] { directory.makeDirectory(name) }
  }

  private func write(_ name: String, _ text: String) { directory.write(name, text.utf8) }

  @Test func findsModulesOfVersion2() throws {
    write(
      "buf.yaml",
      "version: v2\nmodules:\n  - path: proto\n  - path: vendor\n  - path: missing\ndeps: [buf.build/a/b]\n")
    let workspace = try #require(BufWorkspace.find(from: "\(path)/proto/api"))
    #expect(workspace.directory == path && workspace.file == "\(path)/buf.yaml")
    #expect(workspace.roots == ["\(path)/proto", "\(path)/vendor"])
    #expect(workspace.hasDependencies)
  }

  @Test func findsModuleOfVersion1() throws {
    write("proto/buf.yaml", "version: v1\n")
    #expect(BufWorkspace.find(from: "\(path)/proto/api")?.roots == ["\(path)/proto"])
    #expect(BufWorkspace.find(from: "\(path)/other") == nil)
  }

  @Test func findsWorkspaceOfModule() throws {
    write("buf.work.yaml", "version: v1\ndirectories:\n  - proto\n  - vendor\n")
    write("proto/buf.yaml", "version: v1\n")
    write("vendor/buf.yaml", "version: v1\ndeps:\n  - buf.build/a/b\n")
    write("other/buf.yaml", "version: v1\n")
    let workspace = try #require(BufWorkspace.find(from: "\(path)/proto/api"))
    #expect(workspace.directory == path && workspace.file == "\(path)/buf.work.yaml")
    #expect(workspace.roots == ["\(path)/proto", "\(path)/vendor"])
    #expect(workspace.hasDependencies)
    // A module outside of the workspace.
    #expect(BufWorkspace.find(from: "\(path)/other")?.roots == ["\(path)/other"])
  }

  @Test func derivesDirectoriesOfDirectory() throws {
    write("buf.yaml", "version: v2\nmodules:\n  - path: proto\n  - path: vendor\n")
    write("proto/api/a.proto", "import \"b.proto\";\n")
    write("vendor/b.proto", "package b;\n")
    let files = ["proto/api/a.proto", "vendor/b.proto"].map { "\(path)/\($0)" }
    #expect(
      try ProtoSources(files, in: path, fetchesModules: true).importPaths == [
        "\(path)/proto", "\(path)/vendor",
      ])
  }

  @Test func readsRootsOfOldModules() throws {
    write("buf.yaml", "version: v1beta1\nbuild:\n  roots: [proto, vendor]\n")
    #expect(BufWorkspace.find(from: path)?.roots == ["\(path)/proto", "\(path)/vendor"])
  }
}
