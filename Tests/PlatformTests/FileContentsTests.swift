import RPCurlBase
import RPCurlCommandSupport
import Testing

@testable import RPCurlPlatform

struct FileContentsTests {
  private let directory = TemporaryDirectory()

  private func folder() throws -> TemporaryDirectory { try #require(directory) }

  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
  func readsWholeFile(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let file = try folder().write("file", bytes)
    #expect(try FileContents.read(file) == bytes)
    #expect(try FileContents.read(file, limitBytes: size) == bytes)
  }

  @Test func reportsMissingFile() throws {
    let file = try "\(folder().path)/none"
    let problem = #expect(throws: SystemError.self) { try FileContents.read(file) }
    #expect(problem?.reason == "No such file or directory")
    let limited = #expect(throws: SystemError.self) { try FileContents.read(file, limitBytes: 1) }
    #expect(limited?.reason == "No such file or directory")
    #expect(limited?.isMissing == true)
    let unreadable = #expect(throws: SystemError.self) { try FileContents.read("/", limitBytes: 1) }
    #expect(unreadable?.isMissing == false)
  }

  @Test func rejectsFileOverLimit() throws {
    let file = try folder().write("file", [])
    truncate(file, off_t(1 << 20))
    #expect(try FileContents.read(file, limitBytes: 1 << 20).count == 1 << 20)
    truncate(file, off_t(1 << 20) + 1)
    let problem = #expect(throws: SystemError.self) {
      try FileContents.read(file, limitBytes: 1 << 20)
    }
    #expect(problem?.reason == "the file is larger than 1 MiB, the limit for such a file")
  }

  @Test func readsPipeUntilItsWriterCloses() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let text = Array("from a pipe".utf8)
    #expect(FileContents.write(text, to: ends[1]) == nil)
    close(ends[1])
    defer { close(ends[0]) }
    #expect(try FileContents.read("/proc/self/fd/\(ends[0])", limitBytes: 100) == text)
  }

  @Test func readsPiecesUpToLimit() throws {
    let descriptor = try FileContents.open(folder().write("file", Array("abcde".utf8)))
    defer { FileContents.close(descriptor) }
    #expect(try FileContents.readPiece(descriptor, limitBytes: 3) == Array("abc".utf8))
    #expect(try FileContents.readPiece(descriptor, limitBytes: 3) == Array("de".utf8))
    #expect(try FileContents.readPiece(descriptor, limitBytes: 3).isEmpty)
  }

  @Test func reportsFullDisk() throws {
    let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    #expect(FileContents.write([1], to: descriptor)?.reason == "No space left on device")
  }

  // MARK: Replacing

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test(arguments: [
    (0o640 as mode_t, false, 0o640 as mode_t), (0o640, true, 0o600), (0o755, false, 0o755),
  ])
  func replacesFileAndKeepsItsModeUnlessPrivate(before: mode_t, isPrivate: Bool, after: mode_t) throws {
    let folder = try folder()
    let file = folder.write("file", Array("old".utf8), mode: before)
    #expect(FileContents.replace(file, with: Array("new".utf8), isPrivate: isPrivate) == nil)
    #expect(try FileContents.read(file) == Array("new".utf8))
    #expect(mode(file) == after)
    #expect(folder.names == ["file"])
  }

  @Test func createsPrivateFile() throws {
    let file = try "\(folder().path)/new"
    #expect(FileContents.replace(file, with: [1, 2]) == nil)
    #expect(try FileContents.read(file) == [1, 2])
    #expect(mode(file) == 0o600)
  }

  @Test func writesThroughSymbolicLink() throws {
    let folder = try folder()
    let file = folder.write("file", [5])
    symlink("file", "\(folder.path)/link")
    let before = try FileContents.open(file)
    defer { close(before) }
    #expect(FileContents.replace("\(folder.path)/link", with: [7]) == nil)
    #expect(try FileContents.read(file) == [7])
    // What opened it before reads the old content until its end.
    #expect(try FileContents.readPiece(before, limitBytes: 2) == [5])
    #expect(FileContents.target(ofLink: "\(folder.path)/link") == "file")
  }

  /// Two processes would overwrite the bytes of each other.
  @Test func opensNoFileThatAnotherProcessWrites() throws {
    let path = try folder().write("file", [1])
    let first = try FileContents.openForWriting(path, mode: 0o600, waitLimit: nil)
    #expect(FileContents.write([2], to: first) == nil)
    let problem = #expect(throws: SystemError.self) {
      try FileContents.openForWriting(path, mode: 0o600, waitLimit: nil)
    }
    #expect(problem?.reason == "another process writes the file")
    #expect(try FileContents.read(path) == [2])
    close(first)
    close(try FileContents.openForWriting(path, mode: 0o600, waitLimit: nil))
    #expect(try FileContents.read(path) == [])
  }

  /// As a child process has one until it starts another program.
  @Test func copyOfTheDescriptorKeepsNoLock() throws {
    let path = try folder().write("file", [1])
    let first = try FileContents.openForWriting(path, mode: 0o600, waitLimit: nil)
    let copy = dup(first)
    defer { close(copy) }
    #expect(FileContents.closeWriter(first) == nil)
    let second = try FileContents.openForWriting(path, mode: 0o600, waitLimit: nil)
    #expect(FileContents.closeWriter(second) == nil)
  }

  @Test func findsFileThatDanglingLinkCreates() throws {
    let folder = try folder()
    folder.makeDirectory("inner")
    symlink("inner/link", "\(folder.path)/first")
    symlink("../file", "\(folder.path)/inner/link")
    symlink("\(folder.path)/other", "\(folder.path)/absolute")
    let found = ["first", "absolute", "new"].map { FileContents.createdPath("\(folder.path)/\($0)") }
    #expect(found == ["inner/../file", "other", "new"].map { "\(folder.path)/\($0)" })
  }

  @Test func pathsOfAFileHaveOneIdentity() throws {
    let folder = try folder()
    folder.makeDirectory("inner")
    symlink("inner", "\(folder.path)/link")
    symlink("inner/file", "\(folder.path)/named")
    let paths = ["inner/file", "link/file", "named", "inner/../inner/file"].map { "\(folder.path)/\($0)" }
    let before = Set(paths.map(FileContents.identity))
    folder.write("inner/file", [])
    #expect(before == [FileContents.identity(of: paths[0])])
    #expect(Set(paths.map(FileContents.identity)) == before)
    #expect(!before.contains(FileContents.identity(of: "\(folder.path)/link/other\n")))
    #expect(!FileContents.identity(of: "a\nb").contains("\n"))
  }

  @Test func reportsMissingDirectory() throws {
    let file = try "\(folder().path)/none/file"
    #expect(FileContents.replace(file, with: [1])?.reason == "No such file or directory")
  }

  @Test func returnsNilForPathThatIsNotLink() throws {
    let folder = try folder()
    #expect(FileContents.target(ofLink: folder.write("file", [])) == nil)
    #expect(FileContents.target(ofLink: "\(folder.path)/none") == nil)
  }
}

