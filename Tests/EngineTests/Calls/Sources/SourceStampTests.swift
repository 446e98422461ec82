import RPCurlBase
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

struct SourceStampTests {
  private let directory = TemporaryDirectory()
  private let key = Array("arguments".utf8)
  private let setKey = Array("set".utf8)

  private func path(_ name: String) throws -> String { "\(try #require(directory).path)/\(name)" }

  private func cache() throws -> CacheDirectory { CacheDirectory(try path("cache"), limitBytes: 1 << 20) }

  private func write(_ name: String, _ text: String) throws {
    Directory.make(try path(String(name[..<(name.lastIndex(of: "/") ?? name.startIndex)])))
    #expect(FileContents.replace(try path(name), with: Array(text.utf8)) == nil)
  }

  /// Locates sources in `own`, which import one of `other`, and stores the stamp as if they were old, or of now.
  private func run(_ argument: String = "own", isOld: Bool = true) throws {
    if !DirectoryPath.exists(try path("own/a.proto")) {
      try write("own/a.proto", "import \"b.proto\";")
      try write("other/b.proto", "")
      try write("first/c.proto", "")
    }
    let start = isOld ? (time(nil) + 60) * 1_000_000_000 : nil
    let stamp = SourceStamp(try cache(), key: key, start: start)
    let tree = FileTree.system(stamp)
    let roots = [ImportRoot(try path("first")), ImportRoot(try path("other"))]
    let search = SourceFiles(tree: tree, working: try path(""), roots: roots, excluded: [])
    let files = try #require(try search.find(try path(argument)))
    let locator = try SourceLocator(
      files, roots: roots, in: try path("own"), SourceCache(tree), BuiltInFiles())
    try cache().store([1, 2, 3], for: setKey)
    try stamp.store(setKey, Dictionary(uniqueKeysWithValues: locator.names.map { ($0, "own/\($0)") }))
  }

  private func load() throws -> [UInt8]? {
    try SourceStamp(cache(), key: key).load().map { Array($0.set.bytes) }
  }

  @Test func setOfUnchangedSources() throws {
    #expect(try load() == nil)
    try run()
    let found = try #require(try SourceStamp(cache(), key: key).load())
    #expect(Array(found.set.bytes) == [1, 2, 3] && found.paths == ["a.proto": "own/a.proto"])
    #expect(SourceStamp(try cache(), key: key + [0]).load() == nil)
  }

  @Test(arguments: [
    "echo 'message M {}' >> own/a.proto", "echo 'message M {}' >> other/b.proto",
    // The same size, and the same time of the content.
    "cp -p own/a.proto t; tr b c < t > own/a.proto; touch -r t own/a.proto",
    "cp -p own/a.proto t; mv t own/a.proto", "touch own/a.proto", "touch other/b.proto", "rm own/a.proto",
    "rm other/b.proto", "touch own/n.proto", "mkdir own/folder", "touch first/b.proto",
    "ln -s ../other/b.proto first/b.proto", "rm -r other", "mv first old; cp -r other first",
    "cp -r own new; mv own old; ln -s new own", "rm -r own; mkfifo own",
  ])
  func changeIsNoticed(_ change: String) throws {
    try run()
    #expect(try load() != nil)
    let done = try ChildProcess.run(["sh", "-c", "cd '\(try path(""))' && \(change)"])
    #expect(done.hasSucceeded)
    #expect(try load() == nil)
  }

  @Test(arguments: ["touch other/n.proto", "touch n", "touch cache/n", "rmdir own/.hidden 2> n; true"])
  func changeOfNothingThatWasSeen(_ change: String) throws {
    try run()
    #expect(try ChildProcess.run(["sh", "-c", "cd '\(try path(""))' && \(change)"]).hasSucceeded)
    #expect(try load() == [1, 2, 3])
  }

  /// What changes in the same second may have the same times.
  @Test func newSourcesHaveNone() throws {
    try run(isOld: false)
    #expect(try load() == nil)
  }

  @Test func pipeHasNone() throws {
    try write("other/b.proto", "")
    #expect(mkfifo(try path("own.proto"), 0o600) == 0)
    let stamp = SourceStamp(try cache(), key: key, start: (time(nil) + 60) * 1_000_000_000)
    #expect(FileTree.system(stamp).status(try path("own.proto"))?.kind == .stream)
    try cache().store([1], for: setKey)
    try stamp.store(setKey, [:])
    #expect(try load() == nil)
  }

  @Test func setMustBeTheSame() throws {
    try run()
    try cache().store([1, 2, 3], for: setKey)
    #expect(try load() == nil)
    try run()
    #expect(try load() == [1, 2, 3])
    unlink(try cache().path(setKey))
    #expect(try load() == nil)
  }

  @Test func brokenStampIsAbsent() throws {
    try run()
    let name = Array("stamp\n".utf8) + key
    let whole = try #require(try cache().load(name))
    let file = try FileContents.read(try cache().path(name))
    for index in file.indices {
      var damaged = file
      damaged[index] ^= 1
      #expect(FileContents.replace(try cache().path(name), with: damaged) == nil)
      #expect(try load() == nil)
    }
    // Written by another version: nothing is read beyond the end.
    let names = Array("\u{5}a.proto\0own/a.proto\0".utf8)
    for length in 0..<(whole.count - names.count) {
      try cache().store(Array(whole[..<length]), for: name)
      #expect(try load() == nil, "length \(length)")
      try cache().store(Array(whole[..<length]) + [9], for: name)
      #expect(try load() == nil, "length \(length)")
    }
    try cache().store(whole, for: name)
    #expect(try load() != nil)
  }
}
