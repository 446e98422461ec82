import Glibc
import Output
import System

/// The editor of the user's choice, on a text.
package enum ExternalEditor {
  /// Lets the user change `text`; gives what was saved.
  ///
  /// - Parameter waitForEnd: Waits until the descriptor can be read, which is when the editor has ended; `false` when it
  ///   is not to be waited for any longer.
  package static func edit(
    _ text: String, _ environment: (String) -> String?, waitForEnd: (Int32) throws(Failure) -> Bool
  ) throws(Failure) -> String {
    let chosen = ["VISUAL", "EDITOR"].lazy.compactMap(environment).first { !$0.isEmpty }
    let editor = chosen ?? "vi"
    let directory = environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(directory)/rpcurl.XXXXXX.json".utf8CString)
    // Readable and writable by the user alone.
    let descriptor = mkstemps(&template, Int32(".json".utf8.count))
    guard descriptor >= 0 else { throw Failure(.internalError, directory, FileContents.lastError()) }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unlink(path) }
    let problem = FileContents.write(Array(text.utf8), to: descriptor)
    close(descriptor)
    if let problem { throw Failure(.internalError, path, problem.why) }
    guard try run(editor, path, waitForEnd) == 0 else {
      throw Failure(.input, editor, "it did not end well, so nothing is sent", hint: "set VISUAL or EDITOR")
    }
    do {
      return String(decoding: try FileContents.read(path), as: UTF8.self)
    } catch {
      throw Failure(.input, path, error.why)
    }
  }

  /// Runs the editor on our own terminal, to its end; gives how it ended.
  private static func run(
    _ editor: String, _ path: String, _ waitForEnd: (Int32) throws(Failure) -> Bool
  ) throws(Failure) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failure(.internalError, editor, FileContents.lastError()) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    // The shell alone holds the other end of the pipe, which closes with it: what the editor leaves behind does not. It
    // outlives a Ctrl-C that the editor takes for itself.
    let script = "trap : INT; \(editor) \"$1\" 3>&-; exit $?"
    let started = ChildProcess.start(
      ["/bin/sh", "-c", script, "sh", path], hasInput: true, giving: [(ends[1], 3)])
    close(ends[1])
    guard case .success(let process) = started else { return -1 }
    guard try waitForEnd(ends[0]) else { throw Failure(reported: Interrupt.status) }
    return ChildProcess.wait(for: process)
  }
}
