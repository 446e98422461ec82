import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// The configuration file of a project, `.rpcurl`, which comes with the files of other people.
///
/// The file is searched from the working directory upwards to the root of the repository. As with git's
/// `safe.directory`, a parent directory that other users own or can write is not searched, because others can place a
/// file there. As with direnv, what the file may do depends on a record of the path and the
/// contents that the user has trusted.
package struct ProjectFile {
  /// The name of the file.
  package static let name = ".rpcurl"

  /// The path. Its directory has no links, and is the project folder.
  package let path: String
  /// The directory of the file.
  package let directory: String
  /// The contents, up to the limit of configuration files.
  package let contents: [UInt8]
  /// The user that owns the file.
  private let owner: uid_t

  // MARK: Search

  /// The directory of the project file for a working directory; nil if absent.
  ///
  /// Without a repository, only the working directory itself is searched.
  ///
  /// - Parameters:
  ///   - start: The working directory, absolute and without links.
  ///   - home: The user's home directory, which is the last to be searched.
  package static func directory(from start: String, home: String?) -> String? {
    let home = home.flatMap(FileContents.canonicalPath)
    var directory = start
    var nearest: String?
    while true {
      if nearest == nil, exists("\(directory)/\(name)") { nearest = directory }
      if exists("\(directory)/.git") { return nearest }
      guard directory != home, let parent = parent(of: directory), isOwn(parent, below: directory) else {
        break
      }
      directory = parent
    }
    return nearest == start ? start : nil
  }

  private static func parent(of directory: String) -> String? {
    guard directory != "/", let slash = directory.lastIndex(of: "/") else { return nil }
    return slash == directory.startIndex ? "/" : String(directory[..<slash])
  }

  /// Whether only the user and root own the parent directory, others cannot write it, and it is on the same device.
  private static func isOwn(_ parent: String, below directory: String) -> Bool {
    guard let parent = FileFacts(link: parent), let child = FileFacts(link: directory) else { return false }
    return (parent.owner == 0 || parent.owner == geteuid()) && parent.permissions & S_IWOTH == 0
      && parent.identity.device == child.identity.device
  }

  private static func exists(_ path: String) -> Bool { FileFacts(link: path) != nil }

  // MARK: Contents

  /// The path of the file of a directory.
  package static func path(in directory: String) -> String {
    directory == "/" ? "/\(name)" : "\(directory)/\(name)"
  }

  /// The hash of the contents.
  package var digest: String { SHA256.digest(of: contents) }

  /// Reads the file of a directory, without waiting.
  ///
  /// - Parameters:
  ///   - directory: The directory.
  ///   - isOptional: Whether the command has `--config`, which the hints name.
  /// - Throws: `Failure` if it is not a regular file, cannot be read, or can be written by every user.
  package init(in directory: String, isOptional: Bool = true) throws(Failure) {
    let path = Self.path(in: directory)
    self.path = path
    self.directory = directory
    func failure(_ why: String, hint: String? = nil) -> Failure {
      Failure(.usage, path, why, hint: hint ?? (isOptional ? Self.ignoring : nil))
    }
    // Opening a device can have effects.
    guard let named = FileFacts(link: path) else { throw failure(FileContents.lastError()) }
    guard named.isRegular else { throw failure(Self.text(of: named.kind)) }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)
    guard descriptor >= 0 else { throw failure(FileContents.lastError()) }
    defer { close(descriptor) }
    guard let file = FileFacts(descriptor) else { throw failure(FileContents.lastError()) }
    guard file.isRegular else { throw failure(Self.text(of: file.kind)) }
    guard file.permissions & S_IWOTH == 0 else {
      throw failure("every user can write the file, so it is not used", hint: "chmod o-w \(path)")
    }
    owner = file.owner
    var contents: [UInt8] = []
    do throws(SystemError) {
      while contents.count < ConfigurationFile.limitBytes {
        let piece = try FileContents.readPiece(descriptor, limitBytes: 1 << 16)
        guard !piece.isEmpty else { break }
        contents += piece
      }
    } catch {
      throw failure(error.reason)
    }
    self.contents = contents
  }

  private static let ignoring = "--config /dev/null ignores it"

  private static func text(of kind: FileFacts.Kind) -> String {
    switch kind {
    case .directory: "a directory, not a project file of rpcurl"
    case .link: "a symbolic link, which a project file must not be"
    default: "not a regular file"
    }
  }

  // MARK: Trust

  /// Whether the user trusts a project file.
  package enum Standing {
    case trusted
    /// The user trusted other contents.
    case changed
    case unknown
  }

  /// Whether the user trusts the file with its contents.
  ///
  /// - Throws: `Failure` if the record of trust cannot be read, or if the file belongs to another user and is not
  ///   trusted.
  package func standing(_ environment: (String) -> String?) throws(Failure) -> Standing {
    var standing = Standing.unknown
    if let store = TrustStore(environment: environment) {
      let entry: TrustStore.Entry?
      do throws(SystemError) { entry = try store.entry(of: path) } catch { throw Failure(.usage, "", error) }
      if let entry { standing = entry.digest == digest ? .trusted : .changed }
    }
    guard standing == .trusted || owner == 0 || owner == geteuid() else {
      throw Failure(
        .usage, path, "it belongs to another user (\(owner)), so it is not used",
        hint: "read it, then run \"rpcurl trust\"; \(Self.ignoring)")
    }
    return standing
  }

  /// The lines that need trust, of all profiles, in order.
  ///
  /// - Throws: `Failure` if the file is invalid.
  package func linesThatNeedTrust() throws(Failure) -> [ConfigurationLine] {
    let lines = try ConfigurationFile(path, contents: contents).allLines
    // An option that does not exist yet may need trust in a later version.
    var invocation = Invocation(.call)
    invocation.configure([
      ConfigurationLayer(path: path, profile: nil, owner: .project(isTrusted: false), lines: lines)
    ])
    do throws(ParseError) { try invocation.check() } catch { throw Failure(error) }
    return lines.filter(ProjectLines(file: self, standing: .unknown, command: .call).needsTrust)
  }
}
