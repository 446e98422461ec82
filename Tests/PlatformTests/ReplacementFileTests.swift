import RPCurlCommandSupport
import Testing

@testable import RPCurlPlatform

struct ReplacementFileTests {
  private let directory = TemporaryDirectory()

  private func folder() throws -> TemporaryDirectory { try #require(directory) }

  @Test func replacesOnlyWhenComplete() throws {
    let folder = try folder()
    let path = folder.write("file", Array("old".utf8))
    let file = try #require(ReplacementFile(for: path, mode: 0o644))
    #expect(FileContents.write(Array("new".utf8), to: file.descriptor) == nil)
    #expect(try FileContents.read(path) == Array("old".utf8))
    #expect(file.replace())
    #expect(try FileContents.read(path) == Array("new".utf8))
    #expect(folder.names == ["file"])
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o644)
  }

  @Test(arguments: [236, 254, 255])
  func replacesFileWithLongName(length: Int) throws {
    let folder = try folder()
    let name = String(repeating: "é", count: length / 2) + String(repeating: "x", count: length % 2)
    let path = folder.write(name, Array("old".utf8))
    let file = try #require(ReplacementFile(for: path, mode: nil))
    #expect(FileContents.write(Array("new".utf8), to: file.descriptor) == nil)
    #expect(file.replace())
    #expect(try FileContents.read(path) == Array("new".utf8))
    #expect(folder.names == [name])
  }

  @Test func discardLeavesOldFile() throws {
    let folder = try folder()
    let path = folder.write("file", Array("old".utf8))
    let file = try #require(ReplacementFile(for: path, mode: nil))
    #expect(FileContents.write(Array("new".utf8), to: file.descriptor) == nil)
    file.discard()
    #expect(try FileContents.read(path) == Array("old".utf8))
    #expect(folder.names == ["file"])
  }

  @Test func leavesNoFileWhenPathIsDirectory() throws {
    let folder = try folder()
    let path = folder.makeDirectory("inner")
    folder.write("inner/file", [])
    let file = try #require(ReplacementFile(for: path, mode: nil))
    let isReplaced = file.replace()
    let reason = errno
    #expect(!isReplaced)
    #expect(reason == EISDIR || reason == ENOTEMPTY || reason == EEXIST)
    #expect(folder.names == ["inner"])
  }

  @Test func returnsNilWithoutDirectory() throws {
    let path = try "\(folder().path)/none/file"
    let file = ReplacementFile(for: path, mode: nil)
    let reason = errno
    #expect(file == nil)
    #expect(reason == ENOENT)
  }
}
