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
  /// Receives the path of each entry that leads nowhere.
  var isDangling: (String) -> Void = { _ in }

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
    // Names above the argument are no patterns.
    let parts = argument.split(separator: Character("/"), omittingEmptySubsequences: false).map(String.init)
    let fixed = parts.prefix { !Self.isPattern($0) }
    let start = DirectoryPath.absolute((fixed + [""]).joined(separator: "/"), in: working)
    let pattern = parts[fixed.count...].filter { !["", "."].contains($0) }
    let found = tree.isDirectory(start) ? try below(start, pattern[...]) : []
    guard !found.isEmpty else { throw Failure(.schema, argument, "matches no .proto file") }
    return found.map(file)
  }

  private func file(_ path: String) -> File {
    let own = DirectoryPath.isInside(path, working) ? working : DirectoryPath.parent(path) ?? "/"
    return File(path: path, base: base ?? own)
  }

  static func isPattern(_ text: String) -> Bool { text.contains { "*?[".contains($0) } }

  /// A search for the files below a directory.
  private struct Search {
    /// A directory, with the rest of a pattern.
    struct Step {
      let directory: String
      let pattern: ArraySlice<String>
      let depth: Int
    }

    var found: Set<String> = []
    /// The entries that lead nowhere.
    var dangling: Set<String> = []
    /// Symbolic links to directories, which are searched last: the names of files are rather those without links.
    var links: [Step] = []
    /// The directories that were searched, each with the length of the rest of a pattern.
    private var searched: Set<String> = []

    /// Returns whether a directory is searched the first time: a link may lead to one above it.
    mutating func begins(_ step: Step, _ identity: FileFacts.Identity) -> Bool {
      searched.insert("\(identity.key) \(step.pattern.count)").inserted
    }
  }

  /// The files below a directory that match a pattern.
  private func below(_ directory: String, _ pattern: ArraySlice<String>) throws(Failure) -> [String] {
    var search = Search()
    var steps = [Search.Step(directory: directory, pattern: pattern, depth: 0)]
    while !steps.isEmpty {
      for step in steps { try enter(step, &search) }
      steps = search.links
      search.links = []
    }
    search.dangling.sorted().forEach(isDangling)
    guard search.found.count <= Self.fileLimit else {
      throw Failure(
        .schema, directory, "more than \(Self.fileLimit) .proto files",
        hint: "name a descriptor set, or a directory in it")
    }
    return search.found.sorted()
  }

  /// Searches a directory with the parts of a pattern: `**` stands for any number of directories.
  private func enter(_ step: Search.Step, _ search: inout Search) throws(Failure) {
    let (directory, pattern, depth) = (step.directory, step.pattern, step.depth)
    guard let part = pattern.first, search.found.count <= Self.fileLimit, !excluded.contains(directory),
      let status = tree.status(directory), status.kind == .directory, search.begins(step, status.identity)
    else { return }
    guard depth < Self.depthLimit else {
      throw Failure(.schema, directory, "more than \(Self.depthLimit) directories within each other")
    }
    let rest = pattern.dropFirst()
    if part == "**" { try enter(Search.Step(directory: directory, pattern: rest, depth: depth), &search) }
    for entry in try entries(directory) {
      let path = DirectoryPath.join(directory, entry.name)
      let isMatch = part == "**" ? !Self.isIgnored(entry.name) : Self.matches(entry.name, part)
      let isSource = part != "**" && rest.isEmpty
      guard isMatch, isSource ? entry.name.hasSuffix(Self.suffix) : entry.mayBeDirectory else { continue }
      guard entry.isUTF8 else { throw Failure(.schema, path, "the name is not UTF-8") }
      if entry.isLink, tree.status(path) == nil {
        search.dangling.insert(path)
      } else if isSource {
        if tree.isFile(path) { search.found.insert(path) }
      } else {
        let inner = Search.Step(
          directory: path, pattern: part == "**" ? pattern : rest, depth: depth + 1)
        if entry.isLink { search.links.append(inner) } else { try enter(inner, &search) }
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
