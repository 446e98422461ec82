import RPCurlBase
import RPCurlCommandSupport
import RPCurlPlatform
import Testing

@testable import RPCurlEngine

struct SessionGoldenFilesTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory()) }

  private func files(in run: RunFiles? = nil) -> SessionGoldenFiles {
    SessionGoldenFiles(besides: "\(directory.path)/suite", isUpdating: true, in: run)
  }

  private static let other = "another check of this run has another value"

  /// Writes contents one after another. Returns the content of the file at the end, and the errors.
  private func write(
    _ contents: [(SessionGoldenFiles, path: String, content: String)]
  ) throws -> (content: String, errors: [String]) {
    var errors: [String] = []
    for (files, path, content) in contents {
      do throws(SystemError) { try files.write(path, Array(content.utf8)) } catch {
        errors.append(error.reason)
      }
    }
    return (try String(decoding: FileContents.read("\(directory.path)/new/file"), as: UTF8.self), errors)
  }

  @Test(arguments: [nil, "a", "b"]) func theFirstCheckDecides(_ before: String?) throws {
    if let before {
      directory.makeDirectory("new")
      directory.write("new/file", before.utf8)
    }
    let files = files()
    let (content, errors) = try write([
      (files, "new/file", "a"), (files, "new/file", "a"), (files, "new/file", "b"),
      (files, "new/../new/file", "c"),
    ])
    #expect((content, errors) == ("a", [Self.other, Self.other]))
  }

  /// Also if it has found its value.
  @Test(arguments: [nil, "a", "b"]) func theFirstProcessDecides(_ before: String?) throws {
    if let before {
      directory.makeDirectory("new")
      directory.write("new/file", before.utf8)
    }
    let run = try #require(RunFiles())
    func process() throws -> SessionGoldenFiles {
      let inherited: RunFiles = try #require(RunFiles(inherited: dup(run.descriptor)))
      return files(in: inherited)
    }
    let processes = try [process(), process(), process()]
    let (content, errors) = try write([
      (processes[0], "new/file", "a"), (processes[1], "new/file", "a"), (processes[1], "new/file", "b"),
      (processes[0], "new/file", "a"), (processes[2], "new/file", "c"),
    ])
    #expect((content, errors) == ("a", [Self.other, Self.other]))
  }

  @Test func aByteOrderMarkIsNoPartOfTheValue() throws {
    directory.write("file", "\u{FEFF}{}".utf8)
    #expect(try files().read("file") == Array("{}".utf8))
    #expect(try files().read("none") == nil)
  }
}
