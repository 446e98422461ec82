@testable import RPCurlInterceptors

/// Reads cassettes.
func fuzzCassette(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let content = [UInt8](UnsafeBufferPointer(start: start, count: count))
  guard let (calls, lastNumber) = try? CassetteReader.read(content, file: "cassette") else { return 0 }
  precondition(calls.count <= content.count, "no call is made up")
  precondition(calls.isEmpty || lastNumber >= 0, "calls are numbered")
  return 0
}
