import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct BufFileTests {
  private struct Case {
    let text: String
    let version: String
    var modules: [BufFile.Module] = []
    var dependencies: [BufFile.Dependency] = []
  }

  private static let cases = [
    Case(text: "", version: ""), Case(text: "# nothing\n", version: ""),
    Case(text: "version: v2\n", version: "v2"),
    Case(
      text: "version: v2\nmodules:\n  - path: proto\n    name: buf.build/acme/a\n  - path: \"vendor\"\n",
      version: "v2",
      modules: [.init(path: "proto"), .init(path: "vendor")]),
    Case(
      text:
        "version: v2\nmodules:\n- name: buf.build/a/b\n- name: x\n  path: y # comment\n  excludes: [y/c]\n",
      version: "v2", modules: [.init(path: "."), .init(path: "y", excludes: ["y/c"])]),
    Case(
      text: "{version: v2, modules: [{path: a}, {path: 'b'}], deps: [buf.build/x/y:v1, \"buf.build/x/z\"]}",
      version: "v2",
      modules: [.init(path: "a"), .init(path: "b")],
      dependencies: [.init(name: "buf.build/x/y"), .init(name: "buf.build/x/z")]),
    Case(text: "version: v1\ndeps: []\nlint:\n  use:\n    - DEFAULT\n", version: "v1"),
    Case(text: "version: v1\ndeps:\nbuild: ~\n", version: "v1"),
    Case(
      text: "# head\n---\nversion: v1\r\ndirectories:\n  - a\n  - 'b'\r\n", version: "v1",
      modules: [.init(path: "a"), .init(path: "b")]),
    Case(
      text: "version: v1beta1\nbuild:\n  roots:\n    - proto\n  excludes:\n    - x\n", version: "v1beta1",
      modules: [.init(path: "proto", excludes: ["x"])]),
    Case(
      text: "version: v2\nmodules:\n  - &m {path: a}\n  - *m\n", version: "v2",
      modules: [.init(path: "a"), .init(path: "a")]),
    Case(
      text:
        "version: v1\ndeps:\n  - remote: buf.build\n    owner: acme\n    repository: types\n    commit: abc\n",
      version: "v1", dependencies: [.init(name: "buf.build/acme/types", commit: "abc")]),
    Case(
      text: "version: v2\ndeps:\n  - name: buf.build/acme/types\n    commit: a-b\n    digest: b5:00\n",
      version: "v2",
      dependencies: [.init(name: "buf.build/acme/types", commit: "a-b")]),
  ]

  @Test(arguments: cases.indices)
  func readsModulesAndDependencies(index: Int) throws {
    let file = try BufFile(Array(Self.cases[index].text.utf8))
    #expect(file.version == Self.cases[index].version)
    #expect(file.modules == Self.cases[index].modules)
    #expect(file.dependencies == Self.cases[index].dependencies)
  }

  @Test(arguments: [
    ("version: v3\n", 1, "version v3 is not supported; v1beta1, v1 and v2 are"),
    ("- a\n", 1, "expected keys and values"),
    ("version: v2\nmodules: proto\n", 2, "expected a list"),
    ("version: v2\nmodules:\n  - proto\n", 3, "expected keys and values"),
    ("version: v2\nversion: v2\n", 2, "the key version occurs twice"),
    ("version: [v2]\n", 1, "expected a text"), ("breaking:\n  use: FILE\n", 2, "expected a list"),
    ("breaking:\n  ignore_only: [a]\n", 2, "expected keys and values"),
    ("breaking:\n  ignore_unstable_packages: True\n", 2, "expected true or false"),
    ("breaking:\n  ignore_unstable_packages: yes\n", 2, "expected true or false"),
    ("breaking:\n  use: [FILE]\n  ignores: a\n", 3, "breaking has no key ignores"),
    ("breaking: [FILE]\n", 1, "expected keys and values"),
    ("breaking:\n  ignore: [a, \"\"]\n", 2, "expected a text that is not empty"),
    ("breaking:\n  ignore_only:\n    RPC_NO_DELETE: ['']\n", 3, "expected a text that is not empty"),
    ("version: v1\ndeps:\n  - owner: a\n", 3, "a module without remote"), ("a: *b\n", 1, "an unknown anchor"),
    ("version: v1\n---\nversion: v2\n", 2, "a second document"),
    ("a: \"b\n", 2, "found unexpected end of stream"),
    ("a: [\n", 2, "did not find expected node content"),
    ("\t a: b", 1, "found character that cannot start any token"),
  ])
  func reportsWhatItCannotRead(text: String, line: Int, why: String) {
    let problem = #expect(throws: YAMLValue.Problem.self) { try BufFile(Array(text.utf8)) }
    #expect(problem?.line == line)
    #expect(problem?.why == why)
  }

  @Test(arguments: [("true", true), ("false", false), ("", false)])
  func readsWhetherUnstablePackagesAreIgnored(text: String, isIgnored: Bool) throws {
    let file = try BufFile(Array("breaking:\n  use: [WIRE]\n  ignore_unstable_packages: \(text)\n".utf8))
    #expect(file.breaking?.ignoresUnstable == isIgnored)
  }

  @Test func refusesTooManyRulesAndPaths() throws {
    func text(_ count: Int) -> [UInt8] {
      let items = (1..<count).map { "    - a/\($0)\n" }.joined()
      return Array("breaking:\n  use: [WIRE]\n  ignore:\n\(items)".utf8)
    }
    #expect(try BufFile(text(10_000)).breaking?.ignore.count == 9_999)
    let problem = #expect(throws: YAMLValue.Problem.self) { try BufFile(text(10_001)) }
    #expect(problem?.why == "more than 10000 rules and paths")
  }

  @Test func refusesDeepNesting() {
    let problem = #expect(throws: YAMLValue.Problem.self) {
      try YAMLValue.read(Array(String(repeating: "[", count: 200).utf8))
    }
    #expect(problem?.why == "more than 100 levels")
  }
}

