import Glibc
import Protobuf
import Reflection
import System

/// Keeps what servers told of their schemas, in a file for each service of each target.
///
/// A cache is a convenience: whatever is wrong with it, the server is asked instead.
package struct ReflectionCache {
  /// What was asked, of whom.
  package struct Key {
    /// The target and the service, to be recognised by people.
    package let target: String
    package let service: String
    /// All that the answer may depend on, the two above aside.
    package let facts: [String]
  }

  /// A file this old is removed when another is written.
  private static let keptSeconds = 30 * 24 * 3600

  private let directory: String

  /// The cache of the user; `nil` when the environment names no place for it.
  package init?(environment: (String) -> String?) {
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
  package func load(_ key: Key, notOlderThan age: Duration) -> (set: SchemaBytes, stamp: CachedSchema.Stamp)?
  {
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
  package func store(_ schema: ReflectedSchema, _ key: Key) -> String? {
    store(CachedSchema.encode(schema), path(key))
  }

  /// Keeps the names of all services of the target; gives the reason when that is not possible.
  package func store(services: [String], _ key: Key) -> String? {
    store(services.filter { !$0.contains("\n") }.flatMap { Array("\($0)\n".utf8) }, path(key, ".services"))
  }

  private func store(_ bytes: [UInt8], _ path: String) -> String? {
    makeDirectory()
    prune()
    // Written beside its place and then put there, so that nobody ever sees a part of it.
    // Processes of two containers, or of two machines, may have the same number: the name is nobody else's.
    let ending = ".tmp"
    var name = Array("\(directory)/.XXXXXX\(ending)".utf8CString)
    let descriptor = mkstemps(&name, Int32(ending.utf8.count))
    guard descriptor >= 0 else { return "\(directory): \(FileContents.lastError())" }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let temporary = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let problem = FileContents.write(bytes, to: descriptor)
    close(descriptor)
    guard problem == nil, rename(temporary, path) == 0 else {
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
    let now = time(nil)
    for name in fileNames where Self.endings.contains(where: name.hasSuffix) {
      var status = stat()
      let path = "\(directory)/\(name)"
      guard lstat(path, &status) == 0 else { continue }
      if now - status.st_mtim.tv_sec > Self.keptSeconds { unlink(path) }
    }
  }

  private static let endings = [".binpb", ".services", ".tmp"]

  private var fileNames: [String] {
    guard let entries = opendir(directory) else { return [] }
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) {
      names.append(
        withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  private func path(_ key: Key, _ ending: String = ".binpb") -> String {
    "\(directory)/\(key.fileName)\(ending)"
  }

  // MARK: Completion

  /// What a server told, however it was reached and however long ago: names to offer, which a call asks for anew.
  package struct Known {
    package fileprivate(set) var sets: [SchemaBytes] = []
    package fileprivate(set) var services: [String] = []
  }

  /// What the server at `target` told.
  package func known(of target: Target) -> Known {
    var known = Known()
    let start = "\(Key.readable(Self.name(of: target, socket: target.unixSocket)))-"
    for name in fileNames.sorted() where name.hasPrefix(start) {
      let path = "\(directory)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
        let contents = try? FileContents.map(path)
      else { continue }
      if name.hasSuffix(".binpb"), CachedSchema.stamp(of: contents.bytes.bytes) != nil {
        known.sets.append(contents)
      } else if name.hasSuffix(".services") {
        known.services += String(decoding: contents.bytes, as: UTF8.self).split(separator: "\n").map(
          String.init)
      }
    }
    return known
  }

  /// The servers that told something, where the name of a file tells which it was: `HOST:PORT`.
  package var targets: [String] {
    let found = fileNames.compactMap { name -> String? in
      let target = name.prefix { $0 != "-" }
      guard let mark = target.lastIndex(of: "_"), let port = UInt16(target[target.index(after: mark)...]),
        !target[..<mark].isEmpty, !target[..<mark].contains("_")
      else { return nil }
      return "\(target[..<mark]):\(port)"
    }
    return Set(found).sorted()
  }

  /// How a target is called in the names of files.
  package static func name(of target: Target, socket: String?) -> String {
    socket.map { "unix\($0)" } ?? String(target.baseURL.split(separator: "/", maxSplits: 1)[1])
  }
}

extension ReflectionCache.Key {
  /// `localhost_50051-demo.v1.Demo-0123456789abcdef`, without its ending.
  package var fileName: String {
    "\(Self.readable(target))-\(Self.readable(service))-\(hash)"
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

  fileprivate static func readable(_ text: String) -> String {
    let trimmed = text.drop { $0 == "/" || $0 == "." }.prefix(80)
    return String(
      trimmed.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "_" })
  }
}
