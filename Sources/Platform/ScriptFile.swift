import RPCurlBase

/// Files that can be run as scripts of the chain.
package enum ScriptFile {
  /// The ends of names that scripts have.
  private static let suffixes = [".py", ".js", ".mjs", ".cjs", ".sh", ".rb", ".pl", ".lua"]

  /// Whether a file is a script: by the end of its name, also if there is no such file, or because its first line names its interpreter.
  package static func isScript(_ path: String) -> Bool {
    suffixes.contains(where: path.hasSuffix) || beginning(of: path)?.starts(with: "#!".utf8) == true
  }

  /// Whether a file can be run, and is no shared object.
  package static func isProgram(_ path: String) -> Bool {
    guard let bytes = beginning(of: path), access(path, X_OK) == 0 else { return false }
    return !bytes.starts(with: elf) || isELFProgram(bytes)
  }

  /// Why the program of a command cannot be run, with what to do; nil if nothing is known against it.
  ///
  /// - Parameter name: A path if it has a slash; otherwise it is searched in `$PATH`.
  package static func problem(with name: String) -> (reason: String, hint: String?)? {
    guard name.contains("/") else { return problem(withName: name) }
    guard access(name, F_OK) == 0 else { return (SystemError.last.reason, nil) }
    guard let bytes = beginning(of: name) else {
      let error = SystemError.last
      // A program that may be run and not be read.
      return errno == EACCES && access(name, X_OK) == 0 ? nil : (error.reason, nil)
    }
    if name.hasSuffix(".so"), bytes.starts(with: elf) {
      return ("is a plugin, and no script", "write --plugin \(name)")
    }
    guard access(name, X_OK) == 0 else { return ("is not executable", "chmod +x \(name)") }
    guard !bytes.starts(with: elf) else { return nil }
    guard bytes.starts(with: "#!".utf8) else {
      return (
        "its first line does not name its interpreter", "begin it with a line such as #!/usr/bin/env python3"
      )
    }
    let line = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    let interpreter =
      String(decoding: line, as: UTF8.self).split(separator: " ").first.map { String($0) } ?? ""
    guard access(interpreter, X_OK) != 0 else { return nil }
    let hint = interpreter.utf8.last == UInt8(ascii: "\r") ? "its lines end with CR LF: write LF" : nil
    return ("its interpreter \(interpreter.filter { $0 != "\r" }) cannot be run", hint)
  }

  /// The same for a name that is searched in `$PATH`.
  private static func problem(withName name: String) -> (reason: String, hint: String?)? {
    guard !isInPath(name) else { return nil }
    let isHere = access(name, F_OK) == 0
    return ("not found in $PATH", isHere ? "write ./\(name)" : nil)
  }

  /// Whether `$PATH` has a program with a name.
  package static func isInPath(_ name: String) -> Bool {
    let path = EnvironmentVariables.value("PATH") ?? "/usr/bin:/bin"
    return path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  private static let elf: [UInt8] = [0x7f, 0x45, 0x4c, 0x46]

  /// The first bytes of a regular file; nil for anything else, with the reason in `errno`.
  private static func beginning(of path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let file = FileFacts(descriptor) else { return nil }
    guard file.isRegular else {
      errno = file.isDirectory ? EISDIR : EINVAL
      return nil
    }
    return try? FileContents.readPiece(descriptor, limitBytes: 4096)
  }

  /// Whether a file in the format of programs and shared objects is a program: it has a fixed address, or names its loader.
  private static func isELFProgram(_ bytes: [UInt8]) -> Bool {
    func number(_ offset: Int, _ size: Int) -> Int {
      guard offset >= 0, offset <= bytes.count - size else { return 0 }
      return bytes[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let (fixedAddress, namesLoader) = (2, 3)
    if number(16, 2) == fixedAddress { return true }
    let (start, size, count) = (number(32, 4), number(54, 2), number(56, 2))
    return (0..<count).contains { number(start + $0 * size, 4) == namesLoader }
  }
}