struct BufWorkspaceTests {
  private func find(_ directory: String, _ files: [String: String], cache: String? = nil) throws(Failure)
    -> BufWorkspace?
  {
    try BufWorkspace.find(from: directory, cache: cache, .memory(files))
  }

  @Test func findsModulesOfVersion2() throws {
    let files = [
      "/w/buf.yaml":
        "version: v2\nmodules:\n  - path: proto\n    excludes: [proto/old]\n  - path: vendor\n  - path: missing\ndeps: [buf.build/a/b]\n",
      "/w/proto/api/a.proto": "", "/w/vendor/b.proto": "",
    ]
    let workspace = try #require(try find("/w/proto/api", files))
    #expect(workspace.directory == "/w" && workspace.file == "/w/buf.yaml")
    #expect(workspace.roots == ["/w/proto", "/w/vendor"] && workspace.excluded == ["/w/proto/old"])
    #expect(workspace.absent == ["buf.build/a/b"])
  }

  @Test func readsTheRulesOfModules() throws {
    let files = [
      "/w/buf.yaml": """
      version: v2
      modules:
        - path: proto
        - path: vendor
          breaking: {ignore: [vendor/x]}
      breaking:
        use: [FILE] # as before
        except: [RPC_NO_DELETE]
        ignore:
        ignore_only:
          FIELD_SAME_NAME:
            - proto/old
        ignore_unstable_packages: true
      """,
      "/w/proto/a.proto": "", "/w/vendor/b.proto": "",
    ]
    let rules = try #require(try find("/w/proto", files)).rules
    #expect(rules.map(\.root) == ["/w/proto", "/w/vendor"] && rules.map(\.prefix) == ["proto", "vendor"])
    let first = rules[0].breaking
    #expect(first.use.map(\.text) == ["FILE"] && first.except.map(\.text) == ["RPC_NO_DELETE"])
    #expect(first.ignore.isEmpty && first.ignoresUnstable)
    let only = try #require(first.ignoreOnly["FIELD_SAME_NAME"]?.first)
    #expect(only.text == "proto/old" && only.line == 12 && only.column == 9)
    #expect(rules[1].breaking.ignore.map(\.text) == ["vendor/x"] && rules[1].breaking.use.isEmpty)
  }

  @Test func rulesOfOlderVersionsHaveNoPrefix() throws {
    let breaking = "breaking:\n  use: [WIRE]\n"
    let files = [
      "/w/buf.work.yaml": "version: v1\ndirectories: [proto, vendor]\n",
      "/w/proto/buf.yaml": "version: v1\n\(breaking)", "/w/vendor/buf.yaml": "version: v1\n",
      "/w/proto/api/a.proto": "", "/o/buf.yaml": "version: v1beta1\nbuild:\n  roots: [x]\n\(breaking)",
      "/o/x/a.proto": "",
    ]
    let rules = try #require(try find("/w/proto/api", files)).rules
    #expect(rules.map(\.root) == ["/w/proto"] && rules.map(\.prefix) == [""])
    #expect(rules[0].file == "/w/proto/buf.yaml")
    #expect(try find("/o/x", files)?.rules.map(\.root) == ["/o/x"])
    #expect(try find("/o/x", files)?.rules.map(\.prefix) == [""])
  }

