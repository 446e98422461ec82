import RPCurlBase
import RPCurlChain
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProtobuf

@testable import RPCurlPluginHost

/// Plugins in C, compiled when a test uses them.
enum Fixtures {
  struct Failure: Error {
    let text: String
  }

  /// The root of the repository, relative to this file.
  static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(
    separator: "/")

  // Guarded by the lock, which ThreadSanitizer supports, unlike the standard library's.
  private nonisolated(unsafe) static var compiled: [String: String] = [:]
  private static let lock = Lock()

  /// Compiles a fixture once, and returns the path of the shared object.
  static func path(_ name: String, ending: String = "c") throws -> String {
    try compile("\(fixtures)/\(name).\(ending)", name)
  }

  /// Compiles the plugin of an earlier version of the ABI against the header of that version. Both stay as they are.
  static func path(_ name: String, headerVersion: String) throws -> String {
    let folder = "\(fixtures)/plugin-\(headerVersion)"
    return try compile("\(folder)/\(name).c", name, headers: folder)
  }

  /// Compiles a fixture against the header in a directory.
  static func path(_ name: String, headers: String) throws -> String {
    try compile("\(fixtures)/\(name).c", name, headers: headers)
  }

  /// A directory with a header whose structures, except those that never grow and the host, have further members.
  static func grownHeaders() throws -> String {
    let directory = try temporaryDirectory()
    let fixed = "text|call|token|timer|stream|value|field"
    let command =
      "mkdir '\(directory)/rpcurl' && perl -pe "
      + "'s/^\\} rpcurl_(?!(?:\(fixed));)(\\w+);/  uint64_t added[2];\\n} rpcurl_$1;/; s/(ABI_MINOR) 0/$1 1/' "
      + "'\(root)/Sources/CPlugins/include/rpcurl/plugin.h' > '\(directory)/rpcurl/plugin.h'"
    guard run(command) == 0 else { throw Failure(text: "failed: \(command)") }
    return directory
  }

  private static let fixtures = "\(root)/Tests/PluginHostTests/Fixtures"

  /// Compiles a sample plugin of the repository.
  static func plugin(_ name: String) throws -> String {
    try compile("\(root)/Plugins/\(name)/\(name).c", name)
  }

  private static func compile(
    _ source: String, _ name: String, headers: String = "\(root)/Sources/CPlugins/include"
  ) throws -> String {
    try lock.holding {
      let key = "\(source) \(headers)"
      if let path = compiled[key] { return path }
      let path = try temporaryDirectory() + "/\(name).so"
      let compiler = source.hasSuffix(".cpp") ? "c++ -std=c++11" : "cc -std=gnu11"
      let command =
        "\(compiler) -Wall -Wextra -Werror -fvisibility=hidden -shared -fPIC -I'\(headers)' -o '\(path)' '\(source)' -lpthread"
      guard run(command) == 0 else { throw Failure(text: "failed: \(command)") }
      compiled[key] = path
      return path
    }
  }

  /// A type of the schemas shared by tests.
  static func messageType(_ name: String, of schema: String) throws -> MessageType {
    let file = try temporaryDirectory() + "/schema.binpb"
    let command = "protoc --include_imports -I'\(root)/Tests/Schemas' -o '\(file)' \(schema)"
    guard run(command) == 0 else { throw Failure(text: "failed: \(command)") }
    guard let reader = try? FileReader(path: file), let bytes = reader.readAll(limitBytes: 1 << 24) else {
      throw Failure(text: "cannot read \(file)")
    }
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(bytes), source: schema)
    guard let type = try pool.messageType(named: name) else { throw Failure(text: "no \(name)") }
    return type
  }

  /// The schema of a file with this text.
  static func pool(_ file: String, _ text: String) throws -> DescriptorPool {
    let directory = try temporaryDirectory()
    try write(Array(text.utf8), to: "\(directory)/\(file)")
    let command = "protoc --include_imports -I'\(directory)' -o '\(directory)/set' \(file)"
    guard run(command) == 0, let reader = try? FileReader(path: "\(directory)/set"),
      let bytes = reader.readAll(limitBytes: 1 << 24)
    else { throw Failure(text: "failed: \(command)") }
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(bytes), source: file)
    return pool
  }

  /// Contains the directories of all fixtures, until the process exits.
  private static let directories: TemporaryDirectory? = {
    atexit { Fixtures.directories?.remove() }
    return TemporaryDirectory()
  }()

  /// A new directory that only this user can access.
  static func temporaryDirectory() throws -> String {
    guard let directories else { throw Failure(text: "no temporary directory") }
    var template = Array("\(directories.path)/XXXXXX".utf8CString)
    guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) != nil else {
      throw Failure(text: "mkdtemp failed")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @discardableResult
  static func run(_ command: String) -> Int32 { system("umask 022; \(command)") }

  static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = fopen(path, "w") else { throw Failure(text: "cannot write \(path)") }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }
}

extension FileReader {
  /// The whole content, up to a limit; nil if the file cannot be read or is longer.
  func readAll(limitBytes: Int) -> [UInt8]? {
    let bytes = read(at: 0, count: limitBytes + 1)
    return bytes.count <= limitBytes ? bytes : nil
  }
}
