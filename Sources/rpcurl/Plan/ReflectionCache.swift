import Glibc
import Protobuf
import Reflection

/// Keeps what servers told of their schemas, in a file for each service of each target.
///
/// A cache is a convenience: whatever is wrong with it, the server is asked instead.
struct ReflectionCache {
  /// What was asked, of whom.
  struct Key {
    /// The target and the service, to be recognised by people.
    let target: String
    let service: String
    /// All that the answer may depend on, the two above aside.
    let facts: [String]
  }

  /// A file this old is removed when another is written.
  private static let keptSeconds = 30 * 24 * 3600

  private let directory: String

  /// The cache of the user; `nil` when the environment names no place for it.
  init?(environment: (String) -> String?) {
    // The XDG specification has a path that is not absolute passed over.
    if let base = environment("XDG_CACHE_HOME"), base.hasPrefix("/") {
      directory = "\(base)/rpcurl/reflection"
    } else if let home = environment("HOME"), home.hasPrefix("/") {
      directory = "\(home)/.cache/rpcurl/reflection"
    } else {
      return nil
    }
  }

  /// The descriptor set of `key`, mapped, if there is one that is whole and not too old.
  func load(_ key: Key, notOlderThan age: Duration) -> (set: SchemaBytes, stamp: CachedSchema.Stamp)? {
    var status = stat()
    guard lstat(path(key), &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid()
    else { return nil }
    let seconds = time(nil) - status.st_mtim.tv_sec
    guard (0...Int(age.components.seconds)).contains(seconds), let set = try? FileContents.map(path(key)),
      let stamp = CachedSchema.stamp(of: set.bytes.bytes)
    else { return nil }
    return (set, stamp)
  }

  /// Keeps `schema`; gives the reason when that is not possible.
  func store(_ schema: ReflectedSchema, _ key: Key) -> String? {
    makeDirectory()
    prune()
    // Written beside its place and then put there, so that nobody ever sees a part of it.
    let temporary = "\(directory)/.\(getpid()).tmp"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return "\(directory): \(FileContents.lastError())" }
    let problem = FileContents.write(CachedSchema.encode(schema), to: descriptor)
    close(descriptor)
    guard problem == nil, rename(temporary, path(key)) == 0 else {
      let why = problem?.why ?? FileContents.lastError()
      unlink(temporary)
      return "\(directory): \(why)"
    }
    return nil
  }

  private func makeDirectory() {
    for end in directory.indices where directory[end] == "/" && end != directory.startIndex {
      mkdir(String(directory[..<end]), 0o700)
    }
    mkdir(directory, 0o700)
  }

  private func prune() {
    guard let entries = opendir(directory) else { return }
    defer { closedir(entries) }
    let now = time(nil)
    while let entry = readdir(entries) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      let path = "\(directory)/\(name)"
      guard name.hasSuffix(".binpb") || name.hasSuffix(".tmp"), lstat(path, &status) == 0 else { continue }
      if now - status.st_mtim.tv_sec > Self.keptSeconds { unlink(path) }
    }
  }

  private func path(_ key: Key) -> String { "\(directory)/\(key.fileName)" }
}

extension ReflectionCache.Key {
  /// `localhost_50051-demo.v1.Demo-0123456789abcdef.binpb`
  var fileName: String {
    "\(Self.readable(target))-\(Self.readable(service))-\(hash).binpb"
  }

  /// FNV-1a. Each text ends with a byte that no UTF-8 has, so that two lists never read the same.
  private var hash: String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for text in [target, service] + facts {
      for byte in Array(text.utf8) + [0xFF] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func readable(_ text: String) -> String {
    let trimmed = text.drop { $0 == "/" || $0 == "." }.prefix(80)
    return String(
      trimmed.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "_" })
  }
}
