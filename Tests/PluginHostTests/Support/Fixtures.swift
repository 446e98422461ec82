import Glibc

import Interception
@testable import PluginHost

/// Plugins in C, compiled when a test needs them.
enum Fixtures {
  struct Failure: Error {
    let text: String
  }

  /// The repository, as this file is in `Tests/PluginHostTests/Support`.
  static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(
    separator: "/")

  // Guarded by the lock, which ThreadSanitizer knows, unlike that of the standard library.
  private nonisolated(unsafe) static var compiled: [String: String] = [:]
  private static let lock = Lock()

  /// Compiles a fixture once, and gives the path of the shared object.
  static func path(_ name: String) throws -> String {
    try compile("\(root)/Tests/PluginHostTests/Fixtures/\(name).c", name)
  }

  /// Compiles a plugin of the repository's.
  static func plugin(_ name: String) throws -> String {
    try compile("\(root)/Plugins/\(name)/\(name).c", name)
  }

  private static func compile(_ source: String, _ name: String) throws -> String {
    try lock.holding {
      if let path = compiled[source] { return path }
      let path = try temporaryDirectory() + "/\(name).so"
      let warnings = "-std=gnu11 -Wall -Wextra -Werror -fvisibility=hidden"
      let command =
        "cc -shared -fPIC \(warnings) -I'\(root)/Sources/CPluginABI/include' -o '\(path)' '\(source)' -lpthread"
      guard run(command) == 0 else { throw Failure(text: "failed: \(command)") }
      compiled[source] = path
      return path
    }
  }

  /// A new directory that only the user can use.
  static func temporaryDirectory() throws -> String {
    var template = Array("/tmp/rpcurl-test-XXXXXX".utf8CString)
    guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) != nil else {
      throw Failure(text: "mkdtemp failed")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @discardableResult
  static func run(_ command: String) -> Int32 { system(command) }

  static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = fopen(path, "w") else { throw Failure(text: "cannot write \(path)") }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }
}
