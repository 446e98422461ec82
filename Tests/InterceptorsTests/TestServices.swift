import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlLanguage

@testable import RPCurlInterceptors

/// Services for built-in interceptors, with content provided by the test.
final class TestServices: InterceptorServices, @unchecked Sendable {
  var files: [String: String] = [:]
  var variables: [String: String] = [:]
  /// Files that are not text.
  var binaryFiles: [String: [UInt8]] = [:]
  /// The files that exist and cannot be read.
  var unreadableFiles: Set<String> = []
  /// The output of commands, by their words with `|` between.
  var commands: [String: Result<String, SystemError>] = [:]
  private(set) var commandsRun: [String] = []
  /// The commands that were canceled while `holdsCommands` held them.
  private(set) var canceledCommands: [String] = []
  /// The files whose content the next write replaces.
  private var replaced: Set<String> = []
  /// The files of the cache, by key.
  var cached: [[UInt8]: [UInt8]] = [:]
  /// Why nothing can be stored in the cache; nil if it can.
  var cacheProblem: SystemError?
  /// Whether commands run until `releaseCommands()`.
  var holdsCommands = false
  private var held: [(command: String, end: () -> Void)] = []
  var nanosecondsSince1970: Int64 = 1_700_000_000_000_000_000
  let waitLimit: Duration? = nil
  let reports = ReportFiles()
  let shared = SharedValues()

  func contents(ofFile path: String, holdsMessages: Bool) throws(SystemError) -> [UInt8] {
    if unreadableFiles.contains(path) { throw SystemError("input/output error") }
    if let bytes = binaryFiles[path] { return bytes }
    guard let content = files[path] else {
      throw SystemError("no such file or directory", .missing)
    }
    return Array(content.utf8)
  }

  func openFile(_ path: String, isAppending: Bool) throws(SystemError) -> any OutputFile {
    try checkReplacing(path)
    files[path] = files[path] ?? ""
    if !isAppending { replaced.insert(path) }
    return File(self, path)
  }

  func checkReplacing(_ path: String) throws(SystemError) {
    if path.hasPrefix("/no/") { throw SystemError("no such file or directory") }
  }

  func replaceFile(_ path: String, with bytes: [UInt8], isPrivate: Bool) throws(SystemError) {
    try checkReplacing(path)
    files[path] = String(decoding: bytes, as: UTF8.self)
  }

  func cacheFolder(_ name: String, limitBytes: Int) throws(SystemError) -> any CacheFolder {
    if variables["HOME"] == "" { throw SystemError("HOME is not set") }
    return Folder(self)
  }

  func environment(_ name: String) -> String? { variables[name] }

  func run(
    _ words: [String], timeout: Duration,
    completion: @escaping @Sendable (Result<[UInt8], SystemError>) -> Void
  ) -> @Sendable () -> Void {
    let command = words.joined(separator: "|")
    commandsRun.append(command)
    let end = {
      completion((self.commands[command] ?? .failure(SystemError("not found"))).map { Array($0.utf8) })
    }
    if holdsCommands { held.append((command, end)) } else { end() }
    return { [self] in
      if held.contains(where: { $0.command == command }) { canceledCommands.append(command) }
    }
  }

  /// Completes all held commands.
  func releaseCommands() {
    defer { held = [] }
    for (_, end) in held { end() }
  }

  /// The registration for `--use TEXT`.
  func registration(_ text: String) throws -> InterceptorRegistration {
    let sources = ValueSources(
      file: { path throws(LanguageError) in
        guard let content = self.files[path] else { throw LanguageError("no such file") }
        return content
      }, environment: { self.variables[$0] },
      command: { words throws(LanguageError) in
        guard case .success(let text)? = self.commands[words.joined(separator: "|")] else {
          throw LanguageError("exit code 1")
        }
        return text
      })
    return try BuiltIns.registration(BuiltIns.spec(parsing: text, sources: sources), services: self)
  }

  private final class File: OutputFile {
    private let services: TestServices
    private let path: String

    init(_ services: TestServices, _ path: String) {
      self.services = services
      self.path = path
    }

    func write(_ bytes: [UInt8]) throws(SystemError) {
      if path == "/dev/full", !bytes.isEmpty { throw SystemError("no space left on device") }
      if services.replaced.remove(path) != nil { services.files[path] = "" }
      services.files[path]? += String(decoding: bytes, as: UTF8.self)
    }
    func begin(ifEmpty head: [UInt8]) throws(SystemError) {
      try write([])
      if services.files[path]?.isEmpty == true { try write(head) }
    }
    func close() {}
  }

  private final class Folder: CacheFolder {
    private let services: TestServices

    init(_ services: TestServices) { self.services = services }

    func load(_ key: [UInt8]) -> [UInt8]? { services.cached[key] }

    func store(_ content: [UInt8], for key: [UInt8]) throws(SystemError) {
      if let problem = services.cacheProblem { throw problem }
      services.cached[key] = content
    }
  }
}
