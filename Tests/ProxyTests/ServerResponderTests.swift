import RPCurlProtobuf
import RPCurlProtocols
import RPCurlServer
import RPCurlServerSupport
import Testing

@testable import RPCurlProxy

@Suite struct ServerResponderTests {
  /// Receives messages, and pauses after some of them.
  private final class Receiver: RequestReceiver {
    var received: [String] = []
    var pausesAfter: Set<Int> = []
    let responder: ServerResponder

    init(_ responder: ServerResponder) {
      self.responder = responder
      responder.receiver = self
    }

    func receive(request: [UInt8]) {
      received.append(String(decoding: request, as: UTF8.self))
      if pausesAfter.contains(received.count) { responder.wantRequest(false) }
    }

    func receiveRequestEnd(_ error: RPCError?) { received.append(error.map { $0.code.name } ?? "end") }
  }

  @Test(arguments: ["application/grpc-web+proto", "application/grpc-web-text+proto"])
  func pausedRequestIsReadWhenItContinues(_ contentType: String) throws {
    let body: [UInt8] = "abcde".utf8.flatMap { [0, 0, 0, 0, 1, $0] as [UInt8] }
    let bytes = contentType.contains("text") ? Array(Base64.encode(body).utf8) : body
    for size in 1...bytes.count {
      try respond(contentType) { responder, _, _ in
        let receiver = Receiver(responder)
        receiver.pausesAfter = [1, 2, 4]
        for start in stride(from: 0, to: bytes.count, by: size) {
          responder.receive(bytes[start..<min(start + size, bytes.count)].span.bytes)
        }
        #expect(receiver.received == ["a"])
        responder.wantRequest(true)
        #expect(receiver.received == ["a", "b"])
        responder.receiveEnd()
        responder.wantRequest(true)
        #expect(receiver.received == ["a", "b", "c", "d"])
        responder.wantRequest(true)
        #expect(receiver.received == ["a", "b", "c", "d", "e", "end"])
        responder.wantRequest(true)
        #expect(receiver.received.count == 6)
      }
    }
  }

  @Test func invalidRequestEndsOnceAfterAPause() throws {
    try respond("application/grpc-web+proto") { responder, _, _ in
      let receiver = Receiver(responder)
      receiver.pausesAfter = [1]
      let body: [UInt8] = [0, 0, 0, 0, 1, 0x61, 7, 0, 0, 0, 1, 0x62]
      responder.receive(body.span.bytes)
      responder.receiveEnd()
      #expect(receiver.received == ["a"])
      responder.wantRequest(true)
      #expect(receiver.received == ["a", "internal"])
      responder.receive(body.span.bytes)
      #expect(receiver.received.count == 2)
    }
  }

  /// What a client receives of a response whose messages are written by a function.
  @discardableResult
  private func respond(
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
    let together = try respond(contentType, accepting: encodings) { responder, places, piece in
      let canWriteMore = try responder.write(places, of: piece)
      #expect(canWriteMore)
    }
    let alone = try respond(contentType, accepting: encodings) { responder, places, piece in
      for index in places.indices {
        let canWriteMore = try responder.write(piece.extracting(places[index]))
        #expect(canWriteMore)
      }
    }
    #expect(together == alone && !together.isEmpty)
  }
}