struct PipeWaitTests {
  private let directory = TemporaryDirectory()

  private func fifo() throws -> String {
    let path = try "\(#require(directory).path)/fifo"
    try #require(mkfifo(path, 0o600) == 0)
    return path
  }

  @Test func stopsWaitingForPipeAtLimit() throws {
    let fifo = try fifo()
    // Keeps the pipe open without writing.
    let writer = open(fifo, O_RDWR | O_CLOEXEC)
    defer { close(writer) }
    let problem = #expect(throws: SystemError.self) {
      try FileContents.read(fifo, limitBytes: 10, waitLimit: .milliseconds(1))
    }
    #expect(problem?.reason == "no data came within --max-time")
  }

  @Test(arguments: [false, true])
  func stopsWaitingForReaderAtLimit(isAppending: Bool) throws {
    let fifo = try fifo()
    let problem = #expect(throws: SystemError.self) {
      try FileContents.openForWriting(
        fifo, mode: 0o600, isAppending: isAppending, waitLimit: .milliseconds(1))
    }
    #expect(problem?.reason == "the pipe got no reader within --max-time")
    #expect(
      FileContents.replace(fifo, with: [1], waitLimit: .milliseconds(1))?.reason
        == "the pipe got no reader within --max-time")
  }

  @Test func writesToReaderThatComesLater() throws {
    let fifo = try fifo()
    let reader = try ChildProcess.start(
      ["sh", "-c", "read -r line < \"$0\" && [ \"$line\" = late ]", fifo], hasInput: false, giving: []
    ).get()
    #expect(FileContents.replace(fifo, with: Array("late\n".utf8)) == nil)
    #expect(ChildProcess.wait(for: reader) == 0)
  }

  @Test func stopsWaitingForReaderThatDoesNotReadAtLimit() throws {
    let fifo = try fifo()
    let reader = open(fifo, O_RDWR | O_CLOEXEC)
    defer { close(reader) }
    let bytes = [UInt8](repeating: 0, count: 1 << 20)
    #expect(
      FileContents.replace(fifo, with: bytes, waitLimit: .milliseconds(1))?.reason
        == "its reader took longer than --max-time")
  }
}
