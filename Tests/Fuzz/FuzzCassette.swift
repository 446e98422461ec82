@testable import RPCurlInterceptors

/// Reads cassettes.
func fuzzCassette(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let content = [UInt8](UnsafeBufferPointer(start: start, count: count))
  guard let recorded = try? CassetteReader.read(content, file: "cassette") else { return 0 }
  precondition(recorded.calls.count <= content.count, "no call is made up")
  precondition(recorded.calls.isEmpty || recorded.lastNumber >= 0, "calls are numbered")
  return 0
}
