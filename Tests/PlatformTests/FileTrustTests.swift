import RPCurlBase
import RPCurlCommandSupport
import Testing

@testable import RPCurlPlatform

struct FileTrustTests {
  private let directory = TemporaryDirectory()

  private func folder() throws -> TemporaryDirectory { try #require(directory) }

  /// Checks the file at `path`, opened as `opened` or as itself.
  private func problem(_ path: String, opened: String? = nil) throws -> SystemError? {
    let descriptor = open(opened ?? path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    do throws(SystemError) {
      try FileTrust.check(path, opened: descriptor)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    (0o600 as mode_t, true), (0o644, true), (0o755, true), (0o620, false), (0o602, false), (0o666, false),
  ])
  func trustsFileThatOthersCannotWrite(mode: mode_t, isTrusted: Bool) throws {
    let file = try folder().write("file", [], mode: mode)
    #expect(try problem(file) == (isTrusted ? nil : .writable(file, isDirectory: false)))
  }

  @Test(arguments: [
    (0o755 as mode_t, true), (0o700, true), (0o775, false), (0o777, false), (0o1777, true),
  ])
  func trustsDirectoryWhoseFilesOthersCannotReplace(mode: mode_t, isTrusted: Bool) throws {
    let folder = try folder()
    let inner = folder.makeDirectory("inner", mode: mode)
    let file = folder.write("inner/file", [])
    #expect(try problem(file) == (isTrusted ? nil : .writable(inner, isDirectory: true)))
  }

  @Test func explainsProblem() throws {
    let file = try folder().write("file", [], mode: 0o666)
    let problem = try problem(file)
    #expect(problem?.reason == "others can write the file \(file)")
    #expect(problem?.hint == "chmod go-w \(file)")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func rejectsFileOfAnotherUser() throws {
    let file = try folder().write("file", [])
    chown(file, 54_321, 0)
    #expect(try problem(file) == .foreign(file, owner: 54_321))
    #expect(try problem(file)?.reason == "\(file) belongs to another user (54321)")
  }

  @Test func followsLinksAndChecksTheirTargets() throws {
    let folder = try folder()
    let unsafe = folder.makeDirectory("unsafe", mode: 0o777)
    folder.makeDirectory("safe")
    folder.write("unsafe/file", [])
    folder.write("safe/file", [])
    symlink("safe/file", "\(folder.path)/good")
    symlink("\(folder.path)/unsafe/file", "\(folder.path)/bad")
    symlink("safe/../unsafe", "\(folder.path)/way")
    #expect(try problem("\(folder.path)/good") == nil)
    #expect(try problem("\(folder.path)/bad") == .writable(unsafe, isDirectory: true))
    #expect(try problem("\(folder.path)/way/file") == .writable(unsafe, isDirectory: true))
  }

  @Test(arguments: ["/./file", "//file", "/inner/../file", "/inner/./../inner/../file"])
  func resolvesDots(path: String) throws {
    let folder = try folder()
    folder.write("file", [])
    folder.makeDirectory("inner")
    #expect(try problem(folder.path + path) == nil)
  }

  @Test func rejectsFileThatWasReplacedAfterItWasOpened() throws {
    let folder = try folder()
    let file = folder.write("file", [])
    let other = folder.write("other", [])
    #expect(try problem(file, opened: other) == .replaced)
    #expect(try problem("\(folder.path)/none", opened: other) == .replaced)
  }

  @Test func rejectsLoopOfLinks() throws {
    let folder = try folder()
    let file = folder.write("file", [])
    let loop = "\(folder.path)/loop"
    symlink("loop", loop)
    #expect(try problem(loop, opened: file) == .replaced)
  }

  @Test func trustsPipeOfThisProcess() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    #expect(try problem("/proc/self/fd/\(ends[0])") == nil)
  }
}
