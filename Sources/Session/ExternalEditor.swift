import Glibc
import Output
import System

/// Runs the user's editor on a text.
package enum ExternalEditor {
  /// Opens `text` in the editor. Returns the saved text.
  ///
  /// - Parameters:
  ///   - text: The text to edit.
  ///   - environment: Returns the value of an environment variable.
  ///   - waitForEnd: Waits until the descriptor is readable, which means that the editor has ended. Returns false to
  ///     stop waiting.
  /// - Throws: `Failure` if the editor cannot be run or fails.
  package static func edit(
    _ text: String, _ environment: (String) -> String?, waitForEnd: (Int32) throws(Failure) -> Bool
  ) throws(Failure) -> String {
    let chosen = ["VISUAL", "EDITOR"].lazy.compactMap(environment).first { !$0.isEmpty }
    let editor = chosen ?? "vi"
    let directory = environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(directory)/rpcurl.XXXXXX.json".utf8CString)
    // Mode 0600.
    let descriptor = mkstemps(&template, Int32(".json".utf8.count))
    guard descriptor >= 0 else { throw Failure(.internalError, directory, FileContents.lastError()) }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unlink(path) }
    let problem = FileContents.write(Array(text.utf8), to: descriptor)
    close(descriptor)
    if let problem { throw Failure(.internalError, path, problem.why) }
    guard try run(editor, path, waitForEnd) == 0 else {
      throw Failure(.input, editor, "the editor failed; nothing was sent", hint: "set VISUAL or EDITOR")
    }
    do {
      return String(decoding: try FileContents.read(path), as: UTF8.self)
    } catch {
      throw Failure(.input, path, error.why)
    }
  }

  /// Runs the editor on the terminal until it ends. Returns its status as `waitpid` reports it.
  private static func run(
    _ editor: String, _ path: String, _ waitForEnd: (Int32) throws(Failure) -> Bool
  ) throws(Failure) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failure(.internalError, editor, FileContents.lastError()) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    // Only the shell holds the write end of the pipe; processes that the editor leaves running do not. The shell
    // ignores a Ctrl-C that is meant for the editor.
    let script = "trap : INT; \(editor) \"$1\" 3>&-; exit $?"
    let started = ChildProcess.start(
      ["/bin/sh", "-c", script, "sh", path], hasInput: true, giving: [(ends[1], 3)])
    close(ends[1])
    guard case .success(let process) = started else { return -1 }
    guard try waitForEnd(ends[0]) else { throw Failure(reported: Interrupt.status) }
    return ChildProcess.wait(for: process)
  }
}
