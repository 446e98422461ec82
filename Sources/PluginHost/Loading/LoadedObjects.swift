import CPluginGuard
import Glibc
import Synchronization

/// The shared objects that this process has opened.
///
/// The dynamic loader knows an object by its path: when the file was built anew meanwhile, it gives the old code
/// again. So that is opened as a copy, which lives in memory.
enum LoadedObjects {
  private static let paths = Mutex<[String: Opened]>([:])

  /// What a path was last opened as.
  private struct Opened {
    let facts: FileFacts
    let object: String
  }

  /// Opens the file at `path`, which was looked at as `facts`, by `body`, which gets the path to open.
  static func open(
    _ path: String, _ facts: FileFacts, _ body: (String) -> UnsafeMutableRawPointer?
  ) throws(PluginError) -> UnsafeMutableRawPointer? {
    let before = paths.withLock { $0[path] }
    let object: String
    if let before {
      object = before.facts == facts ? before.object : try copy(path, facts)
    } else {
      object = path
    }
    let handle = body(object)
    if handle != nil { paths.withLock { $0[path] = Opened(facts: facts, object: object) } }
    return handle
  }

  /// A copy of the file in memory. Its descriptor stays open, since its number is in the path, by which the loader
  /// knows the copy.
  private static func copy(_ path: String, _ facts: FileFacts) throws(PluginError) -> String {
    let file: FileReader
    do {
      file = try FileReader(path: path)
    } catch {
      throw .unreadable(path: path, reason: error.reason)
    }
    guard FileFacts(descriptor: file.descriptor) == facts else { throw .replaced(path: path) }
    let descriptor = plugin_guard_memory_file("rpcurl-plugin")
    guard descriptor >= 0 else { throw .unreadable(path: path, reason: currentError()) }
    var offset: UInt64 = 0
    while true {
      let piece = file.read(at: offset, count: pieceBytes)
      guard !piece.isEmpty else { return "/proc/self/fd/\(descriptor)" }
      guard write(piece, to: descriptor) else {
        let reason = currentError()
        close(descriptor)
        throw .unreadable(path: path, reason: reason)
      }
      offset += UInt64(piece.count)
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  private static let pieceBytes = 1 << 18
}
