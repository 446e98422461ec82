import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram

@testable import RPCurlEngine

/// The folder of a project and a file, of this run alone, in a directory that only the user can write, as the trust in
/// configuration files requires.
private let folder: String = {
  let path = ".build/fuzz/configuration-\(getpid())"
  mkdir(path, 0o700)
  atexit { rmdir(folder) }
  guard let found = FileContents.canonicalPath(path) else { fatalError("the folder exists") }
  return found
}()
private let path = "\(folder)/\(ProjectFile.name)"

private func read(_ start: UnsafePointer<UInt8>, _ count: Int) -> (ConfigurationFile?, ProjectFile?) {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  precondition(descriptor >= 0 && write(descriptor, start, count) == count)
  close(descriptor)
  defer { unlink(path) }
  return (try? ConfigurationFile(path, isDemanded: true), try? ProjectFile(in: folder))
}

/// Reads configuration files and project files.
func fuzzConfiguration(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let (configuration, project) = read(start, count)
  guard let project else { fatalError("each file can be read") }
  guard let file = configuration else {
    precondition(count > 0, "an empty file is trusted and valid")
    return 0
  }
  for profile in [nil] + file.profileNames.map(Optional.some) {
    let lines = file.lines(profile: profile)
    precondition((lines.own != nil) == (profile != nil), "a profile of the file is found")
    for line in lines.common + (lines.own ?? []) {
      precondition(
        line.number > 0 && !line.name.isEmpty && line.value != "", "an option, and at most a value")
    }
    var invocation = Parser.parse(["http://host", "pkg.Service/Method"])
    invocation.configure([
      ConfigurationLayer(path: path, profile: nil, lines: lines.common),
      ConfigurationLayer(path: path, profile: profile, lines: lines.own ?? []),
    ])
    for argument in invocation.arguments { precondition(argument.origin.place != nil, "it is of the file") }
  }
  for line in file.allLines {
    checkTrust(of: line, project)
    checkSecrets(of: line.value ?? "")
  }
  _ = try? project.linesThatNeedTrust()
  return 0
}

/// What needs no trust does not need it after its paths are rewritten, and rewriting has an end.
private func checkTrust(of line: ConfigurationLine, _ project: ProjectFile) {
  let trusted = ProjectLines(file: project, standing: .trusted, command: .call)
  let unknown = ProjectLines(file: project, standing: .unknown, command: .call)
  let changed = ProjectLines(file: project, standing: .changed, command: .call)
  guard let resolved = try? trusted.resolved([line]) else { fatalError("a trusted line is not refused") }
  precondition((try? trusted.resolved(resolved)) == resolved, "an absolute path is kept")
  let harmless = try? unknown.resolved([line])
  precondition((harmless == nil) == unknown.needsTrust(line), "a line that needs trust is refused")
  precondition((try? changed.resolved([line])) == harmless, "a file that changed is not trusted")
  precondition(harmless.map { $0 == resolved } ?? true, "trust does not change a path")
  precondition(harmless.map { !unknown.needsTrust($0[0]) } ?? true, "a path of the project stays in it")
}

/// The settings of an interceptor are found, and a replaced one does not become two.
private func checkSecrets(of text: String) {
  let parts = SettingScanner.split(text)
  precondition(parts.joined(separator: ",") == text, "the parts are the whole")
  let replaced = SecretNames.standard.replacingSecrets(ofInterceptor: text) { _, _, _ in "…" }
  precondition(SettingScanner.split(replaced).count == parts.count, "the number of settings is kept")
  let entry = ChainArguments.Entry.builtIn(text)
  precondition(
    entry.settings(WrittenSecrets(showsSecrets: true, separates: false)).unicodeScalars.count
      == text.unicodeScalars.drop { $0 != "," }.count, "only the name is missing")
}
