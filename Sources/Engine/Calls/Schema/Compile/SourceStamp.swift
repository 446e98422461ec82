import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf

/// What a run saw of the file system until it had a set, by which a later run has the set without reading a source.
///
/// As in the index of git, the status of a file stands for its content. It does so only if the file was changed well before the run:
/// a later change has another time then. The set is used while all files, directories that were searched and places where nothing was
/// are as they were: a new file that would be found earlier is noticed too.
final class SourceStamp {
  /// How long before the run the last change of a file must be, in nanoseconds: some file systems have times of two seconds.
  static let marginNanoseconds = 2_500_000_000

  /// What a record begins with; the path and a zero follow.
  private enum Kind: UInt8 {
    /// Nothing is there.
    case missing = 1
    case directory
    /// A file, or a directory whose entries were read: its ``Facts`` follow.
    case contents
    /// The set in the cache: its facts follow, without the time of the last change of its status.
    case set
    /// The name of a source, whose path as a user writes it follows, and a zero.
    case name
  }

  /// Device, number, size, and the times of the last changes of content and status in nanoseconds.
  private typealias Facts = (UInt64, UInt64, Int, Int, Int)

  /// False if something was seen whose next content no status shows, such as a pipe.
  var isComplete = true

  private let cache: CacheDirectory
  private let key: [UInt8]
  /// The time at which the run began.
  private let start: Int
  private var records: [UInt8] = []
  private var seen = Set<String>(minimumCapacity: 48)

  /// Describes the stamp of a run.
  ///
  /// - Parameters:
  ///   - cache: The cache in which it is, and the set.
  ///   - key: All on which the set depends besides the file system.
  ///   - start: The time, in nanoseconds; nil for now.
  init(_ cache: CacheDirectory, key: [UInt8], start: Int? = nil) {
    self.cache = cache
    self.key = Array("stamp\n".utf8) + key
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    self.start = start ?? FileFacts.nanoseconds(now)
    records.reserveCapacity(4096)
  }

  // MARK: Recording

  /// Records what is at a path; nil if nothing is there. The first status counts: what changes during the run is noticed.
  func see(_ path: String, _ file: FileFacts?) {
    guard isComplete, seen.insert(path).inserted else { return }
    guard let file else { return append(.missing, path) }
    switch file.kind {
    case .directory: append(.directory, path)
    case .regular: append(.contents, path, file)
    default: isComplete = false
    }
  }

  /// Records a directory before its entries are read.
  func seeEntries(_ path: String) {
    if let file = FileFacts(path) { append(.contents, path, file) } else { append(.missing, path) }
  }

  private func append(_ kind: Kind, _ path: String, _ file: FileFacts? = nil) {
    records.append(kind.rawValue)
    records += path.utf8
    records.append(0)
    guard let file else { return }
    let facts = Self.facts(file, kind)
    if kind == .contents, max(facts.3, facts.4) > start - Self.marginNanoseconds { isComplete = false }
    withUnsafeBytes(of: facts) { records += $0 }
  }

  /// Stores the stamp of a set, if all that was seen has a status that shows changes.
  ///
  /// - Parameters:
  ///   - setKey: The key of the set in the cache.
  ///   - paths: The paths of sources, as a user writes them, by their names.
  func store(_ setKey: [UInt8], _ paths: [String: String]) throws(SystemError) {
    let path = cache.path(setKey)
    guard isComplete, let file = FileFacts(path) else { return }
    append(.set, path, file)
    for (name, path) in paths {
      append(.name, name)
      records += path.utf8
      records.append(0)
    }
    if isComplete { try cache.store(records, for: key) }
  }

  // MARK: Comparison

  /// The set, and the paths of its sources; nil if there is none, or anything that it depends on is different.
  func load() -> (set: SchemaBytes, paths: [String: String])? {
    guard let records = cache.load(key) else { return nil }
    return records.withUnsafeBytes { records in
      var reader = Reader(rest: records[...])
      var (set, paths) = ("", [String: String]())
      while let kind = reader.kind() {
        guard let kind = Kind(rawValue: kind), let path = reader.text() else { return nil }
        if kind == .name {
          guard let shown = reader.text() else { return nil }
          paths[String(cString: path)] = String(cString: shown)
          continue
        }
        guard reader.isCurrent(kind, path) else { return nil }
        if kind == .set { set = String(cString: path) }
      }
      return map(set).map { ($0, paths) }
    }
  }

  private func map(_ path: String) -> SchemaBytes? {
    guard let (descriptor, _) = cache.open(path) else { return nil }
    defer { close(descriptor) }
    guard let whole = try? FileContents.map(descriptor) else { return nil }
    let set = UnsafeRawBufferPointer(rebasing: whole.bytes.dropFirst(CacheDirectory.sealBytes))
    return SchemaBytes(owning: set) { _ in withExtendedLifetime(whole) {} }
  }

  private static func facts(_ file: FileFacts, _ kind: Kind) -> Facts {
    (
      file.identity.device, file.identity.number, file.sizeBytes, file.modified,
      kind == .set ? 0 : file.changed
    )
  }
}

extension SourceStamp {
  /// Reads records.
  private struct Reader {
    var rest: Slice<UnsafeRawBufferPointer>

    mutating func kind() -> UInt8? { rest.popFirst() }

    /// The text before the next zero.
    mutating func text() -> UnsafePointer<CChar>? {
      let bytes = UnsafeRawBufferPointer(rebasing: rest)
      guard let start = bytes.baseAddress, let end = memchr(start, 0, bytes.count) else { return nil }
      rest = rest.dropFirst(UnsafeRawPointer(end) - start + 1)
      return start.assumingMemoryBound(to: CChar.self)
    }

    /// Whether what is at a path is still the same.
    mutating func isCurrent(_ kind: Kind, _ path: UnsafePointer<CChar>) -> Bool {
      guard let file = FileFacts(path) else { return kind == .missing }
      guard kind == .contents || kind == .set else { return kind == .directory && file.isDirectory }
      let known = rest.prefix(MemoryLayout<Facts>.size)
      rest = rest.dropFirst(known.count)
      return withUnsafeBytes(of: SourceStamp.facts(file, kind)) { $0.elementsEqual(known) }
    }
  }
}
