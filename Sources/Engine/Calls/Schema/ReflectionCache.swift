import RPCurlCall
import RPCurlPlatform
import RPCurlProtobuf

/// The cache of server schemas on disk: one file per target and service.
///
/// Errors of the cache are not fatal: the server is asked instead.
package struct ReflectionCache {
  /// The key of an entry.
  package struct Key {
    /// The target and the service, readable in the file name.
    package let target: String
    package let service: String
    /// Everything else that the schema may depend on, as part of a hash.
    package let facts: [String]
  }

  /// Entries of this age are removed when another one is written, in seconds.
  private static let keptSeconds = 30 * 24 * 3600
  /// The numbers of files and of bytes that are kept when another one is written: the latest ones.
  package static let limits = (files: 1000, bytes: 256 << 20)

  private let directory: String

  /// The user's cache; nil if the environment names no directory.
  package init?(environment: (String) -> String?) {
    guard let base = UserDirectory.cache.path(environment) else { return nil }
    directory = "\(base)/rpcurl/reflection"
  }

  /// The mapped descriptor set of `key`, as the server sent it, and its age; nil if absent, incomplete or too old.
  package func load(
    _ key: Key, notOlderThan age: Duration
  ) -> (set: SchemaBytes, stamp: CachedSchema.Stamp, age: Duration)? {
    guard let file = FileFacts(link: path(key)), file.isRegular, file.owner == geteuid() else { return nil }
    // Not of `time`, which may be behind the time of a file that was just written.
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let seconds = now.tv_sec - file.modified / 1_000_000_000
    guard (0...Int(age.components.seconds)).contains(seconds), let mapped = try? FileContents.map(path(key)),
      let stamp = CachedSchema.stamp(of: mapped.bytes.bytes)
    else { return nil }
    let set = SchemaBytes(mapped, count: mapped.bytes.count - CachedSchema.stampBytes)
    return (set, stamp, .seconds(seconds))
  }

  /// Stores a schema. Returns nil, or why that failed.
  package func store(_ schema: ReflectedSchema, _ key: Key) -> String? {
    store(CachedSchema.encode(schema), path(key))
  }

  /// Stores the services of the target. Returns nil, or why that failed.
  package func store(services: [String], _ key: Key) -> String? {
    store(services.filter { !$0.contains("\n") }.flatMap { Array("\($0)\n".utf8) }, path(key, ".services"))
  }

  private func store(_ bytes: [UInt8], _ path: String) -> String? {
    Directory.make(directory)
    prune()
    guard let file = ReplacementFile(for: path, mode: 0o600) else {
      return "\(directory): \(FileContents.lastError())"
    }
    return file.complete { FileContents.write(bytes, to: $0) }.map { "\(directory): \($0.reason)" }
  }

  private func prune() {
    let now = time(nil)
    var kept: [(path: String, time: Int, bytes: Int)] = []
    // A process that was killed may have left the file of `ReplacementFile`.
    for name in fileNames where [".binpb", ".services", ".part"].contains(where: name.hasSuffix) {
      let path = "\(directory)/\(name)"
      guard let file = FileFacts(link: path) else { continue }
      if now - file.modified / 1_000_000_000 > Self.keptSeconds {
        unlink(path)
      } else {
        kept.append((path, file.modified, file.sizeBytes))
      }
    }
    var bytes = kept.reduce(0) { $0 + $1.bytes }
    guard kept.count >= Self.limits.files || bytes > Self.limits.bytes else { return }
    // Some more, so that not each further file needs a search for the oldest.
    let goal = (files: Self.limits.files * 9 / 10, bytes: Self.limits.bytes * 9 / 10)
    kept.sort { $0.time > $1.time }
    while kept.count > goal.files || bytes > goal.bytes, let oldest = kept.popLast() {
      bytes -= oldest.bytes
      unlink(oldest.path)
    }
  }

  private var fileNames: [String] { Directory.entries(in: directory).map(\.name) }

  private func path(_ key: Key, _ ending: String = ".binpb") -> String {
    "\(directory)/\(key.fileName)\(ending)"
  }

  // MARK: Completion

  /// The cached schemas of a server of any age, for completion.
  package struct Known {
    package fileprivate(set) var sets: [SchemaBytes] = []
    package fileprivate(set) var services: [String] = []
  }

  /// The cached schemas of the server at `target`.
  package func known(of target: Target) -> Known {
    var known = Known()
    let start = "\(Key.readable(Self.name(of: target, socket: target.unixSocket)))-"
    for name in fileNames.sorted() where name.hasPrefix(start) {
      let path = "\(directory)/\(name)"
      guard let file = FileFacts(link: path), file.isRegular, file.owner == geteuid(),
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

  /// The servers in the cache whose file name contains their address: `HOST:PORT`.
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

  /// The name of a target in file names.
  package static func name(of target: Target, socket: String?) -> String {
    socket.map { "unix\($0)" } ?? String(target.baseURL.split(separator: "/", maxSplits: 1)[1])
  }
}

extension ReflectionCache.Key {
  /// The file name without its extension: `localhost_50051-demo.v1.Demo-0123456789abcdef`.
  package var fileName: String {
    "\(Self.readable(target))-\(Self.readable(service))-\(hash)"
  }

  /// FNV-1a. Each text ends with a byte that UTF-8 does not contain, so that different lists have different input.
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
