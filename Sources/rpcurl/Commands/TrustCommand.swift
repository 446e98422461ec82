import RPCurlBase
import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols

/// `rpcurl trust`: records that the user trusts a project file with its current contents.
struct TrustCommand {
  private let path: String?
  private let lists: Bool
  private let revokes: Bool

  init(_ invocation: Invocation) {
    path = invocation.positionals.first?.text
    lists = invocation.has(.listTrusted)
    revokes = invocation.has(.revoke)
  }

  func run(on output: StandardOutput) throws(Failure) {
    guard !lists || !revokes && path == nil else {
      throw Failure(.usage, "--list", "cannot be combined with --revoke or a path")
    }
    guard let store = TrustStore(environment: EnvironmentVariables.value) else {
      throw Failure(.usage, "rpcurl trust", "neither XDG_STATE_HOME nor HOME is an absolute path")
    }
    let lines = try lists ? listed(store) : revokes ? revoked(store) : trusted(store)
    output.print(lines.map { "\(TerminalText.escape($0))\n" }.joined())
  }

  private func trusted(_ store: TrustStore) throws(Failure) -> [String] {
    let file = try ProjectFile(in: directory(), isOptional: false)
    let lines = try file.linesThatNeedTrust()
    do throws(SystemError) {
      try store.trust(file.path, contents: file.contents)
    } catch {
      throw Failure(.usage, "", error)
    }
    // Values may be secrets.
    return ["trusted: \(file.path)"] + lines.map { "line \($0.number): \($0.name)" }
  }

  private func revoked(_ store: TrustStore) throws(Failure) -> [String] {
    let file = ProjectFile.path(in: try directory(isRequired: false))
    let isRevoked: Bool
    do throws(SystemError) { isRevoked = try store.revoke(file) } catch { throw Failure(.usage, "", error) }
    guard isRevoked else {
      throw Failure(.usage, file, "not a trusted file", hint: "rpcurl trust --list lists them")
    }
    return ["not trusted: \(file)"]
  }

  private func listed(_ store: TrustStore) throws(Failure) -> [String] {
    let entries: [TrustStore.Entry]
    do throws(SystemError) { entries = try store.entries() } catch { throw Failure(.usage, "", error) }
    return entries.map { entry in
      let directory = String(entry.path.dropLast(ProjectFile.name.count + 1))
      guard let file = try? ProjectFile(in: directory.isEmpty ? "/" : directory) else {
        return "missing  \(entry.path)"
      }
      return (file.digest == entry.digest ? "trusted  " : "changed  ") + entry.path
    }
  }

  /// The directory of the file: that of the argument, or of the project file of the working directory.
  ///
  /// - Parameter isRequired: Whether the file must exist.
  private func directory(isRequired: Bool = true) throws(Failure) -> String {
    guard let path else {
      let working = FileContents.workingDirectory
      let found = working.flatMap {
        ProjectFile.directory(from: $0, home: EnvironmentVariables.value("HOME"))
      }
      guard let found = found ?? (isRequired ? nil : working) else {
        throw Failure(
          .usage, ProjectFile.name,
          "no project file in this directory or above it, up to the repository's root",
          hint: "rpcurl trust PATH")
      }
      return found
    }
    var directory = path
    if path == ProjectFile.name {
      directory = "."
    } else if path.hasSuffix("/\(ProjectFile.name)") {
      directory = String(path.dropLast(ProjectFile.name.count))
    }
    if let canonical = FileContents.canonicalPath(directory) { return canonical }
    // The trust in a file that was removed with its directory can be revoked.
    guard !isRequired, directory.hasPrefix("/") else {
      throw Failure(.usage, path, FileContents.lastError())
    }
    return directory.hasSuffix("/") ? String(directory.dropLast()) : directory
  }
}
