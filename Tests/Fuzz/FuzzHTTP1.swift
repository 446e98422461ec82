import RPCurlServer
import RPCurlServerSupport

/// Reads requests of HTTP/1.1 on the listening side, as a whole and in pieces.
func fuzzHTTP1(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  let whole = served(input, isHTTP2: false) { .max }
  for size in [1, 7] {
    let pieces = served(input, isHTTP2: false) { size }
    Fuzz.require(pieces.sent == whole.sent, "pieces do not matter", whole.sent, pieces.sent)
    Fuzz.require(pieces.summary == whole.summary, "requests do not depend on pieces", input)
  }
  return 0
}

/// What a server that echoes has received and sent.
func served(_ input: [UInt8], isHTTP2: Bool, piece: () -> Int) -> (summary: [String], sent: [UInt8]) {
  let recorder = Recorder()
  recorder.echo()
  let connection = ServerConnection(recorder, isHTTP2: isHTTP2)
  let sent = connection.exchange(input, piece: piece)
  connection.lose()
  for exchange in recorder.exchanges {
    precondition(exchange.stream.isOver, "the end of a connection ends its requests")
  }
  return (recorder.summary, sent)
}
