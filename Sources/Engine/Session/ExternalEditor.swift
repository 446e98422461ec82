import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

/// Runs the user's editor on a text.
package enum ExternalEditor {
  /// Opens `text` in the editor. Returns the saved text.
  ///
  /// - Parameters:
  ///   - text: The text to edit.
  ///   - environment: Returns the value of an environment variable.
  ///   - ending: The ending of the name of the file.
  ///   - unchanged: What an editor that fails does not change, for the error.
  ///   - waitForEnd: Waits until the descriptor is readable, which means that the editor has ended. Returns false if its
  ///     time is over; what it throws stops waiting, too.
  /// - Throws: `Failure` if the editor cannot be run or fails.
  package static func edit(
    _ text: String, _ environment: (String) -> String?, ending: String = ".json",
    unchanged: String = "nothing was sent", waitForEnd: (Int32) throws(Failure) -> Bool
  ) throws(Failure) -> String {
    let chosen = ["VISUAL", "EDITOR"].lazy.compactMap(environment).first { !$0.isEmpty }
    let editor = chosen ?? "vi"
    // What a pipe holds are further commands, and no input of the editor.
    let input = isatty(0) == 1 ? "" : " < /dev/null"
    let program = ExternalProgram(command: "\(editor) \"$1\"\(input)", name: editor)
    let (status, written) = try program.run(on: text, ending: ending, environment, waitForEnd: waitForEnd)
    guard status == 0 else {
      throw Failure(.input, editor, "the editor failed; \(unchanged)", hint: "set VISUAL or EDITOR")
    }
    return written
  }
}

/// Shows a text in the user's pager.
package enum Pager {
  /// Whether the environment has a pager.
  package static func isWanted(_ environment: (String) -> String?) -> Bool {
    !["", "dumb"].contains(environment("TERM") ?? "")
      && !["", "cat"].contains(environment("PAGER") ?? "less")
  }

  /// Shows `text`. Returns false if there is no pager.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - environment: Returns the value of an environment variable.
  ///   - waitForEnd: Waits until the descriptor is readable, which means that the pager has ended.
  /// - Throws: `Failure` if the text cannot be handed over.
  package static func show(
    _ text: String, _ environment: (String) -> String?, waitForEnd: (Int32) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    guard isWanted(environment) else { return false }
    let pager = environment("PAGER") ?? "less"
    // As git does: show a short text at once, and leave the text on the screen.
    let command = "LESS=${LESS-FRX}; export LESS; \(pager) < \"$1\""
    let program = ExternalProgram(command: command, name: pager)
    let (status, _) = try program.run(on: text, ending: ".txt", environment, waitForEnd: waitForEnd)
    // The status of a shell for a program that is not found or cannot be run.
    let code = status >> 8 & 0xFF
    return code != 126 && code != 127
  }
}

/// Commands that a user types at a prompt for the shell.
enum ShellCommand {
  /// Runs a command of the shell on the terminal. Returns its status as `waitpid` reports it.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - path: The file that it reads; nil for the terminal.
  ///   - waitForEnd: Waits until the descriptor is readable, which means that the command has ended.
  static func run(
    _ command: String, reading path: String?, waitForEnd: (Int32) throws(Failure) -> Bool
  ) throws(Failure) -> Int32 {
    let redirected = path == nil ? command : "{ \(command)\n} < \"$1\""
    return try ExternalProgram(command: redirected, name: command).run(path ?? "", waitForEnd)
  }
}

/// A program that runs on the terminal with a file.
private struct ExternalProgram {
  /// The command of the shell, in which `$1` is the file.
  let command: String
  /// The name of the program, for errors.
  let name: String

  /// Runs the program on a text in a temporary file. Returns its status as `waitpid` reports it, and what the file contains
  /// then. A file that is not UTF-8 remains.
  func run(
    on text: String, ending: String, _ environment: (String) -> String?,
    waitForEnd: (Int32) throws(Failure) -> Bool
  ) throws(Failure) -> (status: Int32, text: String) {
    let directory = environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(directory)/rpcurl.XXXXXX\(ending)".utf8CString)
    // Mode 0600.
    let descriptor = mkstemps(&template, Int32(ending.utf8.count))
    guard descriptor >= 0 else { throw Failure(.internalError, directory, FileContents.lastError()) }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    var isKept = false
    defer { if !isKept { unlink(path) } }
    let problem = FileContents.write(Array(text.utf8), to: descriptor)
    close(descriptor)
    if let problem { throw Failure(.internalError, path, problem) }
    let status = try run(path, waitForEnd)
    let written: [UInt8]
    do throws(SystemError) {
      written = try FileContents.read(path)
    } catch {
      throw Failure(.input, path, error)
    }
    guard let text = String(validating: written, as: UTF8.self) else {
      isKept = true
      throw Failure(.input, path, "not UTF-8", hint: "the text is still in this file")
    }
    return (status, text)
  }

  /// Runs the program on a file. Returns its status as `waitpid` reports it.
  func run(_ path: String, _ waitForEnd: (Int32) throws(Failure) -> Bool) throws(Failure) -> Int32 {
    guard let pipe = Pipe() else { throw Failure(.internalError, name, FileContents.lastError()) }
    defer { close(pipe.readEnd) }
    // Only the shell holds the write end of the pipe; processes that the program leaves running do not. The shell
    // ignores a Ctrl-C that is meant for the program.
    let script = "trap : INT; { \(command)\n} 3>&-; exit $?"
    // A group of its own would be in the background of a terminal, where only the shell can be ended.
    let leadsGroup = !Self.hasTerminal
    let started = ChildProcess.start(
      ["/bin/sh", "-c", script, "sh", path], hasInput: true, giving: [(pipe.writeEnd, 3)],
      leadsGroup: leadsGroup)
    close(pipe.writeEnd)
    guard case .success(let process) = started else { return -1 }
    var hasEnded = false
    defer {
      if !hasEnded {
        kill(leadsGroup ? -process : process, SIGKILL)
        _ = ChildProcess.wait(for: process)
      }
    }
    hasEnded = try waitForEnd(pipe.readEnd)
    guard hasEnded else { throw Failure(.input, name, "the program did not end in time") }
    return ChildProcess.wait(for: process)
  }

  /// Whether the process has a terminal, which its standard input need not be.
  private static var hasTerminal: Bool {
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return true
  }
}
