import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct ExternalEditorTests {
  /// Waits for the end of the pipe.
  private func wait(_ descriptor: Int32) throws(Failure) -> Bool {
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 0
  }

  /// Edits a text with a command of the shell.
  private func edit(_ editor: String, in directory: TemporaryDirectory) throws(Failure) -> String {
    let variables = ["EDITOR": editor, "TMPDIR": directory.path]
    return try ExternalEditor.edit("{}", { variables[$0] }, waitForEnd: wait)
  }

  @Test func commandsReadTheBytesOfAFile() throws {
    let directory = try #require(TemporaryDirectory())
    let bytes: [UInt8] = [0xFB, 0xFF, 0x00, 0x81]
    #expect(FileContents.replace("\(directory.path)/responses", with: bytes) == nil)
    let command = "cat > '\(directory.path)/copy'"
    #expect(try ShellCommand.run(command, reading: "\(directory.path)/responses", waitForEnd: wait) == 0)
    #expect(try FileContents.read("\(directory.path)/copy") == bytes)
    #expect(directory.names.sorted() == ["copy", "responses"])
  }

  @Test func removesTheFile() throws {
    let directory = try #require(TemporaryDirectory())
    #expect(try edit("printf '[]' >", in: directory) == "[]")
    #expect(directory.names == [])
  }

  @Test func keepsTextThatIsNotUTF8() throws {
    let directory = try #require(TemporaryDirectory())
    let failure = #expect(throws: Failure.self) { try edit(#"printf '"\351"' >"#, in: directory) }
    let name = try #require(directory.names.first)
    #expect(failure?.message?.what == "\(directory.path)/\(name)")
    #expect(failure?.message?.why == "not UTF-8")
    let file = open("\(directory.path)/\(name)", O_RDONLY)
    defer { close(file) }
    var bytes: [UInt8] = [0, 0, 0, 0]
    #expect(read(file, &bytes, bytes.count) == 3)
    #expect(bytes == [0x22, 0xE9, 0x22, 0])
  }
}
