import Testing

@testable import RPCurlEngine

@Suite struct SuiteSourcesTests {
  private static let files = [
    "tests/a.rpcurl": """
    source tests/shared.rpcurl
    test a
    rows users.csv name=name
    call Hello @data/hello.json
    expect . golden "a b.json" unordered
    """,
    "tests/b.rpcurl": "test b\ncall Hello {\"name\":\"${file(name.txt)}\"}\nuse mock,file=stubs.json\n",
    "tests/shared.rpcurl": "shared\ncall Hello @shared.json\n",
    "tests/users.csv": "", "data/hello.json": "", "name.txt": "", "stubs.json": "", "shared.json": "",
    "protos/demo.proto": "import \"common/types.proto\";", "protos/common/types.proto": "", "set.binpb": "",
    "other.txt": "",
  ]

  private func sources(options: [String] = []) -> SuiteSources {
    let files = Self.files
    return SuiteSources(
      ["tests/a.rpcurl", "tests/b.rpcurl"], arguments: ["tests"], options: options,
      SuiteSources.Files(
        isFile: { files[$0] != nil },
        isDirectory: { ["tests", "data", "protos", "protos/common"].contains($0) },
        text: { files[$0] },
        protos: { directory in files.keys.filter { $0.hasPrefix("\(directory)/") && $0.hasSuffix(".proto") } }
      ))
  }

  @Test(arguments: [
    ("tests/a.rpcurl", ["tests/a.rpcurl"]), ("tests/users.csv", ["tests/a.rpcurl"]),
    ("data/hello.json", ["tests/a.rpcurl"]),
    ("tests/shared.rpcurl", ["tests/a.rpcurl"]), ("shared.json", ["tests/a.rpcurl"]),
    ("name.txt", ["tests/b.rpcurl"]),
    ("stubs.json", ["tests/b.rpcurl"]), ("other.txt", []), ("set.binpb", []),
  ])
  func findsTheSuitesOfAFile(_ file: String, _ suites: [String]) {
    #expect(sources().suites(of: [file]) == suites)
  }

  @Test(arguments: [
    (["--descriptor-set", "set.binpb"], "set.binpb"), (["--descriptor-set=set.binpb"], "set.binpb"),
    (["-I", "protos", "--proto", "demo.proto"], "protos/common/types.proto"),
    (["-I", "protos", "--proto", "demo.proto"], "protos/demo.proto"), (["--var", "@other.txt"], "other.txt"),
    (["--use", "mock,file=other.txt"], "other.txt"),
  ])
  func filesOfOptionsConcernAllSuites(_ options: [String], _ file: String) {
    #expect(sources(options: options).suites(of: [file]) == ["tests/a.rpcurl", "tests/b.rpcurl"])
    #expect(sources().suites(of: [file]) == [])
  }

  @Test func watchesTheDirectoriesOfFilesAndArguments() {
    #expect(sources().watched == ["tests/", "tests", "data/", ""])
    #expect(
      sources(options: ["-I", "protos"]).watched.isSuperset(of: ["protos", "protos/", "protos/common/"]))
  }

  @Test(arguments: [
    ("tests/a.rpcurl", true), ("demo.proto", true), ("report.xml", false), ("golden.json", false),
  ])
  func distinguishesWhatARunMayWrite(_ file: String, _ namesOthers: Bool) {
    #expect(SuiteSources.namesOthers(file) == namesOthers)
  }
}
