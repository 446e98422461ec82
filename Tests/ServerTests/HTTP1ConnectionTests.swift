import RPCurlBase
import RPCurlProtocols
import Testing

@testable import RPCurlServer
@testable import RPCurlServerSupport

struct HTTP1ConnectionTests {
  private let recorder = Recorder()

  private func connection(_ limits: ServerLimits = ServerLimits()) -> ServerConnection {
    ServerConnection(recorder, isHTTP2: false, limits: limits)
  }

  /// What a connection sends after this text, with `echo`.
  private func response(_ text: String, _ limits: ServerLimits = ServerLimits()) -> String {
    recorder.echo()
    return String(decoding: connection(limits).exchange(Array(text.utf8)), as: UTF8.self)
  }

  @Test func respondsWithLengthIfResponseIsComplete() {
    let sent = response("POST /a?b HTTP/1.1\r\nHost: h:1\r\nContent-Length: 3\r\nX-A:  b \r\n\r\nabc")
    #expect(sent == "HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 3\r\n\r\nabc")
    #expect(recorder.summary == ["POST /a?b h:1 [\"content-length=3\", \"x-a=b\"]", "abc", "end"])
  }

  @Test func keepsBytesOfAValueThatAreNotUTF8() {
    connection().exchange(Array("GET / HTTP/1.1\r\nHost: h\r\nA: caf".utf8) + [0xE9] + Array("\r\n\r\n".utf8))
    #expect(recorder.exchanges.first?.head.headers == Headers([("a", "caf\u{E9}")]))
  }

  @Test func decodesChunksAndTrailers() {
    let sent = response(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0A \r\n0123456789\r\n0\r\nX: 1\r\nY: 2\r\n\r\n"
    )
    #expect(sent.hasSuffix("\r\n\r\nabc0123456789"))
    #expect(recorder.exchanges.first?.events == ["trailers x=1,y=2", "end"])
    #expect(recorder.exchanges.first?.head.headers == Headers())
  }

  @Test func processesPipelinedRequestsInOrder() {
    var text = ""
    for number in 0..<20 {
      text += "POST /\(number) HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n\(10 + number)"
    }
    recorder.begin = { exchange in
      // The response is later than the next requests.
      exchange.onEnd = { exchange in exchange.stream.respond(status: 200, headers: Headers()) }
    }
    var limits = ServerLimits()
    limits.headerBytes = 5 * text.utf8.count / 20
    let connection = connection(limits)
    connection.exchange(Array(text.utf8))
    for number in 0..<20 {
      // The end of a client is noticed while few bytes wait.
      #expect(recorder.exchanges.count == number + 1 && connection.http.isReading == (number >= 15))
      recorder.exchanges[number].stream.end()
      connection.takeOutput()
    }
    #expect(recorder.exchanges.map(\.text) == (10..<30).map { "\($0)" } && connection.http.isReading)
  }

  static let refused: [(String, Int)] = [
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("GET / FTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /\t HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /\u{FF} HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ("GET http://a@b/ HTTP/1.1\r\nHost: b\r\n\r\n", 400), ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    // Bare line ends, and lines that continue.
    ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400),
    // Two lengths.
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
    ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
  ]

