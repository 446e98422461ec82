import RPCurlBase
import RPCurlCommandSupport
import RPCurlProtobuf
import Testing

@testable import RPCurlPlatform

struct CacheDirectoryTests {
  private let directory = TemporaryDirectory()
  private let key = Array("key".utf8)

  private func path() throws -> String { "\(try #require(directory).path)/cache/rpcurl/responses" }

  private func cache(_ limitBytes: Int = 1 << 20) throws -> CacheDirectory {
    CacheDirectory(try path(), limitBytes: limitBytes)
  }

  private func file(_ key: [UInt8]) throws -> String { "\(try path())/\(SHA256.digest(of: key))" }

  private func files() throws -> [String] {
    Directory.entries(in: try path()).map(\.name).filter { $0 != "lock" }
  }

  @Test func keepsLastContent() throws {
    let cache = try cache()
    #expect(cache.load(key) == nil)
    for content in [[], [0], [UInt8](repeating: 7, count: 100_000)] as [[UInt8]] {
      try cache.store(content, for: key)
      #expect(try self.cache().load(key) == content)
    }
    #expect(cache.load(key + [0]) == nil)
    #expect(try files().count == 1)
  }

  /// A file that is replaced while it is read is opened again.
  @Test func severalThreadsUseOneFile() async throws {
    let (cache, key) = (try cache(), key)
    try cache.store([0], for: key)
    let failures = await withTaskGroup(of: Int.self) { group in
      for number in 1...4 {
        group.addTask {
          (0..<300).count { _ in
            (try? cache.store([UInt8(number)], for: key)) == nil || cache.load(key) == nil
          }
        }
      }
      return await group.reduce(0, +)
    }
    #expect(failures == 0)
  }

  @Test func writesPrivateFiles() throws {
    try cache().store([1], for: key)
    var status = stat()
    #expect(lstat(try file(key), &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(lstat("\(try path())/lock", &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(lstat(try path(), &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  // MARK: Damage

  @Test func damagedFilesAreAbsent() throws {
    let cache = try cache()
    try cache.store([1, 2, 3], for: key)
    let whole = try FileContents.read(try file(key))
    for index in whole.indices {
      var damaged = whole
      damaged[index] ^= 1
      #expect(FileContents.replace(try file(key), with: damaged) == nil)
      #expect(cache.load(key) == nil, "byte \(index)")
      #expect(FileContents.replace(try file(key), with: Array(whole[..<index])) == nil)
      #expect(cache.load(key) == nil, "length \(index)")
    }
    #expect(FileContents.replace(try file(key), with: whole + [0]) == nil)
    #expect(cache.load(key) == nil)
    try cache.store([4], for: key)
    #expect(cache.load(key) == [4])
  }

  @Test func fileOfAnotherKeyIsAbsent() throws {
    let cache = try cache()
    try cache.store([1], for: key)
    #expect(rename(try file(key), try file([2])) == 0)
    #expect(cache.load([2]) == nil)
  }

  @Test func onlyPrivateRegularFilesAreRead() throws {
    let cache = try cache()
    try cache.store([1], for: key)
    chmod(try file(key), 0o622)
    #expect(cache.load(key) == nil)
    chmod(try file(key), 0o600)
    #expect(cache.load(key) == [1])
    #expect(rename(try file(key), "\(try path())/other") == 0)
    symlink("other", try file(key))
    #expect(cache.load(key) == nil)
    unlink(try file(key))
    mkfifo(try file(key), 0o600)
    #expect(cache.load(key) == nil)
    // Stored content replaces them.
    try cache.store([2], for: key)
    #expect(cache.load(key) == [2])
  }

  @Test func directoryThatOthersCanWriteIsNotUsed() throws {
    let cache = try cache()
    try cache.store([1], for: key)
    chmod(try path(), 0o777)
    #expect(cache.load(key) == nil)
    let problem = #expect(throws: SystemError.self) { try cache.store([1], for: key) }
    #expect(problem?.reason == "others can write the directory \(try path())")
  }

  @Test func directoryThatCannotBeCreatedIsAnError() throws {
    let cache = CacheDirectory("/dev/null/responses", limitBytes: 1 << 20)
    #expect(throws: SystemError.self) { try cache.store([1], for: key) }
    #expect(cache.load(key) == nil)
  }

  // MARK: Size

  private func setUse(_ key: [UInt8], secondsAgo: Int) throws {
    let then = time(nil) - secondsAgo
    #expect(
      utimensat(
        AT_FDCWD, try file(key), [timespec(tv_sec: then, tv_nsec: 0), timespec(tv_sec: then, tv_nsec: 0)], 0)
        == 0)
  }

  @Test func leastRecentlyUsedFilesAreRemoved() throws {
    // Files of one block, of which 16 fit.
    for number in 0..<16 as Range<UInt8> {
      try cache(64 << 10).store([number], for: [number])
      try setUse([number], secondsAgo: 100 - Int(number))
    }
    #expect(try files().count == 16)
    // The first file becomes the one used last.
    #expect(try cache(64 << 10).load([0]) == [0])
    try cache(64 << 10).store([16], for: [16])
    let kept = try (0...16 as ClosedRange<UInt8>).filter { try cache(64 << 10).load([$0]) != nil }
    #expect(kept == [0] + Array(3...16))
  }

  @Test func oneProcessKeepsTheLimit() throws {
    let cache = try cache(64 << 10)
    for number in 0..<200 as Range<UInt8> {
      try cache.store([UInt8](repeating: number, count: 5000), for: [number])
      #expect(try files().count <= 8)
      #expect(cache.load([number]) != nil)
    }
  }

  @Test func contentLargerThanTheLimitIsRejected() throws {
    let cache = try cache(64 << 10)
    try cache.store([1], for: [1])
    let problem = #expect(throws: SystemError.self) {
      try cache.store([UInt8](repeating: 0, count: 64 << 10), for: key)
    }
    #expect(problem?.reason == "it exceeds the size of the cache")
    #expect(cache.load([1]) == [1])
  }

  @Test func unusedFilesAreRemoved() throws {
    try cache().store([1], for: [1])
    try setUse([1], secondsAgo: 31 * 24 * 3600)
    try cache().store([2], for: [2])
    #expect(try files().count == 1)
  }

  @Test func onlyOneProcessRemovesFiles() throws {
    try cache().store([1], for: [1])
    try setUse([1], secondsAgo: 31 * 24 * 3600)
    let lock = open("\(try path())/lock", O_RDWR | O_CLOEXEC)
    #expect(FileLock.lockForWriting(lock, patience: .zero))
    try cache().store([2], for: [2])
    #expect(try files().count == 2)
    close(lock)
    try cache().store([2], for: [2])
    #expect(try files().count == 1)
  }
}
