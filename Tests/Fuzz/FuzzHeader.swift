import RPCurlProtocols

@testable import RPCurlTransport

/// Reads the header fields and trailers of a response, line by line; then what a probe of a connection reads of it.
func fuzzHeader(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
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
  probe([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// Reads lines of libcurl's log and of a certificate, and the first bytes of a connection.
private func probe(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  let lines = text.split(separator: "\n")
  var facts = ConnectionFacts()
  for line in lines { facts.add(logLine: line) }
  precondition(facts.addresses.count <= lines.count { $0.contains("Trying ") }, "no address is made up")
  facts.certificates = [ServerCertificate(lines: lines.map(String.init))]
  precondition(facts.certificates[0].names.count <= bytes.count, "no name is made up")
  facts.firstBytes = bytes
  _ = facts.supportsHTTP2
  let causes: [ConnectionCause] = [
    .expired(since: nil), .notYetValid(until: nil), .wrongName("a", names: []), .unknownAuthority(nil),
    .closed("HTTP/0.9"), .handshakeCut,
  ]
  for cause in causes {
    for requiresHTTP2 in [false, true] {
      let refined = cause.refined(by: facts, hasCertificate: false, requiresHTTP2: requiresHTTP2)
      if case .notHTTP(let shown) = refined {
        precondition(shown.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "what is shown can be printed")
      }
    }
  }
}
