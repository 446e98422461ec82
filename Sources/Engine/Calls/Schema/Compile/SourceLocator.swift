import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

/// Where the files are that sources import: in given directories, or in those that the files themselves imply. No `-I` is needed if
/// the folders have the names of the package, or if an import is found from a directory above the file that contains it.
struct SourceLocator {
  /// Where the file of a name is.
  enum Place: Equatable {
    case file(String)
    /// The program has it.
    case builtIn
    /// It is the file of another name.
    case alias(of: String)
  }

  /// An import that no directory has.
  struct Missing: Equatable {
    let name: String
    /// The absolute path of the file with the import.
    let importer: String
  }

  /// Folders in which copies of imports are, beside the sources of a project.
  private static let vendored = ["vendor", "third_party", "third_party/googleapis", "proto", "protos"]
  /// How far above a file copies and Go modules are searched, outside of a git repository.
  private static let levelLimit = 3

  /// The directories: given ones in their order, and then the others, inner ones before those that contain them.
  private(set) var roots: [ImportRoot]
  /// The names of the given files, in order.
  private(set) var names: [String] = []
  /// The places of all names that were found.
  private(set) var places: [String: Place] = [:]
  /// The imports that were not found.
  private(set) var missing: [Missing] = []

  private let sources: SourceCache
  private let builtIn: BuiltInFiles
  private let working: String
  private let givenCount: Int
  /// The directories that only the packages of files imply, not an import.
  private var implied: Set<String> = []
  /// The first name of each file.
  private var nameOfFile: [String: String] = [:]
  private var named: Set<String> = []

  /// Locates files and everything that they import.
  ///
  /// - Parameters:
  ///   - files: The files.
  ///   - roots: The given directories, which are searched first.
  ///   - working: The working directory, which is searched last.
  ///   - sources: The contents of files.
  ///   - builtIn: The files of the program.
  /// - Throws: `Failure` if a file cannot be read, or if two files have one name.
  init(
    _ files: [SourceFiles.File], roots: [ImportRoot], in working: String, _ sources: SourceCache,
    _ builtIn: BuiltInFiles
  ) throws(Failure) {
    self.roots = roots
    self.sources = sources
    self.builtIn = builtIn
    self.working = working
    givenCount = roots.count
    for file in files {
      let outline = try sources.outline(file.path)
      // A directory that was given decides about its files.
      guard !roots.contains(where: { DirectoryPath.isInside(file.path, $0.directory) }),
        let directory = DirectoryPath.parent(file.path),
        let root = Self.root(of: directory, package: outline.package)
      else { continue }
      add(ImportRoot(root))
      implied.insert(root)
    }
    let imported = try locateImports(of: files)
    // If imports name the files from a directory above, as with Bazel, all must have such names.
    self.roots.removeAll { root in
      implied.contains(root.directory)
        && imported.contains {
          DirectoryPath.isInside(root.directory, $0.root) && DirectoryPath.isInside($0.path, root.directory)
        }
    }
    for file in files { try addName(of: file) }
  }

  // MARK: Names

  private mutating func addName(of file: SourceFiles.File) throws(Failure) {
    guard let identity = sources.tree.status(file.path)?.identity else { return }
    var (name, path) = (nameOfFile[identity.key] ?? "", file.path)
    if name.isEmpty { (name, path) = try self.name(of: file, identity) }
    nameOfFile[identity.key] = name
    if places[name] == nil { places[name] = .file(path) }
    if named.insert(name).inserted { names.append(name) }
  }

  /// The name that no import gives to a file, and the file of this name: it, or a copy of it.
  private mutating func name(
    of file: SourceFiles.File, _ identity: FileFacts.Identity
  ) throws(Failure) -> (name: String, path: String) {
    if !roots.contains(where: { $0.name(of: file.path) != nil }) { add(ImportRoot(file.base)) }
    let candidates = roots.compactMap { $0.name(of: file.path) }
    let own = candidates.first { name in
      self.file(named: name).flatMap { sources.tree.status($0)?.identity } == identity
    }
    guard own == nil, let name = candidates.first, let other = self.file(named: name) else {
      return (own ?? candidates.first ?? file.path, file.path)
    }
    // Copies of a file are in several folders of some projects.
    guard try sources.contents(other) == sources.contents(file.path) else {
      throw Failure(
        .schema, file.path, "has the name \(name), as \(other) has",
        hint: "name one of them, or use -I DIR, the directory in which their names begin")
    }
    return (name, other)
  }

  /// The first file of a name.
  private func file(named name: String) -> String? {
    for root in roots {
      if let path = root.path(of: name), sources.tree.isFile(path) { return path }
    }
    return nil
  }

  private mutating func add(_ root: ImportRoot) {
    guard !roots.contains(root) else { return }
    let outer = roots[givenCount...].firstIndex { DirectoryPath.isInside(root.directory, $0.directory) }
    roots.insert(root, at: outer ?? roots.endIndex)
  }

  /// The directory that contains the folders of the package: `/x` for `/x/demo/v1` and `demo.v1`.
  private static func root(of directory: String, package: String) -> String? {
    guard !package.isEmpty else { return nil }
    let end = "/" + String(package.map { $0 == "." ? "/" : $0 })
    guard directory.hasSuffix(end) else { return nil }
    return directory.count == end.count ? "/" : String(directory.dropLast(end.count))
  }

