import RPCurlPlatform

@testable import RPCurlPluginHost

/// A file of this run alone.
private let path = ".build/fuzz/object-\(getpid())"

/// Checks a shared object before it is loaded.
func fuzzObject(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  precondition(descriptor >= 0 && write(descriptor, start, count) == count)
  close(descriptor)
  defer { unlink(path) }
  guard let file = try? FileReader(path: path), let object = try? ELFFile(file, path: path) else { return 0 }
  precondition(count >= 64, "a shared object has a header")
  _ = object.symbol("rpcurl_plugin_entry", file)
  return 0
}
