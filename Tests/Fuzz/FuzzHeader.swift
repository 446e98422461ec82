import RPCProtocols

/// Reads the header fields and trailers of a response, line by line.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var reader = ResponseReader()
  var fieldCount = 0
  var isInvalid = false
  for line in UnsafeBufferPointer(start: start, count: count).split(
    separator: 10, omittingEmptySubsequences: false)
  {
    let bytes = Array(line) + [13, 10]
    let step = bytes.withUnsafeBytes { reader.read(HeaderLine($0), size: $0.count) }
    switch step {
    case .head(let head):
      precondition(!isInvalid, "no head follows an error")
      precondition(head.httpStatus >= 200, "a final response")
      precondition(head.headers.count <= ResponseReader.maxFields, "fields are bounded")
      fieldCount = 0
    case .invalid: isInvalid = true
    case .none, .trailersBegan: fieldCount += 1
    }
  }
  if let trailers = reader.takeTrailers() {
    precondition(trailers.count <= fieldCount, "no trailer is made up")
  }
  return 0
}
