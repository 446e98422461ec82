import RPCurlBase
import RPCurlCPlugins
import RPCurlPlatform
import RPCurlProtobuf

/// The shared objects that this process has opened, each as a copy in memory.
///
/// The dynamic loader takes a path and maps the file. A file replaced after the check would run unchecked, and a
/// build that overwrites it would remove code in use. A copy of the checked file avoids both, and a rebuilt file
/// gets a new copy.
enum LoadedObjects {
  /// The paths of the copies. Global, because the dynamic loader loads a file once for the process. Requires the lock.
  private nonisolated(unsafe) static var copies: [FileFacts: String] = [:]
  private static let lock = Lock()

  /// Opens a copy of an open file. `body` receives the path of the copy.
  ///
  /// The same file gets the same copy, so that all loads share the plugin's static variables.
  ///
  /// - Parameter facts: The metadata with which the file was checked.
  static func open(
    _ file: borrowing FileReader, _ path: String, _ facts: FileFacts,
    _ body: (String) -> UnsafeMutableRawPointer?
  ) throws(PluginError) -> UnsafeMutableRawPointer? {
    // Held until the copy is loaded: another thread with the same file waits for it, rather than make a second one.
    lock.lock()
    defer { lock.unlock() }
    if let known = copies[facts] { return body(known) }
    let descriptor = try copy(file, path, facts)
    let object = "/proc/self/fd/\(descriptor)"
    let handle = body(object)
    if handle != nil { copies[facts] = object } else { close(descriptor) }
    return handle
  }

  /// Copies the file. The descriptor of a copy that is loaded stays open: its number is in the path by which the loader
  /// identifies the copy.
  private static func copy(
    _ file: borrowing FileReader, _ path: String, _ facts: FileFacts
  ) throws(PluginError) -> Int32 {
    // The name that debuggers show.
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    let descriptor = plugin_guard_memory_file("rpcurl-plugin:\(name.prefix(80))")
    guard descriptor >= 0 else { throw .unreadable(path: path, reason: currentError()) }
    var offset: UInt64 = 0
    while true {
      let piece = file.read(at: offset, count: pieceBytes)
      guard !piece.isEmpty else { break }
      guard writeAll(piece, to: descriptor) else {
        let reason = currentError()
        close(descriptor)
        throw .unreadable(path: path, reason: reason)
      }
      offset += UInt64(piece.count)
    }
    guard FileFacts(file.descriptor) == facts, offset == UInt64(facts.sizeBytes),
      plugin_guard_seal(descriptor) == 0
    else {
      close(descriptor)
      throw .replaced(path: path)
    }
    return descriptor
  }

  private static let pieceBytes = 1 << 18
}

/// Writes bytes to a descriptor; `false` on failure, with the reason in `errno`.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 || errno == EINTR else { return false }
    rest = rest.dropFirst(max(0, count))
  }
  return true
}
