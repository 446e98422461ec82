import Glibc

/// The editor of the user's choice, on a text.
enum ExternalEditor {
  /// Lets the user change `text`; gives what was saved.
  static func edit(_ text: String, _ environment: (String) -> String?) throws(Failure) -> String {
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
    let status = run(["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path])
    guard status == 0 else {
      throw Failure(.input, editor, "it did not end well, so nothing is sent", hint: "set VISUAL or EDITOR")
    }
    do {
      return String(decoding: try FileContents.read(path), as: UTF8.self)
    } catch {
      throw Failure(.input, path, error.why)
    }
  }

  /// Runs a program on our own terminal, to its end.
  private static func run(_ words: [String]) -> Int32 {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let arguments = words.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    guard posix_spawn(&process, words[0], nil, &attributes, arguments + [nil], environ) == 0 else {
      return -1
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }
}
