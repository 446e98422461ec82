import RPCurlBase
import RPCurlCommandSupport
import Testing

@testable import RPCurlPlatform

struct SharedFileTests {
  private let directory = TemporaryDirectory()

  private func folder() throws -> TemporaryDirectory { try #require(directory) }
  private func path() throws -> String { "\(try folder().path)/file" }

  private func content(_ path: String) throws -> String {
    String(decoding: try FileContents.read(path), as: UTF8.self)
  }

  /// Adds to a file.
  private static func add(
    _ text: String, to file: SharedFile, patience: Duration = FileLock.patience
  ) throws(SystemError) {
    try file.update(patience: patience) { content throws(SystemError) in
      try content.bytes(limitBytes: 1 << 20) + Array(text.utf8)
    }
  }

  /// Each thread opens the file, as a process does. The first one creates it.
  @Test(arguments: [true, false]) func keepsTheChangesOfManyThreads(isLink: Bool) throws {
    let (target, link) = (try path(), "\(try folder().path)/link")
    #expect(!isLink || symlink("file", link) == 0)
    let path = isLink ? link : target
    let waits = (0..<8).map { number in
      startThread {
        let file = SharedFile(path, isPrivate: true)
        for count in 0..<50 {
          let line = "\(number).\(count)\n"
          do { try Self.add(line, to: file, patience: .seconds(3600)) } catch { Issue.record(error) }
        }
      }
    }
    for wait in waits { wait() }
    let lines = try content(target).split(separator: "\n").map(String.init)
    #expect(Set(lines) == Set((0..<8).flatMap { number in (0..<50).map { "\(number).\($0)" } }))
    #expect(lines.count == 400)
    #expect(try folder().names == (isLink ? ["file", "link"] : ["file"]))
    #expect(!isLink || FileContents.target(ofLink: link) == "file")
  }

  @Test func keepsAFileWithoutNewContent() throws {
    let path = try folder().write("file", "a".utf8, mode: 0o400)
    var before = stat()
    #expect(stat(path, &before) == 0)
    for name in [path, "\(path).new"] { try SharedFile(name, isPrivate: false).update { _ in nil } }
    var after = stat()
    #expect(stat(path, &after) == 0 && after.st_ino == before.st_ino)
    #expect(try folder().names == ["file"])
  }

  @Test func readersFindWholeContents() throws {
    let path = try path()
    let isDone = Locked(false)
    let wait = startThread {
      let file = SharedFile(path, isPrivate: true)
      for number in 0..<300 {
        try? file.update { _ in Array(repeating: UInt8(truncatingIfNeeded: number), count: 50_000) }
      }
      isDone.withLock { $0 = true }
    }
    var broken = 0
    while !isDone.withLock({ $0 }) {
      guard let content = try? FileContents.read(path) else { continue }
      if content.count != 50_000 || content.contains(where: { $0 != content[0] }) { broken += 1 }
    }
    wait()
    #expect(broken == 0)
  }

  @Test func failureChangesNothing() throws {
    let path = try path()
    let file = SharedFile(path, isPrivate: true)
    #expect(throws: SystemError.self) { try file.update { _ throws(SystemError) in throw SystemError("no") } }
    #expect(try folder().names == [])
    try Self.add("a", to: file)
    #expect(throws: SystemError.self) { try file.update { _ throws(SystemError) in throw SystemError("no") } }
    #expect(throws: SystemError.self) {
      try file.update { content throws(SystemError) in try content.bytes(limitBytes: 0) }
    }
    #expect(try content(path) == "a")
    #expect(try folder().names == ["file"])
  }

  @Test func noticesThatAnotherProcessHasReplacedTheFile() throws {
    let path = try path()
    let files = (0..<2).map { _ in SharedFile(path, isPrivate: true) }
    func isForeign(_ file: SharedFile) throws -> Bool {
      var isForeign = false
      try file.update { content in
        isForeign = content.isForeign
        return []
      }
      return isForeign
    }
    let found = try [0, 0, 1, 1, 0, 0, 1].map { try isForeign(files[$0]) }
    #expect(found == [false, false, false, false, true, false, true])
    unlink(path)
    #expect(try !isForeign(files[0]))
  }

  /// Of a file that other processes replace again and again.
  @Test func endsWhenTheFileWasReplacedForTooLong() throws {
    let path = try path()
    let file = SharedFile(path, isPrivate: true)
    var count = 0
    let problem = #expect(throws: SystemError.self) {
      try file.update(patience: .zero) { _ in
        count += 1
        // Another process creates it first.
        if let problem = FileContents.replace(path, with: [UInt8(ascii: "a")]) { Issue.record(problem) }
        return []
      }
    }
    #expect(problem?.reason == "another process holds the file" && count == 1)
    #expect(try content(path) == "a")
  }

  @Test func keepsFileThatAnotherProcessHolds() throws {
    let path = try folder().write("file", Array("a".utf8))
    let other = open(path, O_RDONLY | O_CLOEXEC)
    FileLock.lockForReading(other)
    let file = SharedFile(path, isPrivate: true)
    let problem = #expect(throws: SystemError.self) { try Self.add("b", to: file, patience: .zero) }
    #expect(problem?.reason == "another process holds the file")
    #expect(try content(path) == "a")
    close(other)
    try Self.add("b", to: file, patience: .zero)
    #expect(try content(path) == "ab")
  }

  @Test func writesToAPipe() throws {
    let path = try path()
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    let file = SharedFile(path, isPrivate: true)
    for text in ["a", "b"] { try Self.add(text, to: file) }
    #expect(try FileContents.readPiece(reader, limitBytes: 10) == Array("ab".utf8))
  }
}
