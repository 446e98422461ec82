import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

/// The sources in a revision of a git repository, read without a checkout: `git:REVISION`, or `git:REVISION:PATH`.
struct GitRevision {
  private static let prefix = "git:"
  /// The largest number of sources.
  private static let fileLimit = 20_000
  /// The largest size of all sources together, in bytes.
  private static let byteLimit = 256 << 20
  /// Nothing of the repository's own settings runs a program, and nothing is fetched that a partial clone lacks.
  private static let git = [
    "git", "--no-pager", "--no-replace-objects", "-c", "protocol.allow=never", "-c",
    "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
  ]

  /// The argument, for messages.
  let argument: String
  /// The path from the top of the repository; nil for that of the schema that is compared with it.
  let path: String?
  private let revision: String
  /// The revision, as an argument names it.
  var name: String { Self.prefix + revision }

  /// A revision that an argument names; nil for an argument without the prefix.
  ///
  /// - Throws: `Failure` if the argument names no revision, or git would read it as an option.
  init?(_ argument: String) throws(Failure) {
    guard argument.hasPrefix(Self.prefix) else { return nil }
    let parts = argument.dropFirst(Self.prefix.count).split(
      separator: Character(":"), maxSplits: 1, omittingEmptySubsequences: false)
    self.argument = argument
    revision = String(parts[0])
    path = parts.count > 1 ? String(parts[1]) : nil
    let example = "git:main, or git:v1.2:protos for another directory"
    guard !revision.isEmpty, path != "" else {
      throw Failure(.usage, argument, "names no revision and path", hint: "for example \(example)")
    }
    guard !revision.hasPrefix("-"), path?.hasPrefix("-") != true else {
      throw Failure(
        .usage, argument, "a revision and a path cannot begin with \"-\"", hint: "for example \(example)")
    }
  }

  /// A file of the revision.
  private struct Blob {
    /// The absolute path that the file has in the working tree.
    let path: String
    let hash: String
    let sizeBytes: Int
  }

  /// The `.proto` files of the revision, and the files of buf's workspaces, at their paths in the working tree.
  ///
  /// - Parameters:
  ///   - directory: An absolute path in the repository.
  ///   - waitLimit: How long to wait for git; nil for no limit.
  /// - Returns: The files, and the top of the repository.
  /// - Throws: `Failure` if there is no git, no repository or no such revision.
  func files(
    around directory: String, waitLimit: Duration?
  ) throws(Failure) -> (tree: FileTree, top: String) {
    guard let top = DirectoryPath.ancestors(directory).first(where: { DirectoryPath.exists("\($0)/.git") })
    else {
      throw Failure(.schema, argument, "\(directory) is in no git repository")
    }
    let list = try run(
      ["ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", revision], in: top, waitLimit)
    let blobs = try blobs(list, top)
    let hashes = Array(blobs.map { "\($0.hash)\n" }.joined().utf8)
    let contents = try run(["cat-file", "--batch", "--buffer"], in: top, input: hashes, waitLimit)
    let tree = FileTree(files: try split(contents, blobs), in: top, of: .system(waitLimit: waitLimit))
    return (tree, top)
  }

  /// Runs git, and returns what it writes.
  private func run(
    _ arguments: [String], in top: String, input: [UInt8] = [], _ waitLimit: Duration?
  ) throws(Failure) -> [UInt8] {
    let outcome: ChildProcess.Outcome
    let written: [UInt8]
    do {
      (outcome, written) = try Self.output(of: Self.git + ["-C", top] + arguments, input, waitLimit)
    } catch {
      throw Interrupt.failure
        ?? Failure(
          .schema, argument, error.isMissing ? "git is not installed" : "git \(error.reason)",
          hint: error.isMissing ? "install git, or name a directory or a descriptor set" : nil)
    }
    guard outcome.hasSucceeded else {
      let first = outcome.errors.split(separator: "\n").first.map(String.init) ?? "no output"
      throw Failure(
        .schema, argument, "git: \(first.hasPrefix("fatal: ") ? String(first.dropFirst(7)) : first)",
        hint: "\"git log --oneline --all\" lists revisions")
    }
    return written
  }

  /// Runs a program with an input, and returns its output.
  private static func output(
    of arguments: [String], _ input: [UInt8], _ waitLimit: Duration?
  ) throws(SystemError) -> (ChildProcess.Outcome, [UInt8]) {
    let given = try TemporaryFile()
    defer { given.close() }
    let output = try TemporaryFile()
    defer { output.close() }
    try given.write(input)
    let outcome = try ChildProcess.run(
      arguments, input: given.descriptor, output: output.descriptor, waitLimit: waitLimit)
    return (outcome, try output.contents())
  }

