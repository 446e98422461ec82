import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The lines of a project file: their relative paths are those of the project folder, and what needs trust is refused.
struct ProjectLines {
  let file: ProjectFile
  let standing: ProjectFile.Standing
  /// The command that reads the lines.
  let command: CommandID

  /// The lines with absolute paths.
  ///
  /// - Throws: `Failure` if the file is not trusted and a line needs trust.
  func resolved(_ lines: [ConfigurationLine]) throws(Failure) -> [ConfigurationLine] {
    var resolved: [ConfigurationLine] = []
    for line in lines {
      if standing != .trusted, needsTrust(line) { throw refusal(of: line) }
      resolved.append(ConfigurationLine(number: line.number, name: line.name, value: value(of: line)))
    }
    return resolved
  }

  private func refusal(of line: ConfigurationLine) -> Failure {
    // The value may be a secret, so the error does not contain it.
    let state = standing == .changed ? "the file changed after it was trusted" : "the file is not trusted"
    return Failure(
      .usage, Origin.file(path: file.path, line: line.number, profile: nil).place ?? file.path,
      "\(line.name): \(state), and this setting needs trust",
      hint: "read the file, then run \"rpcurl trust\"")
  }

  // MARK: What needs trust

  /// Whether a line needs trust. An option that does not exist, or that no file can have, is reported later.
  func needsTrust(_ line: ConfigurationLine) -> Bool {
    let value = line.value ?? ""
    if line.name == "target" {
      return Target.isSocket(value) && !(value.hasPrefix("unix:") && isInside(String(value.dropFirst(5))))
    }
    guard let option = line.option(command), option.isConfigurable else { return false }
    switch option.trust {
    case .harmless: return false
    case .projectPath:
      // A value of -I has several directories with colons, and VIRTUAL=DIR, also if the folder of the file has such a name.
      if option.id == .importPath, file.directory.contains(where: { "=:".contains($0) }) { return true }
      return !Self.parts(value, of: option).allSatisfy { isInside($0.path) && isInside($0.prefix + $0.path) }
    case .header: return !Self.isHarmlessHeader(value)
    case .effects, .interceptor, .credentials: return true
    }
  }

  /// Whether a header is literal and not a credential. `${` would be replaced with `--expand`.
  private static func isHarmlessHeader(_ text: String) -> Bool {
    guard !text.begins(with: "@"), !text.contains("${"), case (let name, _?) = text.parted(at: ":") else {
      return false
    }
    let lowercased = name.lowercased()
    return !SecretNames.standard.contains(lowercased) && lowercased != "host"
      && !lowercased.hasPrefix("proxy-")
  }

  /// Whether a path, relative to the project folder, is in it after links are resolved. Of a path that does not exist,
  /// its last directory that exists must be in the folder.
  private func isInside(_ path: String) -> Bool {
    guard path != "-" else { return false }
    var existing = absolute(path)
    while true {
      if let found = FileContents.canonicalPath(existing) {
        return found == file.directory
          || found.hasPrefix(file.directory == "/" ? "/" : "\(file.directory)/")
      }
      guard errno == ENOENT || errno == ENOTDIR, let slash = existing.lastIndex(of: "/"),
        existing[slash...] != "/..", FileFacts(link: existing) == nil
      else { return false }
      existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
    }
  }

  /// The paths of a value. Those of `-I` are separated by colons, and may have a prefix: `VIRTUAL=`.
  private static func parts(_ value: String, of option: Option) -> [(prefix: String, path: String)] {
    guard option.id == .importPath else { return [("", value)] }
    return value.split(separator: ":").map { part in
      guard let equals = part.firstIndex(of: "=") else { return ("", String(part)) }
      let start = part.index(after: equals)
      return (String(part[..<start]), String(part[start...]))
    }
  }

  // MARK: Paths

  private func value(of line: ConfigurationLine) -> String? {
    guard let value = line.value else { return nil }
    if line.name == "target" {
      return value.hasPrefix("unix:") ? "unix:\(absolute(String(value.dropFirst(5))))" : value
    }
    guard let option = line.option(command) else { return value }
    switch option.pathForm {
    case .none: return value
    case .whole where option.id == .proto:
      // Other names are searched in the directories of -I.
      let path = absolute(value)
      return access(path, F_OK) == 0 || SourceFiles.isPattern(value) ? path : value
    case .whole where option.id == .importPath:
      return Self.parts(value, of: option).map { $0.prefix + absolute($0.path) }.joined(separator: ":")
    case .whole: return value == "-" ? value : absolute(value)
    case .afterAt: return afterAt(value)
    case .interceptor: return interceptor(value, isPlugin: option.id == .plugin)
    case .command: return command(value)
    }
  }

  /// A command with the absolute path of its program, if that is a relative path. Its arguments stay as they are.
  private func command(_ text: String) -> String {
    guard var words = try? CommandWords.split(text), words[0].contains("/"), !words[0].begins(with: "/")
    else {
      return text
    }
    words[0] = absolute(words[0])
    return words.map { ShellText($0).quoted }.joined(separator: " ")
  }

  /// `@FILE`; `@` and `@-` are standard input, and `@@` is an escape in settings.
  private func afterAt(_ value: String) -> String {
    guard value.begins(with: "@"), value != "@", value != "@-", !value.begins(with: "@@") else {
      return value
    }
    return "@\(absolute(String(value.unicodeScalars.dropFirst())))"
  }

  private func interceptor(_ value: String, isPlugin: Bool) -> String {
    var parts = SettingScanner.split(value)
    if isPlugin, parts[0].contains("/") {
      let isOptional = parts[0].begins(with: "?")
      parts[0] = (isOptional ? "?" : "") + absoluteQuoted(String(parts[0].dropFirst(isOptional ? 1 : 0)))
    }
    let keys = isPlugin ? [] : BuiltIns.all.first { $0.name == parts[0] }?.keys ?? []
    for index in parts.indices.dropFirst() {
      guard case (let key, let text?) = parts[index].parted(at: "=") else { continue }
      parts[index] = "\(key)=\(setting(String(text), keys.first { $0.name == key }))"
    }
    return parts.joined(separator: ",")
  }

  /// The value of a setting, as written: `@FILE`, `FILE` if that is the form of the key, or `NAME:@FILE`.
  private func setting(_ text: String, _ key: BuiltIns.Key?) -> String {
    if WholeValue.isElsewhere(text) {
      let plain = afterAt(unquoted(text))
      return plain == unquoted(text) ? text : quoted(plain)
    }
    guard let key else { return text }
    if key.isCommand, let written = try? SettingScanner.value(text) {
      return SettingScanner.inQuotes(command(written))
    }
    if key.namesFile {
      let path = text.begins(with: "'") ? (try? SettingScanner.value(text)).map(quoted) ?? text : text
      return path == "-" ? path : absoluteQuoted(path)
    }
    guard key.hasNamedValue, case (let name, let value?) = text.parted(at: ":") else { return text }
    return "\(name):\(setting(String(value), nil))"
  }

  /// The absolute path of one whose commas are doubled, with doubled commas.
  private func absoluteQuoted(_ path: String) -> String { quoted(absolute(unquoted(path))) }

  private func quoted(_ text: String) -> String { text.replacing(",", with: ",,") }
  private func unquoted(_ text: String) -> String { text.replacing(",,", with: ",") }

  private func absolute(_ path: String) -> String {
    if path.begins(with: "/") { return path }
    let rest = path.begins(with: "./") ? String(path.dropFirst(2)) : path
    return file.directory == "/" ? "/\(rest)" : "\(file.directory)/\(rest)"
  }
}
