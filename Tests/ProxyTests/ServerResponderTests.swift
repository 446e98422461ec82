import RPCurlProtocols
import RPCurlServer
import RPCurlServerSupport
import Testing

@testable import RPCurlProxy

@Suite struct ServerResponderTests {
  /// What a client receives of a response whose messages are written by a function.
  private func response(
    _ contentType: String, accepting encodings: String = "",
    _ write: (ServerResponder, _ places: Span<Range<Int>>, _ piece: RawSpan) throws -> Void
  ) throws -> [UInt8] {
    let recorder = Recorder()
    let connection = ServerConnection(recorder, isHTTP2: false)
    connection.exchange(Array("POST /a.B/C HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n".utf8))
    let stream = try #require(recorder.exchanges.first?.stream)
    let fields = [("content-type", contentType), ("grpc-accept-encoding", encodings)]
    let head = ServerRequestHead(path: "/a.B/C", headers: Headers(fields), isHTTP2: false)
    guard case .call(let inbound) = ServerProtocols.receive(head, nil, ServerOptions(sent: [.gzip])) else {
      throw RPCError(.internal, "no call", origin: .client)
    }
    let unfinished = UnfinishedMessages(maxMessageBytes: 1000)
    let responder = ServerResponder(stream, inbound, Headers([("x", "y")]), unfinished)
    let piece: [UInt8] = Array(0..<100)
    let places = [5..<5, 5..<6, 10..<100]
    try write(responder, places.span, piece.span.bytes)
    responder.end(ResponseEnd())
    return connection.takeOutput()
  }

  @Test(
    arguments: ["application/grpc-web+proto", "application/grpc-web-text+proto", "application/connect+json"],
    ["", "gzip"])
  func writesManyMessagesAsEachAlone(_ contentType: String, _ encodings: String) throws {
    let together = try response(contentType, accepting: encodings) { responder, places, piece in
      let canWriteMore = try responder.write(places, of: piece)
      #expect(canWriteMore)
    }
    let alone = try response(contentType, accepting: encodings) { responder, places, piece in
      for index in places.indices {
        let canWriteMore = try responder.write(piece.extracting(places[index]))
        #expect(canWriteMore)
      }
    }
    #expect(together == alone && !together.isEmpty)
  }
}
