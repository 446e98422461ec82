import RPCurlPlatform
import RPCurlProgram

/// The files that an argument of `--proto` names: a file, all files of a directory, or those that match a pattern.
struct SourceFiles {
  /// A file, and the directory after which it is named if nothing else gives it a name.
  struct File: Equatable {
    let path: String
    let base: String
  }

  private static let suffix = ".proto"
  /// The largest number of files.
  private static let fileLimit = 20_000
  /// The largest number of directories within each other.
  private static let depthLimit = 64

  let tree: FileTree
  /// The working directory.
  let working: String
  /// The directory after which files are named; nil for the working directory, or that of a file outside of it.
  var base: String?
  /// The directories in which names of files are searched too.
  let roots: [ImportRoot]
  /// Directories whose files are not part of a module.
  let excluded: [String]

  /// The files of an argument, in the order of their names; nil if there is nothing with this name.
  func find(_ argument: String) throws(Failure) -> [File]? {
    guard !argument.isEmpty else {
      throw Failure(
        .schema, "--proto \"\"", "names no file", hint: "--proto . means all files below this directory")
    }
    let path = argument == "-" ? "/dev/stdin" : DirectoryPath.absolute(argument, in: working)
    switch tree.status(path)?.kind {
    case .file, .stream: return [file(path)]
    case .directory:
      let found = try below(path, ["**", "*\(Self.suffix)"])
      guard !found.isEmpty else { throw Failure(.schema, argument, "a directory without .proto files") }
      return found.map { File(path: $0, base: path) }
    case nil: break
    }
    for root in roots {
      if let path = root.path(of: argument), tree.isFile(path) {
        return [File(path: path, base: root.directory)]
      }
    }
    guard Self.isPattern(argument) else { return nil }
    let parts = path.split(separator: Character("/")).map(String.init)
    let fixed = parts.prefix { !Self.isPattern($0) }
    let start = "/" + fixed.joined(separator: "/")
    let found = tree.isDirectory(start) ? try below(start, parts[fixed.count...]) : []
    guard !found.isEmpty else { throw Failure(.schema, argument, "matches no .proto file") }
    return found.map(file)
  }

  private func file(_ path: String) -> File {
    let own = DirectoryPath.isInside(path, working) ? working : DirectoryPath.parent(path) ?? "/"
    return File(path: path, base: base ?? own)
  }

  static func isPattern(_ text: String) -> Bool { text.contains { "*?[".contains($0) } }

  /// The files below a directory that match a pattern.
  private func below(_ directory: String, _ pattern: ArraySlice<String>) throws(Failure) -> [String] {
    var found: Set<String> = []
    try search(directory, pattern, depth: 0, into: &found)
    guard found.count <= Self.fileLimit else {
      throw Failure(
        .schema, directory, "more than \(Self.fileLimit) .proto files",
        hint: "name a descriptor set, or a directory in it")
    }
    return found.sorted()
  }

  /// Searches with the parts of a pattern: `**` stands for any number of directories.
  private func search(
    _ directory: String, _ pattern: ArraySlice<String>, depth: Int, into found: inout Set<String>
  ) throws(Failure) {
    guard let part = pattern.first, found.count <= Self.fileLimit, !excluded.contains(directory) else {
      return
    }
    guard depth < Self.depthLimit else {
      throw Failure(.schema, directory, "more than \(Self.depthLimit) directories within each other")
    }
    let rest = pattern.dropFirst()
    if part == "**" { try search(directory, rest, depth: depth, into: &found) }
    for entry in try entries(directory) {
      let path = DirectoryPath.join(directory, entry.name)
      let isMatch = part == "**" ? !Self.isIgnored(entry.name) : Self.matches(entry.name, part)
      guard isMatch, entry.mayBeDirectory || rest.isEmpty && entry.name.hasSuffix(Self.suffix) else {
        continue
      }
      guard entry.isUTF8 else { throw Failure(.schema, path, "the name is not UTF-8") }
      if part == "**" {
        if tree.isDirectory(path) { try search(path, pattern, depth: depth + 1, into: &found) }
      } else if rest.isEmpty {
        if entry.name.hasSuffix(Self.suffix), tree.isFile(path) { found.insert(path) }
      } else if tree.isDirectory(path) {
        try search(path, rest, depth: depth + 1, into: &found)
      }
    }
  }

  private func entries(_ directory: String) throws(Failure) -> [Directory.Entry] {
    do {
      return try tree.entries(directory)
    } catch {
      throw Failure(.schema, directory, error)
    }
  }

  /// Whether `**` does not stand for a directory: a hidden one, or one of packages.
  private static func isIgnored(_ name: String) -> Bool { name.hasPrefix(".") || name == "node_modules" }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    fnmatch(pattern, name, FNM_PERIOD | FNM_NOESCAPE) == 0
  }
}