  /// The sources in the output of `git ls-tree`: `MODE TYPE HASH SIZE<tab>PATH`, each before a zero.
  private func blobs(_ list: [UInt8], _ top: String) throws(Failure) -> [Blob] {
    var found: [Blob] = []
    var total = 0
    for entry in list.split(separator: 0) {
      guard let tab = entry.firstIndex(of: UInt8(ascii: "\t")) else { continue }
      let facts = entry[..<tab].split(separator: UInt8(ascii: " ")).map {
        String(decoding: $0, as: UTF8.self)
      }
      let parts = entry[(tab + 1)...].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      // 100644 and 100755: links and submodules are no files.
      guard facts.count == 4, facts[0].hasPrefix("100"), let size = Int(facts[3]),
        let name = parts.last.map({ String(decoding: $0, as: UTF8.self) }), Self.isSource(name)
      else { continue }
      let path = parts.map { String(decoding: $0, as: UTF8.self) }
      guard path.allSatisfy({ !["", ".", ".."].contains($0) }) else {
        throw Failure(.schema, argument, "the revision has a file with an impossible path")
      }
      found.append(
        Blob(path: DirectoryPath.join(top, path.joined(separator: "/")), hash: facts[2], sizeBytes: size))
      total += size
      guard found.count <= Self.fileLimit, total <= Self.byteLimit else {
        throw Failure(
          .schema, argument, "the sources of the repository are more than \(Self.fileLimit) files or 256 MiB",
          hint: "name a descriptor set")
      }
    }
    return found
  }

  private static func isSource(_ name: String) -> Bool {
    name.hasSuffix(".proto") || ["buf.yaml", "buf.work.yaml"].contains(name)
  }

  /// The contents in the output of `git cat-file --batch`: `HASH TYPE SIZE`, a newline, the content and a newline for each.
  private func split(_ contents: [UInt8], _ blobs: [Blob]) throws(Failure) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    var rest = contents[...]
    for blob in blobs {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")), rest.endIndex - end - 1 > blob.sizeBytes,
        String(decoding: rest[..<end], as: UTF8.self) == "\(blob.hash) blob \(blob.sizeBytes)"
      else {
        throw Failure(
          .schema, argument, "git has no content of \(blob.path)",
          hint: "the clone may be partial: run \"git fetch\"")
      }
      files[blob.path] = Array(rest[(end + 1)...].prefix(blob.sizeBytes))
      rest = rest[(end + 1)...].dropFirst(blob.sizeBytes + 1)
    }
    return files
  }
}

extension FileTree {
  /// Files of a directory in memory, and those of another tree outside of it.
  ///
  /// - Parameters:
  ///   - files: The contents by absolute paths, all in `top`.
  ///   - top: The directory.
  ///   - outer: What is outside of it, and its `.git`.
  init(files: [String: [UInt8]], in top: String, of outer: FileTree) {
    var nodes: [String: Status] = [:]
    var lists: [String: [Directory.Entry]] = [:]
    for path in files.keys.sorted() {
      var (child, kind) = (path, Kind.file)
      while nodes[child] == nil, child != top, let parent = DirectoryPath.parent(child) {
        nodes[child] = Status(
          kind: kind, identity: FileFacts.Identity(device: .max, number: UInt64(nodes.count)))
        let name = child.dropFirst(DirectoryPath.join(parent, "").count)
        lists[parent, default: []].append(
          Directory.Entry(name: String(name), mayBeDirectory: kind == .directory))
        (child, kind) = (parent, .directory)
      }
    }
    let (statuses, entries) = (nodes, lists)
    func isInside(_ path: String) -> Bool { path != top && DirectoryPath.isInside(path, top) }
    self.init(
      status: { path in
        isInside(path) && path != DirectoryPath.join(top, ".git") ? statuses[path] : outer.status(path)
      },
      read: { (path) throws(SystemError) in
        guard isInside(path) else { return try outer.read(path) }
        guard let content = files[path] else {
          throw SystemError("No such file or directory", .missing)
        }
        return content
      },
      entries: { (path) throws(SystemError) in
        DirectoryPath.isInside(path, top) ? entries[path] ?? [] : try outer.entries(path)
      })
  }
}
