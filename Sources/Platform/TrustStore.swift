import RPCurlBase

/// The files that the user trusts: for each path, the hash of the contents that were trusted.
///
/// Each path has a file of its own in `$XDG_STATE_HOME/rpcurl/trust`, which is replaced atomically, so that several
/// processes need no lock: one that reads a file while another replaces it opens it again.
package struct TrustStore {
  /// A trusted file.
  package struct Entry: Equatable {
    /// The path.
    package let path: String
    /// The hash of the trusted contents.
    package let digest: String
  }

  private static let heading = "rpcurl trust 1"
  /// The limit of a file of the store in bytes: a path is shorter.
  private static let limitBytes = 1 << 14

  private let directory: String

  /// The user's store; nil if neither `XDG_STATE_HOME` nor `HOME` names a directory.
  ///
  /// - Parameter environment: Returns the value of an environment variable.
  package init?(environment: (String) -> String?) {
    guard let base = UserDirectory.state.path(environment) else { return nil }
    directory = "\(base)/rpcurl/trust"
  }

  /// The entry of a path; nil if the path was never trusted.
  ///
  /// - Throws: `SystemError` if other users could have written the entry.
  package func entry(of path: String) throws(SystemError) -> Entry? {
    try entry(in: file(of: path))
  }

  /// All entries, sorted by path.
  ///
  /// - Throws: `SystemError` if other users could have written one.
  package func entries() throws(SystemError) -> [Entry] {
    guard let stream = opendir(directory) else {
      guard errno != ENOENT else { return [] }
      throw SystemError.last.at(directory)
    }
    closedir(stream)
    var entries: [Entry] = []
    // Others are incomplete files of another process.
    for name in Directory.entries(in: directory).map(\.name) where name.utf8.count == 64 {
      if let entry = try entry(in: "\(directory)/\(name)") { entries.append(entry) }
    }
    return entries.sorted { $0.path < $1.path }
  }

  /// Trusts the contents of a file, in place of those that were trusted before.
  ///
  /// - Throws: `SystemError` if the entry cannot be written, or if other users could write it.
  package func trust(_ path: String, contents: [UInt8]) throws(SystemError) {
    Directory.make(directory)
    let file = file(of: path)
    let text = "\(Self.heading)\n\(SHA256.digest(of: contents))\n\(path)\n"
    if let problem = FileContents.replace(file, with: Array(text.utf8), isPrivate: true) {
      throw problem.at(file)
    }
    _ = try entry(in: file)
  }

  /// Removes the entry of a path. Returns whether there was one.
  ///
  /// - Throws: `SystemError` if the entry cannot be removed.
  package func revoke(_ path: String) throws(SystemError) -> Bool {
    let file = file(of: path)
    guard unlink(file) != 0 else { return true }
    guard errno == ENOENT || errno == ENOTDIR else { throw SystemError.last.at(file) }
    return false
  }

  private func file(of path: String) -> String { "\(directory)/\(SHA256.digest(of: Array(path.utf8)))" }

  private func entry(in file: String) throws(SystemError) -> Entry? {
    do throws(SystemError) { return try read(file) } catch { throw error.at(file) }
  }

  private func read(_ file: String) throws(SystemError) -> Entry? {
    guard let descriptor = try FileTrust.open(file, flags: O_NOFOLLOW) else {
      guard errno != ENOENT, errno != ENOTDIR else { return nil }
      throw .last
    }
    defer { close(descriptor) }
    let bytes = try FileContents.readPiece(descriptor, limitBytes: Self.limitBytes)
    // A path may contain line breaks.
    let parts = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == Self.heading, parts[2].hasSuffix("\n"),
      case let path = String(parts[2].dropLast()), self.file(of: path) == file
    else {
      throw SystemError("not a file of rpcurl trust", hint: "remove it")
    }
    return Entry(path: path, digest: String(parts[1]))
  }
}