  @Test func findsModuleOfVersion1() throws {
    let files = ["/w/proto/buf.yaml": "version: v1\n", "/w/proto/api/a.proto": "", "/w/other/a.proto": ""]
    #expect(try find("/w/proto/api", files)?.roots == ["/w/proto"])
    #expect(try find("/w/other", files) == nil)
  }

  @Test func findsWorkspaceOfModule() throws {
    let files = [
      "/w/buf.work.yaml": "version: v1\ndirectories: [proto, vendor]\n", "/w/proto/buf.yaml": "version: v1\n",
      "/w/vendor/buf.yaml": "version: v1\ndeps:\n  - buf.build/a/b\n", "/w/other/buf.yaml": "version: v1\n",
      "/w/proto/api/a.proto": "",
    ]
    let workspace = try #require(try find("/w/proto/api", files))
    #expect(workspace.directory == "/w" && workspace.file == "/w/buf.work.yaml")
    #expect(workspace.roots == ["/w/proto", "/w/vendor"] && workspace.absent == ["buf.build/a/b"])
    // A module outside of the workspace.
    #expect(try find("/w/other", files)?.roots == ["/w/other"])
  }

  @Test func readsRootsOfOldModules() throws {
    let files = [
      "/w/buf.yaml": "version: v1beta1\nbuild:\n  roots: [proto, vendor]\n  excludes: [x]\n",
      "/w/proto/a": "", "/w/vendor/a": "",
    ]
    let workspace = try #require(try find("/w", files))
    #expect(
      workspace.roots == ["/w/proto", "/w/vendor"] && workspace.excluded == ["/w/proto/x", "/w/vendor/x"])
  }

  @Test func usesTheCacheOfBuf() throws {
    let place = "/c/buf/v3/modules/b5/buf.build"
    let files = [
      "/w/buf.yaml":
        "version: v2\ndeps: [buf.build/a/one, buf.build/a/two, buf.build/a/three, buf.build/a/four]\n",
      "/w/buf.lock":
        "version: v2\ndeps:\n  - name: buf.build/a/one\n    commit: 11-22\n  - name: buf.build/a/deep\n    commit: ff\n",
      "\(place)/a/one/1122/module.yaml": "", "\(place)/a/one/3344/module.yaml": "",
      "\(place)/a/two/55/module.yaml": "",
      "\(place)/a/three/66/files/x.proto": "", "\(place)/a/four/1/module.yaml": "",
      "\(place)/a/four/2/module.yaml": "",
      "/c/buf/v3/modules/shake256/buf.build/a/deep/ff/module.yaml": "",
    ]
    let workspace = try #require(try find("/w", files, cache: "/c/buf"))
    #expect(
      workspace.cached == [
        "\(place)/a/one/1122/files", "/c/buf/v3/modules/shake256/buf.build/a/deep/ff/files",
        "\(place)/a/two/55/files",
      ])
    // One is incomplete, and of the other no commit is named.
    #expect(workspace.absent == ["buf.build/a/three", "buf.build/a/four"])
  }

  @Test func doesNotLeaveTheCache() throws {
    let files = [
      "/w/buf.yaml": "version: v2\ndeps: [buf.build/../../x]\n",
      "/w/buf.lock": "version: v2\ndeps:\n  - {name: buf.build/a/b, commit: ../../../../../../x}\n",
      "/x/module.yaml": "",
    ]
    #expect(try find("/w", files, cache: "/c")?.cached == [])
  }

  @Test(arguments: ["../x", "/etc", "a/../.."])
  func refusesModulesOutsideOfTheWorkspace(path: String) {
    let failure = #expect(throws: Failure.self) {
      try find("/w", ["/w/buf.yaml": "version: v2\nmodules: [{path: \(path)}]\n"])
    }
    #expect(failure?.message?.why == "the module \(path) is outside of the directory of the file")
  }

  @Test func namesThePlaceOfAnError() {
    let failure = #expect(throws: Failure.self) {
      try find("/w", ["/w/buf.yaml": "version: v2\nmodules: x\n"])
    }
    #expect(failure?.message?.what == "/w/buf.yaml:2:10")
  }
}
