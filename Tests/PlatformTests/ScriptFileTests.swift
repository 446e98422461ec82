import RPCurlBase
import RPCurlCommandSupport
import Testing

@testable import RPCurlPlatform

struct ScriptFileTests {
  /// Makes a file; returns its path.
  private func make(_ name: String, _ content: String, isExecutable: Bool = true) throws -> (
    TemporaryDirectory, String
  ) {
    let folder = try #require(TemporaryDirectory())
    folder.write(name, Array(content.utf8))
    let path = "\(folder.path)/\(name)"
    chmod(path, isExecutable ? 0o755 : 0o644)
    return (folder, path)
  }

  @Test(arguments: [
    ("s.py", "print()", true, "its first line does not name its interpreter"),
    ("s.py", "#!/bin/sh", false, "is not executable"), ("s", "#!/bin/sh -e\n", true, nil),
    ("s", "#! /bin/sh", true, nil),
    ("s", "#!/none/sh\n", true, "its interpreter /none/sh cannot be run"),
    ("s", "", true, "its first line does not name its interpreter"),
    ("s", "#!/bin/sh\r\n", true, "its interpreter /bin/sh cannot be run"),
    ("s.so", "\u{7f}ELF", true, "is a plugin, and no script"), ("s", "\u{7f}ELF", true, nil),
  ])
  func saysWhyAProgramCannotRun(name: String, content: String, isExecutable: Bool, reason: String?) throws {
    let (folder, path) = try make(name, content, isExecutable: isExecutable)
    #expect(ScriptFile.problem(with: path)?.reason == reason)
    _ = folder
  }

  @Test func saysWhatToDo() throws {
    let (folder, path) = try make("s.py", "#!/bin/sh", isExecutable: false)
    #expect(ScriptFile.problem(with: path)?.hint == "chmod +x \(path)")
    #expect(ScriptFile.problem(with: folder.path)?.reason == "Is a directory")
    #expect(ScriptFile.problem(with: "/none/x")?.reason == "No such file or directory")
    #expect(ScriptFile.problem(with: "sh") == nil)
    let missing = ScriptFile.problem(with: "no-such-program")
    #expect(missing?.reason == "not found in $PATH" && missing?.hint == nil)
    // The tests run in the folder of the package.
    #expect(ScriptFile.problem(with: "Package.swift")?.hint == "write ./Package.swift")
  }

  @Test func knowsScriptsAndPrograms() throws {
    let (folder, script) = try make("s", "#!/bin/sh")
    let (other, text) = try make("s.txt", "x", isExecutable: false)
    let (third, named) = try make("s.py", "x", isExecutable: false)
    #expect(ScriptFile.isScript(script) && ScriptFile.isProgram(script))
    #expect(ScriptFile.isScript(named) && !ScriptFile.isProgram(named))
    #expect(!ScriptFile.isScript(text) && !ScriptFile.isProgram(text))
    #expect(!ScriptFile.isScript("/bin/sh") && ScriptFile.isProgram("/bin/sh"))
    #expect(ScriptFile.isScript("/none.py") && !ScriptFile.isScript("/none") && !ScriptFile.isProgram("/bin"))
    _ = (folder, other, third)
  }

  /// A shared object starts like a program that can be at any address, but has no loader.
  @Test(arguments: [(2, 0, true), (3, 3, true), (3, 1, false)])
  func tellsProgramsFromSharedObjects(type: UInt8, segment: UInt8, isProgram: Bool) throws {
    var bytes = [UInt8](repeating: 0, count: 120)
    bytes.replaceSubrange(0..<4, with: [0x7f, 0x45, 0x4c, 0x46])
    (bytes[16], bytes[32], bytes[54], bytes[56], bytes[64]) = (type, 64, 56, 1, segment)
    let folder = try #require(TemporaryDirectory())
    folder.write("x", bytes)
    chmod("\(folder.path)/x", 0o755)
    #expect(ScriptFile.isProgram("\(folder.path)/x") == isProgram)
  }
}
