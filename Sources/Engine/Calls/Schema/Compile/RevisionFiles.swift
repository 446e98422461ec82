import RPCurlBase
import RPCurlPlatform

/// The sources of a revision of a repository, at their paths in the working tree.
struct RevisionFiles {
  /// The most symbolic links of a path, as Linux has it.
  private static let linkLimit = 40

  let repository: GitRepository
  /// The contents of sources by absolute paths.
  var sources: [String: [UInt8]] = [:]
  /// The targets of symbolic links by absolute paths.
  var links: [String: String] = [:]
  /// The absolute paths of submodules, whose files are in other repositories.
  var submodules: Set<String> = []

  init(_ repository: GitRepository) {
    self.repository = repository
  }

  /// Whether a file with this name is needed: a source, or a file of buf.
  static func isSource(_ name: String) -> Bool {
    name.hasSuffix(".proto") || ["buf.yaml", "buf.work.yaml"].contains(name)
  }

  /// A path of the repository without the symbolic links of the revision; nil if one leads out of the repository.
  private func resolved(_ path: String) -> String? {
    guard !links.isEmpty else { return path }
    let top = repository.top
    func parts(_ path: some StringProtocol) -> [Substring] {
      path[...].split(separator: Character("/")).reversed().map { Substring($0) }
    }
    var place = top
    var rest = parts(DirectoryPath.shown(path, in: top))
    var steps = 0
    while let part = rest.popLast() {
      if part == "." { continue }
      if part == ".." {
        guard place != top, let parent = DirectoryPath.parent(place) else { return nil }
        place = parent
        continue
      }
      let next = DirectoryPath.join(place, String(part))
      guard let target = links[next] else {
        place = next
        continue
      }
      steps += 1
      guard steps <= Self.linkLimit, !target.hasPrefix("/") else { return nil }
      rest += parts(target)
    }
    return place
  }

  /// The sources instead of the files of the working tree, and the files of another tree outside of the repository.
  func tree(_ outer: FileTree) -> FileTree {
    let top = repository.top
    var statuses: [String: FileTree.Status] = [:]
    var lists: [String: [Directory.Entry]] = [:]
    func add(_ path: String, _ entry: (String) -> Directory.Entry) {
      guard path != top, let parent = DirectoryPath.parent(path) else { return }
      lists[parent, default: []].append(entry(String(path.dropFirst(DirectoryPath.join(parent, "").count))))
      guard parent != top, statuses[parent] == nil else { return }
      statuses[parent] = status(.directory)
      add(parent) { Directory.Entry(name: $0, mayBeDirectory: true) }
    }
    func status(_ kind: FileTree.Kind) -> FileTree.Status {
      let identity = FileFacts.Identity(device: .max, number: UInt64(statuses.count))
      return FileTree.Status(kind: kind, identity: identity)
    }
    for path in sources.keys.sorted() {
      statuses[path] = status(.file)
      add(path) { Directory.Entry(name: $0, mayBeDirectory: false) }
    }
    // What they contain is not in this repository: entries without a status.
    for path in submodules.sorted() {
      add(path) { Directory.Entry(name: $0, mayBeDirectory: true, isLink: true) }
    }
    for path in links.keys.sorted() where isPart(path, statuses) {
      add(path) { Directory.Entry(name: $0, mayBeDirectory: true, isLink: true) }
    }
    let (found, entries) = (statuses, lists)
    /// The path in the repository; nil for a path of the other tree.
    func inner(_ path: String) -> String? {
      guard let path = repository.path(path), path != top, path != DirectoryPath.join(top, ".git") else {
        return nil
      }
      return path
    }
    return FileTree(
      status: { path in
        guard let path = inner(path) else { return outer.status(path) }
        return resolved(path).flatMap { $0 == top ? outer.status(top) : found[$0] }
      },
      read: { (path) throws(SystemError) in
        guard let path = inner(path) else { return try outer.read(path) }
        guard let content = resolved(path).flatMap({ sources[$0] }) else {
          throw SystemError("No such file or directory", .missing)
        }
        return content
      },
      entries: { (path) throws(SystemError) in
        guard let path = repository.path(path) else { return try outer.entries(path) }
        return resolved(path).flatMap { entries[$0] } ?? []
      })
  }

  /// Whether a symbolic link is part of the sources, or may be: it leads to one, out of the repository, or into a submodule.
  private func isPart(_ path: String, _ statuses: [String: FileTree.Status]) -> Bool {
    guard let target = resolved(path) else { return true }
    return target == repository.top || statuses[target] != nil
      || submodules.contains { DirectoryPath.isInside(target, $0) } || Self.isSource(path)
  }
}
