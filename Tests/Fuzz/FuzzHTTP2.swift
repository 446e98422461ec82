import RPCurlServer
import RPCurlServerSupport

/// Reads the frames of a client of HTTP/2, which follow its preface and settings, as a whole and in pieces.
func fuzzHTTP2(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let begin = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0".utf8)
  let input = begin + [UInt8](UnsafeBufferPointer(start: start, count: count))
  let whole = served(input, isHTTP2: true) { .max }
  // What is sent depends on the pieces: a request may be complete before its response is begun.
  let pieces = served(input, isHTTP2: true) { 5 }
  if whole.summary.isEmpty { Fuzz.require(pieces.summary.isEmpty, "requests do not depend on pieces", input) }
  return 0
}
