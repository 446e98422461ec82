import RPCurlLanguage

@testable import RPCurlInterceptors

/// Reads files of stubs.
func fuzzStub(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let content = [UInt8](UnsafeBufferPointer(start: start, count: count))
  if let stubs = try? StubFile.read(content, file: "stubs") {
    precondition(!stubs.isEmpty && stubs.count <= content.count, "stubs are those of the file")
  }
  // Conditions are held against what servers send.
  let text = String(decoding: content, as: UTF8.self)
  let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
  if parts.count == 2, let pattern = try? TextPattern(String(parts[0])) {
    _ = pattern.isFound(in: String(parts[1]))
  }
  return 0
}
