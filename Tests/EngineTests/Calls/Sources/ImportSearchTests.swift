import RPCurlCommandSupport
import Testing

@testable import RPCurlEngine

struct ImportSearchTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path }

  init() throws {
    directory = try #require(TemporaryDirectory())
    for name in ["a", "a/b", "third", "third/google", ".hidden", ".hidden/google"] {
      directory.makeDirectory(name)
    }
  }

  @Test func searchesBelowAndAbove() {
    directory.write("third/google/x.proto", [])
    directory.write("a/y.proto", [])
    directory.write(".hidden/google/z.proto", [])
    let search = ImportSearch(
      for: ["google/x.proto", "y.proto", "google/z.proto", "../a/y.proto"], from: ["\(path)/a"])
    #expect(search.found == ["google/x.proto": "\(path)/third", "y.proto": "\(path)/a"])
  }

  @Test func staysInRepository() {
    directory.write("third/google/x.proto", [])
    directory.makeDirectory("a/.git")
    #expect(ImportSearch(for: ["google/x.proto"], from: ["\(path)/a/b"]).found.isEmpty)
  }

  @Test func readsLimitedNumberOfEntries() {
    for index in 0..<50 { directory.makeDirectory("a/b/\(index)") }
    // The limit is reached within `b`, in any order of its entries, so that the directories in it are not read.
    directory.makeDirectory("a/b/49/c")
    directory.write("a/b/49/c/x.proto", [])
    #expect(ImportSearch(for: ["x.proto"], from: ["\(path)/a/b"], entryLimit: 10).found.isEmpty)
    #expect(ImportSearch(for: ["x.proto"], from: ["\(path)/a/b"]).found == ["x.proto": "\(path)/a/b/49/c"])
  }
}