  @Test(arguments: refused) func refusesHeadThatBreaksRules(_ text: String, _ status: Int) {
    let sent = response(text)
    #expect(
      sent.hasPrefix("HTTP/1.1 \(status) ")
        && sent.hasSuffix("connection: close\r\ncontent-length: 0\r\n\r\n"))
    #expect(recorder.exchanges.isEmpty)
  }

  @Test(arguments: [
    "\r\n", "x\r\n", "3\nabc", "3\rabc", "3\r\nabcX", "3\r\nabc\n0\r\n\r\n", "3;\n\r\nabc\r\n",
    "1000000000000\r\n", "-1\r\n",
    "0x3\r\nabc", "0\r\nX: a\n\r\n", "0\r\n X: a\r\n\r\n", "0\r\nContent-Length: 3\r\n\r\n",
    "0\r\nHost: b\r\n\r\n",
    "3;" + String(repeating: "a", count: 5000) + "\r\n", "\u{661}\r\na\r\n0\r\n\r\n",
  ])
  func refusesBodyThatBreaksRules(_ body: String) {
    let sent = response("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    #expect(sent.hasPrefix("HTTP/1.1 4"))
    #expect(recorder.exchanges.first?.events == ["reset malformed"])
  }

  @Test func refusesHeadOverItsLimits() {
    let long = String(repeating: "a", count: 70_000)
    #expect(response("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)").hasPrefix("HTTP/1.1 431 "))
    #expect(response("GET /\(long)").hasPrefix("HTTP/1.1 431 "))
    let many = String(repeating: "A: b\r\n", count: 300)
    #expect(response("GET / HTTP/1.1\r\nHost: a\r\n\(many)\r\n").hasPrefix("HTTP/1.1 431 "))
  }

  @Test func splitsOfTheInputDoNotMatter() {
    let text =
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n3;a\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n"
      + "GET http://o:1/b HTTP/1.1\r\nHost: h\r\nConnection: x-b, close\r\nX-B: 1\r\n\r\nrest"
    recorder.echo()
    let whole = connection().exchange(Array(text.utf8))
    let expected = recorder.summary
    #expect(expected.count == 7 && expected.last == "end")
    var generator = SeededGenerator(seed: 1)
    for limit in 1...60 {
      recorder.exchanges = []
      let sent = connection().exchange(Array(text.utf8)) { Int.random(in: 1...limit, using: &generator) }
      #expect(recorder.summary == expected && sent == whole)
    }
  }

  @Test func streamsResponseInChunksWithTrailers() {
    let connection = connection()
    connection.exchange(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    let stream = recorder.exchanges[0].stream
    let headers = Headers([
      ("a", "b\r\nc: d"), ("content-length", "9"), ("connection", "x"), ("bad name", "1"),
    ])
    stream.respond(status: 200, headers: headers)
    #expect(
      connection.takeOutput()
        == Array("HTTP/1.1 200 OK\r\na: b  c: d\r\ntransfer-encoding: chunked\r\n\r\n".utf8))
    stream.write(Array("0123456789abcdef".utf8))
    #expect(connection.takeOutput() == Array("10\r\n0123456789abcdef\r\n".utf8))
    stream.end(trailers: Headers([("t", "1")]))
    #expect(connection.takeOutput() == Array("0\r\nt: 1\r\n\r\n".utf8))
    #expect(!connection.isDone && stream.isOver && connection.http.stage == .idle)
  }

  @Test func omitsBodyOfHeadAndOf204() {
    recorder.begin = {
      $0.stream.respond(status: 200, headers: Headers([("content-length", "3")]), body: Array("abc".utf8))
    }
    let head = connection().exchange(Array("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    #expect(head == Array("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n".utf8))
    recorder.begin = { $0.stream.respond(status: 204, headers: Headers(), body: Array("abc".utf8)) }
    #expect(
      connection().exchange(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        == Array("HTTP/1.1 204 \r\n\r\n".utf8))
  }

  @Test func dropsLateBodyOf204() {
    let connection = connection()
    recorder.begin = { $0.stream.respond(status: 204, headers: Headers()) }
    connection.exchange(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    recorder.exchanges[0].stream.write(Array("abc".utf8))
    recorder.exchanges[0].stream.end()
    #expect(connection.takeOutput().isEmpty && !connection.isDone)
  }

  @Test func closesConnectionOfHTTP1_0() {
    let connection = connection()
    recorder.begin = { $0.stream.respond(status: 200, headers: Headers()) }
    var sent = connection.exchange(Array("GET / HTTP/1.0\r\n\r\n".utf8))
    recorder.exchanges[0].stream.write(Array("abc".utf8))
    sent += connection.takeOutput()
    recorder.exchanges[0].stream.end()
    sent += connection.takeOutput()
    #expect(sent == Array("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc".utf8) && connection.isDone)
  }

  @Test func sendsContinueIfTheHandlerWaitsForTheBody() {
    let request = Array(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n".utf8)
    #expect(connection().exchange(request) == Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    recorder.begin = { $0.stream.respond(status: 403, headers: Headers(), body: []) }
    let connection = connection()
    let refused = String(decoding: connection.exchange(request), as: UTF8.self)
    #expect(
      refused == "HTTP/1.1 403 \r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        && connection.isDone)
  }

  @Test func pausedHandlerReceivesNothing() {
    recorder.begin = { $0.onBody = { $0.stream.pauseReading() } }
    let connection = connection()
    let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    connection.exchange(Array((head + "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n").utf8))
    let exchange = recorder.exchanges[0]
    for expected in ["a", "ab", "abc"] {
      #expect(exchange.text == expected && !connection.http.isReading && exchange.events.isEmpty)
      exchange.stream.resumeReading()
      connection.takeOutput()
    }
    #expect(exchange.events == ["end"])
  }

  @Test func writeReportsFullBufferAndResumes() {
    let connection = connection()
    connection.exchange(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    let exchange = recorder.exchanges[0]
    var resumed = 0
    exchange.onResume = { _ in resumed += 1 }
    exchange.stream.respond(status: 200, headers: Headers())
    let piece = [UInt8](repeating: 1, count: 100_000)
    #expect(exchange.stream.write(piece) && exchange.stream.write(piece) && !exchange.stream.write(piece))
    connection.http.fill(upTo: 200_000, at: .now)
    #expect(resumed == 0)
    #expect(connection.takeOutput().count > 300_000 && resumed == 1)
  }

  @Test func cancelsRequestOnce() {
    let connection = connection()
    connection.exchange(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    connection.http.cancel(.connection)
    connection.http.cancel(.stopped)
    #expect(recorder.exchanges[0].events == ["end", "reset connection"])
    #expect(connection.isDone && connection.takeOutput().isEmpty)
  }

  @Test func lateHeadIsReported() {
    let connection = connection()
    connection.exchange(Array("GET / HT".utf8))
    #expect(connection.http.stage == .header)
    connection.http.cancel(.timeout)
    #expect(
      String(decoding: connection.takeOutput(), as: UTF8.self).hasPrefix("HTTP/1.1 408 ") && connection.isDone
    )
  }

  @Test func shutDownEndsAfterTheResponse() {
    let idle = connection()
    idle.http.shutDown()
    #expect(idle.isDone)
    let busy = connection()
    busy.exchange(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    busy.http.shutDown()
    #expect(!busy.isDone)
    recorder.exchanges[0].stream.respond(status: 200, headers: Headers(), body: [])
    #expect(
      String(decoding: busy.takeOutput(), as: UTF8.self).contains("connection: close\r\n") && busy.isDone)
  }

  @Test func resetBeforeTheHeadIsAnErrorAndLaterACut() {
    let early = connection()
    early.exchange(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    recorder.exchanges[0].stream.reset()
    #expect(String(decoding: early.takeOutput(), as: UTF8.self).hasPrefix("HTTP/1.1 500 ") && early.isDone)
    let late = connection()
    late.exchange(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
    recorder.exchanges[1].stream.respond(status: 200, headers: Headers())
    late.takeOutput()
    recorder.exchanges[1].stream.reset()
    #expect(late.takeOutput().isEmpty && late.isDone)
    #expect(recorder.exchanges.allSatisfy { $0.events == ["end"] })
  }
}
