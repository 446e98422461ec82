import RPCurlBase
import RPCurlChain
import RPCurlCommandSupport
import RPCurlPlatform
import Testing

@testable import RPCurlInterceptors

@Suite struct WrittenFileTests {
  private let directory: TemporaryDirectory
  private let services = SystemServices(waitLimit: nil)
  private var path: String { "\(directory.path)/out" }

  init() throws { directory = try #require(TemporaryDirectory()) }

  private func write(_ text: String) -> SystemError? {
    FileContents.replace(path, with: Array(text.utf8))
  }

  private func content(_ path: String) -> String? {
    (try? FileContents.read(path)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func keepsOldContentUntilFirstWrite() throws {
    #expect(write("old") == nil)
    let file = try services.openFile(path, isAppending: false)
    #expect(content(path) == "old")
    try file.write(Array("a".utf8))
    try file.write(Array("b".utf8))
    #expect(content(path) == "ab")
    try file.close()
  }

  @Test func replacesOldContentWithoutBytes() throws {
    #expect(write("old") == nil)
    let file = try services.openFile(path, isAppending: false)
    try file.write([])
    #expect(content(path) == "")
    try file.close()
  }

  @Test func appends() throws {
    #expect(write("old\n") == nil)
    let file = try services.openFile(path, isAppending: true)
    try file.write(Array("new".utf8))
    #expect(content(path) == "old\nnew")
    try file.close()
  }

  /// As after a process that was killed within a write.
  @Test(arguments: [true, false]) func textBeginsALine(isBinary: Bool) throws {
    #expect(write("a\nb") == nil)
    let file = try services.openFile(path, isAppending: true)
    let write = isBinary ? file.write(binary:) : file.write(_:)
    for text in ["c", "d\n"] { try write(Array(text.utf8)) }
    let other = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    #expect(FileContents.write(Array("e".utf8), to: other) == nil)
    close(other)
    try write(Array("f\n".utf8))
    #expect(content(path) == (isBinary ? "a\nbcd\nef\n" : "a\nb\ncd\ne\nf\n"))
    try file.close()
  }

  /// As a program that rotates logs does.
  @Test func beginsAgainAFileThatAnotherProgramHasTruncated() throws {
    let file = try services.openFile(path, isAppending: false)
    try file.begin(ifEmpty: Array("head\n".utf8))
    try file.write(Array("a\n".utf8))
    #expect(truncate(path, 0) == 0)
    try file.begin(ifEmpty: Array("head\n".utf8))
    try file.write(Array("b\n".utf8))
    #expect(content(path) == "head\nb\n")
    try file.close()
  }

  @Test func manyThreadsAppendWholeLines() throws {
    let path = path
    let waits = (0..<8).map { number in
      startThread {
        let file = try? SystemServices(waitLimit: nil).openFile(path, isAppending: false)
        try? file?.begin(ifEmpty: Array("head\n".utf8))
        for _ in 0..<100 { try? file?.write(Array("\(String(repeating: "\(number)", count: 5_000))\n".utf8)) }
        try? file?.close()
      }
    }
    for wait in waits { wait() }
    let lines = try #require(content(path)).split(separator: "\n")
    #expect(lines.count == 801 && lines.first == "head")
    #expect(lines.dropFirst().allSatisfy { $0.utf8.count == 5_000 && Set($0).count == 1 })
  }

  /// Also if the path is written in two ways, and the services are those of two clients.
  @Test func twoInterceptorsReplaceAFileOnce() throws {
    #expect(write("old") == nil)
    let paths = [path, "\(directory.path)/./out"]
    let files = try paths.map { path in
      try SystemServices(waitLimit: nil).openFile(path, isAppending: false)
    }
    for file in files + files { try file.write(Array("a\n".utf8)) }
    #expect(content(path) == "a\na\na\na\n")
    for file in files { try file.close() }
  }

  /// What stands for another process that has written to the file, and writes more later.
  private func otherProcess(writing text: String) -> Int32 {
    let other = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    var isHeld = false
    FileLock.withContents(of: other, isHeld: &isHeld) { isLocked in
      #expect(isLocked)
      #expect(FileLock.registerWriter(other))
      #expect(FileContents.write(Array(text.utf8), to: other) == nil)
    }
    return other
  }

  @Test(arguments: [("other\n", "other\na"), ("", "a")])
  func addsToAFileThatAnotherProcessWrites(before: String, after: String) throws {
    let other = otherProcess(writing: before)
    let file = try services.openFile(path, isAppending: false)
    try file.write(Array("a".utf8))
    #expect(content(path) == after && file.isShared)
    FileLock.release(other)
    close(other)
    try file.close()
    // The other process has ended.
    let next = try services.openFile(path, isAppending: false)
    try next.write(Array("b".utf8))
    #expect(content(path) == "b" && !next.isShared)
    try next.close()
  }

  /// As a child process has one until it starts another program.
  @Test func copyOfTheDescriptorKeepsNoLock() throws {
    let file = try services.openFile(path, isAppending: true)
    var status = stat()
    stat(path, &status)
    let copies = (0..<1024).filter { descriptor in
      var other = stat()
      return fstat(descriptor, &other) == 0 && other.st_ino == status.st_ino && other.st_dev == status.st_dev
    }.map { dup($0) }
    defer { for copy in copies { close(copy) } }
    #expect(!copies.isEmpty)
    try file.close()
    let next = try services.openFile(path, isAppending: true)
    #expect(!next.isShared)
    try next.close()
  }

  @Test func beginsAFileOnlyIfItIsEmpty() throws {
    let files = try (0..<2).map { _ in try services.openFile(path, isAppending: true) }
    for (file, text) in zip(files, ["a", "b"]) {
      try file.begin(ifEmpty: Array("head\n".utf8))
      try file.write(Array(text.utf8))
    }
    #expect(content(path) == "head\na\nb")
    #expect(files.map(\.isShared) == [false, true])
    for file in files { try file.close() }
  }

  /// Each further write would otherwise wait as long.
  @Test func waitsOnceForAProcessThatHoldsTheFile() throws {
    #expect(write("") == nil)
    let other = open(path, O_RDONLY | O_CLOEXEC)
    FileLock.lockForReading(other)
    let limit = Duration.milliseconds(500)
    let file = try SystemServices(waitLimit: limit).openFile(path, isAppending: true)
    let begin = ContinuousClock.now
    for _ in 0..<100 { try file.write(Array("a".utf8)) }
    #expect(ContinuousClock.now - begin < limit * 50)
    #expect(content(path) == String(repeating: "a", count: 100))
    close(other)
  }

  /// Of two processes that append, the second one is the one that writes elsewhere, also if it ends before the first one writes.
  @Test func isSharedWithAFileThatWasOpenedBefore() throws {
    let first = try services.openFile(path, isAppending: true)
    let second = try services.openFile(path, isAppending: true)
    #expect(!first.isShared && second.isShared)
    try second.close()
    try first.write(Array("a".utf8))
    #expect(!first.isShared)
  }

  @Test func readsBetweenTwoWritesOfAnotherProcess() throws {
    let other = otherProcess(writing: "")
    defer { close(other) }
    let (services, path) = (services, path)
    // Two parts of one line, between which a reader would see the first one only. A task would begin when all tests before it
    // have ended, since the reader keeps a thread of tasks busy.
    let wait = startThread {
      var isHeld = false
      for _ in 0..<300 {
        FileLock.withContents(of: other, isHeld: &isHeld) { _ in
          for part in ["a", "b\n"] { _ = FileContents.write(Array(part.utf8), to: other) }
        }
      }
    }
    var texts = [""]
    while texts[texts.count - 1].utf8.count < 300 * "ab\n".utf8.count {
      let bytes = try services.contents(ofFile: path, holdsMessages: true)
      texts.append(String(decoding: bytes, as: UTF8.self))
    }
    wait()
    #expect(texts.filter { !$0.isEmpty && !$0.hasSuffix("b\n") } == [])
  }

  /// An interceptor that was removed before its first call replaces nothing.
  @Test(arguments: [true, false]) func fileThatIsNotWrittenReplacesNothing(isClosed: Bool) throws {
    #expect(write("old\n") == nil)
    var file: (any OutputFile)? = try services.openFile(path, isAppending: false)
    if isClosed { try file?.close() }
    file = nil
    let other = try services.openFile(path, isAppending: true)
    try other.write(Array("new".utf8))
    #expect(content(path) == "old\nnew")
  }

  @Test func replacesAgainAfterAFailure() throws {
    #expect(write("old") == nil)
    let descriptor = open(path, O_RDONLY)
    let unwritable = AppendedFile(descriptor, isAppending: false, waitLimit: nil)
    #expect(throws: SystemError.self) { try unwritable.write([]) }
    let file = try services.openFile(path, isAppending: false)
    try file.write(Array("new".utf8))
    #expect(content(path) == "new")
  }

  /// As before each call of a cassette.
  @Test func beginsAPipeOnce() throws {
    let fifo = "\(directory.path)/fifo"
    try #require(mkfifo(fifo, 0o600) == 0)
    let reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    let file = try services.openFile(fifo, isAppending: false)
    for text in ["a", "b"] {
      try file.begin(ifEmpty: Array("head ".utf8))
      try file.write(Array(text.utf8))
    }
    try file.close()
    #expect(try FileContents.readPiece(reader, limitBytes: 100) == Array("head ab".utf8))
  }

  /// Each further write would otherwise wait as long.
  @Test func waitsOnceForReaderThatDoesNotRead() throws {
    let fifo = "\(directory.path)/fifo"
    try #require(mkfifo(fifo, 0o600) == 0)
    let reader = open(fifo, O_RDWR | O_CLOEXEC)
    defer { close(reader) }
    let limit = Duration.milliseconds(500)
    let file = try SystemServices(waitLimit: limit).openFile(fifo, isAppending: true)
    let begin = ContinuousClock.now
    let bytes = [UInt8](repeating: 0, count: 1 << 20)
    for _ in 0..<100 { #expect(throws: SystemError.self) { try file.write(bytes) } }
    #expect(ContinuousClock.now - begin < limit * 50)
  }

  /// Of two processes that write one report, the one that finds that of the other says so, and keeps it.
  @Test func keepsReportOfAnotherProcess() throws {
    let other = SystemServices(waitLimit: nil)
    func replace(_ services: SystemServices, _ text: String) throws {
      try services.replaceFile(path, with: Array(text.utf8), isPrivate: true)
    }
    try replace(services, "a1")
    try replace(other, "b1")
    let problem = #expect(throws: SystemError.self) { try replace(services, "a2") }
    #expect(problem?.reason == "another process has replaced the file")
    try replace(other, "b2")
    #expect(content(path) == "b2")
    // A user may remove it, to have a new one.
    unlink(path)
    try replace(services, "a3")
    #expect(content(path) == "a3")
  }

  @Test func dryRunChangesNothing() throws {
    let services = SystemServices(waitLimit: nil, isDry: true)
    _ = try services.openFile(path, isAppending: false)
    try services.replaceFile(path, with: Array("new".utf8), isPrivate: true)
    #expect(content(path) == nil)
    #expect(write("old") == nil)
    #expect(chmod(path, 0o644) == 0)
    _ = try services.openFile(path, isAppending: false)
    try services.replaceFile(path, with: Array("new".utf8), isPrivate: true)
    #expect(content(path) == "old")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o644)
  }

  @Test(arguments: [true, false], ["/none/out", ""])
  func reportsFileThatCannotBeWritten(isDry: Bool, suffix: String) {
    let services = SystemServices(waitLimit: nil, isDry: isDry)
    let path = directory.path + suffix
    #expect(throws: SystemError.self) { _ = try services.openFile(path, isAppending: false) }
    #expect(throws: SystemError.self) { try services.checkReplacing(path) }
    #expect(throws: SystemError.self) { try services.replaceFile(path, with: [], isPrivate: true) }
  }
}
