import CommandSupport
import Glibc
import Testing

@testable import System

struct DirectoryTests {
  /// With AddressSanitizer, this also shows that nothing is read behind the last entry of a full buffer.
  @Test func listsEntriesWithNamesOfAllLengths() throws {
    let folder = try #require(TemporaryDirectory())
    var names: [String] = []
    for length in 1...255 {
      for letter in ["a", "b", "c", "d"] { names.append(String(repeating: letter, count: length)) }
    }
    for name in names { folder.write(name, []) }
    folder.makeDirectory(".hidden")
    let entries = Directory.entries(in: folder.path)
    #expect(entries.map(\.name).sorted() == (names + [".hidden"]).sorted())
    #expect(entries.filter(\.mayBeDirectory).map(\.name) == [".hidden"])
    #expect(Directory.entries(in: folder.path, limit: 10).count == 10)
    #expect(Directory.entries(in: folder.path, limit: 0).isEmpty)
  }

  @Test func findsRegularFilesOnly() throws {
    let folder = try #require(TemporaryDirectory())
    for name in ["b.txt", "a.txt", "c.md"] { folder.write(name, []) }
    mkfifo("\(folder.path)/pipe.txt", 0o600)
    #expect(
      Directory.files(below: folder.path, suffix: ".txt", limit: 10)
        == ["\(folder.path)/a.txt", "\(folder.path)/b.txt"])
  }

  @Test func missingDirectoryHasNoEntries() throws {
    let folder = try #require(TemporaryDirectory())
    #expect(Directory.entries(in: "\(folder.path)/missing").isEmpty)
  }
}
