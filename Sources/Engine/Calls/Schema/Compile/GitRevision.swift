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

  /// A file or a symbolic link of the revision.
  private struct Blob {
    /// The absolute path that it has in the working tree.
    let path: String
    let isLink: Bool
    let hash: String
    let sizeBytes: Int
  }

  /// The `.proto` files of the revision, the files of buf's workspaces, and the symbolic links.
  ///
  /// - Parameters:
  ///   - repository: The repository.
  ///   - waitLimit: How long to wait for git; nil for no limit.
  /// - Throws: `Failure` if there is no git, or no such revision.
  func files(of repository: GitRepository, waitLimit: Duration?) throws(Failure) -> RevisionFiles {
    let list = try run(
      ["ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", revision], in: repository.top,
      waitLimit)
    var files = RevisionFiles(repository)
    let blobs = try blobs(list, &files)
    let hashes = Array(blobs.map { "\($0.hash)\n" }.joined().utf8)
    let contents = try run(["cat-file", "--batch", "--buffer"], in: repository.top, input: hashes, waitLimit)
    try split(contents, blobs, into: &files)
    return files
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

  /// The sources and links in the output of `git ls-tree`: `MODE TYPE HASH SIZE<tab>PATH`, each before a zero. Submodules are added to
  /// the files.
  private func blobs(_ list: [UInt8], _ files: inout RevisionFiles) throws(Failure) -> [Blob] {
    var found: [Blob] = []
    var total = 0
    for entry in list.split(separator: 0) {
      guard let tab = entry.firstIndex(of: UInt8(ascii: "\t")) else { continue }
      let facts = entry[..<tab].split(separator: UInt8(ascii: " ")).map {
        String(decoding: $0, as: UTF8.self)
      }
      let parts = entry[(tab + 1)...].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      // A file has mode 100644 or 100755.
      guard facts.count == 4, let name = parts.last.map({ String(decoding: $0, as: UTF8.self) }) else {
        continue
      }
      let (isLink, isSubmodule) = (facts[0] == "120000", facts[0] == "160000")
      guard isLink || isSubmodule || facts[0].hasPrefix("100") && RevisionFiles.isSource(name) else {
        continue
      }
      let names = parts.map { String(decoding: $0, as: UTF8.self) }
      guard names.allSatisfy({ !["", ".", ".."].contains($0) }) else {
        throw Failure(.schema, argument, "the revision has a file with an impossible path")
      }
      let path = DirectoryPath.join(files.repository.top, names.joined(separator: "/"))
      if isSubmodule { files.submodules.insert(path) }
      guard let size = Int(facts[3]) else { continue }
      found.append(Blob(path: path, isLink: isLink, hash: facts[2], sizeBytes: size))
      total += size
      guard found.count <= Self.fileLimit, total <= Self.byteLimit else {
        throw Failure(
          .schema, argument, "the sources of the repository are more than \(Self.fileLimit) files or 256 MiB",
          hint: "name a descriptor set")
      }
    }
    return found
  }

  /// Adds the contents in the output of `git cat-file --batch`: `HASH TYPE SIZE`, a newline, the content and a newline for each.
  private func split(
    _ contents: [UInt8], _ blobs: [Blob], into files: inout RevisionFiles
  ) throws(Failure) {
    var rest = contents[...]
    for blob in blobs {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")), rest.endIndex - end - 1 > blob.sizeBytes,
        String(decoding: rest[..<end], as: UTF8.self) == "\(blob.hash) blob \(blob.sizeBytes)"
      else {
        throw Failure(
          .schema, argument, "git has no content of \(blob.path)",
          hint: "the clone may be partial: run \"git fetch\"")
      }
      let content = rest[(end + 1)...].prefix(blob.sizeBytes)
      if blob.isLink {
        files.links[blob.path] = String(decoding: content, as: UTF8.self)
      } else {
        files.sources[blob.path] = Array(content)
      }
      rest = rest[(end + 1)...].dropFirst(blob.sizeBytes + 1)
    }
  }
}