  // MARK: Imports

  /// Locates the imports of files, and those of the imports. Returns the given ones among them, with the directories in which
  /// their names begin.
  private mutating func locateImports(
    of files: [SourceFiles.File]
  ) throws(Failure) -> [(root: String, path: String)] {
    let given = Set(files.map(\.path))
    var pending = Array(files.map(\.path).reversed())
    var seen: Set<String> = []
    var absent: Set<String> = []
    var imported: [(root: String, path: String)] = []
    while let file = pending.popLast() {
      guard seen.insert(file).inserted else { continue }
      for name in try sources.outline(file).imports where places[name] == nil && !absent.contains(name) {
        if let (root, path) = find(name, from: file), let identity = sources.tree.status(path)?.identity {
          if let other = nameOfFile[identity.key] {
            places[name] = .alias(of: other)
            continue
          }
          nameOfFile[identity.key] = name
          places[name] = .file(path)
          implied.remove(root.directory)
          if given.contains(path) { imported.append((root.directory, path)) }
          pending.append(path)
        } else if builtIn.descriptor(name) != nil {
          places[name] = .builtIn
        } else if let other = builtIn.similar(to: name) {
          places[name] = .alias(of: other)
        } else {
          absent.insert(name)
          missing.append(Missing(name: name, importer: file))
        }
      }
    }
    return imported
  }

  /// The directory and the path of an import.
  private mutating func find(_ name: String, from file: String) -> (root: ImportRoot, path: String)? {
    for root in roots {
      if let path = root.path(of: name), sources.tree.isFile(path) { return (root, path) }
    }
    // Copies of these that the project does not name belong to other programs.
    guard !name.hasPrefix("google/protobuf/") else { return nil }
    let above = Array(DirectoryPath.ancestors(file).dropFirst())
    for directory in above + [working] {
      if let found = use(ImportRoot(directory), name) { return found }
    }
    for directory in project(above) {
      for folder in Self.vendored {
        if let found = use(ImportRoot(DirectoryPath.join(directory, folder)), name) { return found }
      }
    }
    return findInGoModule(name, project(above))
  }

  /// Adds a directory if it has the file of an import.
  private mutating func use(_ root: ImportRoot, _ name: String) -> (root: ImportRoot, path: String)? {
    guard let path = root.path(of: name), sources.tree.isFile(path) else { return nil }
    add(root)
    return (root, path)
  }

  /// The directories above a file that are likely to belong to the same project.
  private func project(_ above: [String]) -> ArraySlice<String> {
    let root = above.firstIndex { sources.tree.status(DirectoryPath.join($0, ".git")) != nil }
    return root.map { above[...$0] } ?? above.prefix(Self.levelLimit)
  }

  /// Finds `github.com/acme/shop/api/x.proto` as `api/x.proto` in a directory of the project: first in one with the name of the last
  /// folder that is omitted. Without such a name, a file alone is too little: many files have the same.
  private mutating func findInGoModule(
    _ name: String, _ directories: ArraySlice<String>
  ) -> (root: ImportRoot, path: String)? {
    let parts = name.split(separator: Character("/"))
    guard parts.count > 2, !parts.contains("..") else { return nil }
    var found: (root: ImportRoot, path: String)?
    for count in 1..<parts.count {
      for directory in directories {
        let root = ImportRoot(directory, prefix: parts[..<count].joined(separator: "/"))
        guard let path = root.path(of: name), sources.tree.isFile(path) else { continue }
        if directory.hasSuffix("/\(parts[count - 1])") {
          add(root)
          return (root, path)
        }
        if found == nil, parts.count - count > 1 { found = (root, path) }
      }
    }
    if let found { add(found.root) }
    return found
  }

  // MARK: Sources

  /// The place of a name; nil if it is nowhere. Built-in files import others that no source names.
  func place(_ name: String) -> Place? {
    if let place = places[name] { return place }
    if let path = file(named: name) { return .file(path) }
    return builtIn.descriptor(name) == nil ? nil : .builtIn
  }
}

/// The contents of sources, each read once.
final class SourceCache {
  let tree: FileTree
  private var read: [String: (contents: [UInt8], outline: ProtoOutline)] = [:]

  init(_ tree: FileTree) { self.tree = tree }

  func contents(_ path: String) throws(Failure) -> [UInt8] { try source(path).contents }

  /// The contents of a source that is not needed again.
  func take(_ path: String) throws(Failure) -> [UInt8] {
    let contents = try contents(path)
    if tree.isFile(path) { read[path] = nil }
    return contents
  }

  func outline(_ path: String) throws(Failure) -> ProtoOutline { try source(path).outline }

  private func source(_ path: String) throws(Failure) -> (contents: [UInt8], outline: ProtoOutline) {
    if let known = read[path] { return known }
    do throws(SystemError) {
      let contents = try tree.read(path)
      let source = (contents, ProtoOutline(contents))
      read[path] = source
      return source
    } catch {
      throw Failure(.schema, path, error)
    }
  }
}
