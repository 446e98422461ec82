import Testing

@testable import RPCurlPlatform

struct RunFilesTests {
  /// The record of a run, as another process inherits it.
  private func inherited(_ files: RunFiles) throws -> RunFiles {
    try #require(RunFiles(inherited: dup(files.descriptor)))
  }

  @Test func theFirstProcessClaimsAFile() throws {
    let run = try #require(RunFiles())
    let processes = try [inherited(run), inherited(run)]
    #expect(processes[1].claim("a b"))
    #expect(!processes[0].claim("a b"))
    #expect(processes[0].claim("a"))
    #expect(processes[0].claim("b"))
    // Again, as after an error.
    #expect(processes[1].claim("a b"))
    #expect(!processes[1].claim("b"))
  }

  /// The shell that starts the program may have opened the descriptor for something else.
  @Test func otherFilesAreNotRecords() throws {
    let pipe = try #require(Pipe())
    defer {
      close(pipe.readEnd)
      close(pipe.writeEnd)
    }
    #expect(RunFiles(inherited: pipe.writeEnd) == nil)
    let file = open(#filePath, O_RDONLY)
    defer { close(file) }
    #expect(RunFiles(inherited: file) == nil)
    #expect(RunFiles(inherited: -1) == nil)
  }
}
