import RPCurlBase
import RPCurlCommandSupport
import Testing

@testable import RPCurlPlatform

struct NewFolderTests {
  @Test(arguments: [
    ("a.proto", true), ("a/b/c.proto", true), ("é/..a", true), ("...", true), ("", false), ("/a", false),
    ("a/", false), ("a//b", false),
    (".", false), ("..", false), ("a/../b", false), ("a/..", false), ("./a", false), ("a\n", false),
    ("a\u{0}b", false),
    ("\u{7F}", false), (String(repeating: "a", count: 256), false),
  ])
  func checksNames(name: String, isValid: Bool) {
    #expect((NewFolder.whyInvalid(name) == nil) == isValid)
  }

  @Test func makesParentsOfFolder() throws {
    let folder = try #require(TemporaryDirectory())
    try NewFolder.write([("x", [1])], below: "\(folder.path)/a/b/")
    #expect(access("\(folder.path)/a/b/x", F_OK) == 0)
    #expect(throws: SystemError("Not a directory")) {
      try NewFolder.write([("y", [1])], below: "\(folder.path)/a/b/x/c")
    }
  }

  @Test func removesWhatItCreatedIfFileFails() throws {
    let folder = try #require(TemporaryDirectory())
    folder.makeDirectory("b")
    // The last one does not exist when names are checked, and exists when it is created.
    let files: [(name: String, contents: [UInt8])] = [
      ("a/a/x", [1]), ("b/y", [2]), ("b/z", [3]), ("b/z", [4]),
    ]
    #expect(throws: SystemError("File exists", path: "b/z")) {
      try NewFolder.write(files, below: folder.path)
    }
    for name in ["a", "b/y", "b/z"] { #expect(access("\(folder.path)/\(name)", F_OK) != 0) }
    #expect(access("\(folder.path)/b", F_OK) == 0)
  }
}
