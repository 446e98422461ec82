import RPCurlBase
import RPCurlCommandSupport
import Testing

@testable import RPCurlPlatform

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
      try Directory.files(below: folder.path, suffix: ".txt", limit: 10)
        == ["\(folder.path)/a.txt", "\(folder.path)/b.txt"])
  }

  @Test func reportsWhatCannotBeListed() throws {
    let folder = try #require(TemporaryDirectory())
    func problem() -> String? {
      do throws(SystemError) {
        _ = try Directory.files(below: folder.path, suffix: ".txt", limit: 10)
        return nil
      } catch {
        return "\((error.path ?? "").dropFirst(folder.path.utf8.count)): \(error.reason)"
      }
    }
    // A name of Latin-1 that no file is asked for.
    let other: [CChar] = "\(folder.path)/".utf8CString.dropLast() + [CChar(bitPattern: 0xFF), 0]
    try #require(mkfifo(other, 0o600) == 0)
    #expect(problem() == nil)
    unlink(other)
    let name: [CChar] = other.dropLast() + ".txt".utf8CString
    try #require(mkfifo(name, 0o600) == 0)
    #expect(problem() == "/\u{FFFD}.txt: the name is not UTF-8")
    unlink(name)
    let path = Array(repeating: "a", count: 65)
    for depth in 1...64 { folder.makeDirectory(path[..<depth].joined(separator: "/")) }
    #expect(problem() == nil)
    folder.makeDirectory(path.joined(separator: "/"))
    #expect(
      problem() == "/\(path.joined(separator: "/")): more than 64 directories within each other")
  }

  @Test func missingDirectoryHasNoEntries() throws {
    let folder = try #require(TemporaryDirectory())
    #expect(Directory.entries(in: "\(folder.path)/missing").isEmpty)
  }
}
