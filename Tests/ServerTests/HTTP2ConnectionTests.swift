import RPCurlBase
import RPCurlCServer
import RPCurlProtocols
import Testing

@testable import RPCurlServer
@testable import RPCurlServerSupport

struct HTTP2ConnectionTests {
  private let recorder = Recorder()
  private let client = HTTP2Client()

  private func server(_ limits: ServerLimits = ServerLimits()) -> ServerConnection {
    ServerConnection(recorder, isHTTP2: true, limits: limits)
  }

  /// The beginning of a connection, for frames that no client would send.
  private static let begin = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, 0, 0)

  private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8] = [])
    -> [UInt8]
  {
    [
      UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF), type, flags,
      0, 0, 0, stream,
    ] + payload
  }

  /// `:method: POST`, `:scheme: http`, `:path: /` and `:authority: h` by the static table.
  private static let fields: [UInt8] = [0x83, 0x86, 0x84, 0x41, 1, 0x68]

  @Test func exchangesRequestAndResponse() {
    recorder.echo()
    let server = server()
    let id = client.request([("x-a", "b"), ("te", "trailers")], path: "/p?q", body: Array("hello".utf8))
    client.run(with: server)
    #expect(recorder.summary == ["POST /p?q h [\"x-a=b\", \"te=trailers\"]", "hello", "end"])
    #expect(
      client.responses[id]
        == .init(headers: [":status=200", "x=y", "content-length=5"], body: Array("hello".utf8), code: 0))
    #expect(server.http.stage == .idle && !server.isDone)
  }

  @Test func keepsBytesOfAValueThatAreNotUTF8() {
    let server = server()
    // A literal field without indexing.
    server.exchange(Self.begin + Self.frame(1, 5, 1, Self.fields + [0, 1, 0x61, 2, 0x63, 0xE9]))
    #expect(recorder.exchanges.first?.head.headers == Headers([("a", "c\u{E9}")]))
  }

  @Test func streamsBothDirectionsWithTrailers() {
    let server = server()
    let id = client.request(body: [], isEnded: false)
    client.run(with: server)
    let exchange = recorder.exchanges[0]
    exchange.stream.respond(status: 200, headers: Headers([("a", "b")]))
    for number in 0..<3 {
      client.write([UInt8(number)], id)
      exchange.stream.write([UInt8(10 + number)])
      client.run(with: server)
      #expect(exchange.body.count == number + 1 && client.responses[id]?.body.count == number + 1)
    }
    client.write([], id, isEnded: true)
    exchange.stream.end(trailers: Headers([("grpc-status", "0"), ("x", "a\r\nb")]))
    client.run(with: server)
    #expect(exchange.events == ["end"] && exchange.stream.isOver)
    #expect(client.responses[id]?.headers == [":status=200", "a=b", "grpc-status=0", "x=a  b"])
    #expect(client.responses[id]?.code == 0)
  }

  @Test func responseWithoutBodyIsOneFrame() {
    recorder.begin = { exchange in
      exchange.stream.respond(status: 200, headers: Headers([("grpc-status", "5")]))
      exchange.stream.end()
    }
    let server = server()
    client.run(with: server)
    client.request()
    let sent = server.exchange(client.takeOutput())
    #expect(sent[3] == 1 && sent[4] & 1 == 1 && sent.count == 9 + Int(sent[2]))
  }

  @Test func wholeResponseHasItsLength() {
    recorder.begin = { exchange in
      exchange.stream.respond(status: 200, headers: Headers())
      exchange.stream.write([1, 2, 3])
      exchange.stream.end()
    }
    let server = server()
    let id = client.request()
    client.run(with: server)
    #expect(
      client.responses[id] == .init(headers: [":status=200", "content-length=3"], body: [1, 2, 3], code: 0))
  }

  @Test func splitsOfTheInputDoNotMatter() {
    recorder.echo()
    var expected: [String] = []
    var generator = SeededGenerator(seed: 2)
    for limit in 0..<40 {
      recorder.exchanges = []
      let client = HTTP2Client()
      for number in 0..<5 {
        client.request([("n", "\(number)")], body: [UInt8](repeating: 0x61, count: number * 9000))
      }
      client.run(with: server()) {
        limit == 0 ? .max : Int.random(in: 1...(limit * limit), using: &generator)
      }
      #expect(client.responses.count == 5 && client.responses.values.allSatisfy { $0.code == 0 })
      if limit == 0 { expected = recorder.summary }
      #expect(recorder.summary == expected)
    }
  }

  @Test func earlyResponseEndsRequest() {
    recorder.begin = { $0.stream.respond(status: 413, headers: Headers(), body: Array("no".utf8)) }
    let id = client.request(body: [UInt8](repeating: 0, count: 10), isEnded: false)
    client.run(with: server())
    #expect(client.responses[id]?.body == Array("no".utf8) && client.responses[id]?.code == 0)
    #expect(recorder.exchanges[0].events.isEmpty)
  }

  @Test func sendsContinueIfTheHandlerWaitsForTheBody() {
    let server = server()
    let id = client.request([("expect", "100-continue")], body: [], isEnded: false)
    client.run(with: server)
    #expect(
      client.responses[id]?.headers == [":status=100"] && recorder.exchanges[0].head.headers == Headers())
    recorder.exchanges[0].stream.respond(status: 200, headers: Headers(), body: [])
    client.run(with: server)
    #expect(client.responses[id]?.headers == [":status=100", ":status=200"])
  }

  @Test func refusesStreamsOverTheLimit() {
    var limits = ServerLimits()
    limits.streams = 3
    let server = server(limits)
    // Before the client has the limit.
    let ids = (0..<5).map { _ in client.request() }
    client.run(with: server)
    #expect(recorder.exchanges.count == 3)
    #expect(ids.map { client.responses[$0]?.code } == [nil, nil, nil, 7, 7])
  }

  @Test func cancelsRequestThatTheClientResets() {
    let server = server()
    let id = client.request()
    client.run(with: server)
    client.reset(id)
    client.run(with: server)
    #expect(
      recorder.exchanges[0].events == ["end", "reset stream(code: 8)"] && recorder.exchanges[0].stream.isOver)
  }

  @Test func resetsStreamOfTheHandler() {
    let server = server()
    let id = client.request()
    client.run(with: server)
    recorder.exchanges[0].stream.reset(2)
    client.run(with: server)
    #expect(client.responses[id]?.code == 2 && recorder.exchanges[0].events == ["end"])
  }

  @Test func pausedHandlerLimitsTheClientToItsWindow() {
    recorder.begin = { $0.stream.pauseReading() }
    let server = server()
    let total = 5 << 20
    client.request(body: [UInt8](repeating: 1, count: total))
    let other = client.request(path: "/other", body: [1])
    client.run(with: server)
    #expect(recorder.exchanges[0].body.count == 1 << 20 && recorder.exchanges[1].body.count == 1)
    recorder.exchanges[0].stream.resumeReading()
    client.run(with: server)
    #expect(recorder.exchanges[0].body.count == total && recorder.exchanges[0].events == ["end"])
    client.reset(other)
    client.run(with: server)
  }

  @Test func connectionWindowIsGivenBackByStreamsThatEnd() {
    recorder.begin = { $0.stream.pauseReading() }
    let server = server()
    for _ in 0..<40 {
      let id = client.request(body: [UInt8](repeating: 1, count: 1 << 20), isEnded: false)
      client.run(with: server)
      #expect(recorder.exchanges.last?.body.count == 1 << 20)
      client.reset(id)
    }
  }

  @Test func smallWindowsOfTheClientAreRespected() {
    recorder.echo()
    let client = HTTP2Client(streamWindow: 1)
    let id = client.request(body: [UInt8](repeating: 7, count: 3000))
    client.run(with: server())
    #expect(client.responses[id]?.body.count == 3000)
  }

  @Test func fillIsBounded() {
    let server = server()
    client.request()
    client.run(with: server)
    let stream = recorder.exchanges[0].stream
    stream.respond(status: 200, headers: Headers())
    stream.write([UInt8](repeating: 0, count: 900_000))
    server.http.fill(upTo: 100_000, at: .now)
    #expect((100_000..<120_000).contains(server.http.output.count) && server.http.hasUnsent)
  }

  @Test func contentLengthThatIsNotKeptResetsTheStream() {
    client.request([("content-length", "5")], body: [1, 2])
    client.run(with: server())
    #expect(recorder.exchanges[0].events == ["reset stream(code: 1)"])
  }

  @Test(arguments: [
    ([("host", "other")], "GET", 400), ([("host", "H")], "GET", nil),
    (Array(repeating: ("x", String(repeating: "a", count: 300)), count: 200), "GET", 431),
    (Array(repeating: ("x", "y"), count: 300), "GET", 431),
  ])
  func refusesRequests(_ fields: [(String, String)], _ method: String, _ status: Int?) {
    recorder.begin = { $0.stream.respond(status: 200, headers: Headers(), body: []) }
    let id = client.request(fields, method: method)
    client.run(with: server())
    #expect(client.responses[id]?.headers.first == ":status=\(status ?? 200)")
    #expect(recorder.exchanges.count == (status == nil ? 1 : 0))
  }

  @Test func shutDownLetsRequestsEnd() {
    recorder.echo()
    let server = server()
    let id = client.request(body: [1], isEnded: false)
    client.run(with: server)
    server.http.shutDown()
    client.run(with: server)
    #expect(
      client.goAways.map(\.last) == [.max, id] && client.goAways.allSatisfy { $0.code == 0 } && !server.isDone
    )
    client.write([2], id, isEnded: true)
    client.run(with: server)
    #expect(client.responses[id]?.body == [1, 2] && server.isDone)
  }

  // MARK: Attacks

  /// The GOAWAY code that ends a connection after these bytes; nil if it continues.
  private func code(of bytes: [UInt8]) -> UInt32? {
    let server = server()
    var sent: [UInt8] = []
    // In pieces, as they arrive.
    var rest = bytes[...]
    while !rest.isEmpty, !server.isDone {
      sent += server.exchange(Array(rest.prefix(16_384)))
      rest = rest.dropFirst(16_384)
    }
    let code = Self.goAway(in: sent)
    #expect(server.isDone == (code != nil))
    #expect(!server.isDone || recorder.exchanges.allSatisfy { $0.events.last?.hasPrefix("reset") ?? false })
    return code
  }

  /// The code of the GOAWAY frame among frames; nil if there is none.
  private static func goAway(in frames: [UInt8]) -> UInt32? {
    var rest = frames[...]
    while rest.count >= 9 {
      let header = Array(rest.prefix(9))
      let payload = Array(rest.dropFirst(9).prefix(Int(header[1]) << 8 | Int(header[2])))
      if header[3] == 7 { return payload[4..<8].reduce(0) { $0 << 8 | UInt32($1) } }
      rest = rest.dropFirst(9 + payload.count)
    }
    return nil
  }

  private func repeated(_ count: Int, _ bytes: [UInt8]) -> [UInt8] {
    Array(repeatElement(bytes, count: count).joined())
  }

  @Test func endsConnectionOfRapidResets() {
    let requests = (0..<2000).flatMap { number -> [UInt8] in
      var (open, reset) = (Self.frame(1, 5, 0, Self.fields), Self.frame(3, 0, 0, [0, 0, 0, 8]))
      let id = 2 * number + 1
      for index in [5, 6, 7, 8] {
        open[index] = UInt8(id >> (8 * (8 - index)) & 0xFF)
        reset[index] = open[index]
      }
      return open + reset
    }
    #expect(code(of: Self.begin + requests) == NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
    #expect((900...1100).contains(recorder.exchanges.count))
  }

  @Test func endsConnectionOfContinuationFloods() {
    let headers = Self.frame(1, 1, 1, Self.fields)
    #expect(code(of: Self.begin + headers + repeated(100_000, Self.frame(9, 0, 1))) != nil)
  }

  @Test func endsConnectionOfContinuationFloodsWithFields() {
    let headers = Self.frame(1, 1, 1, Self.fields)
    // A field that is in the static table: 62 KiB of the list for 2 KiB of input.
    let fields = repeated(8, Self.frame(9, 0, 1, [UInt8](repeating: 0x90, count: 16_000)))
    #expect(code(of: Self.begin + headers + fields) != nil)
  }

  @Test(
    arguments: [
      (4, 0, 0, []), (6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]), (2, 0, 1, [0, 0, 0, 0, 1]), (0, 0, 1, []),
    ] as [(UInt8, UInt8, UInt8, [UInt8])])
  func endsConnectionOfFrameFloods(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8]) {
    let flood = repeated(20_000, Self.frame(type, flags, stream, payload))
    let open = Self.frame(1, 4, 1, Self.fields)
    let code = code(of: Self.begin + open + flood)
    #expect(code == NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
  }

  /// Frames that the client does not read the replies of.
  @Test func endsConnectionOfClientThatDoesNotReadReplies() {
    let server = server()
    let pings = repeated(1800, Self.frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]))
    server.http.receive((Self.begin + pings).span.bytes, at: .now)
    #expect(server.isDone)
  }

  @Test(arguments: [
    Array("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".utf8), begin + frame(0, 0, 0, [1]), begin + frame(9, 4, 1, []),
    begin + frame(8, 0, 0, [0, 0, 0, 0]), begin + frame(1, 5, 2, fields),
    begin + frame(1, 5, 1, [0xFF, 0xFF, 0xFF, 0xFF]),
    begin + frame(4, 0, 0, [0, 4, 0xFF, 0xFF, 0xFF, 0xFF]), begin + frame(5, 4, 1, fields),
  ])
  func endsConnectionThatBreaksRules(_ bytes: [UInt8]) {
    #expect(code(of: bytes) ?? 0 != 0)
    #expect(recorder.exchanges.isEmpty)
  }

  @Test func invalidFieldResetsTheRequest() {
    for value in [[0x61, 0, 0x62], [0x0D, 0x0A], [0x7F]] as [[UInt8]] {
      let field: [UInt8] = [0, 1, 0x78, UInt8(value.count)] + value
      let sent = server().exchange(Self.begin + Self.frame(1, 5, 1, Self.fields + field))
      // RST_STREAM at the end.
      #expect(sent.suffix(13)[sent.count - 10] == 3)
    }
    #expect(recorder.exchanges.isEmpty)
  }

  @Test func refillsBudgetWithTime() {
    var budget = FrameBudget()
    let now = MonotonicClock.now
    budget.refill(at: now)
    #expect(budget.spend(10_000) && !budget.spend(1))
    budget.refill(at: now + .seconds(1))
    #expect(budget.spend(4000) && !budget.spend(2000))
    budget.refill(at: now + .seconds(100_000))
    #expect(budget.spend(9000) && !budget.spend(2000))
  }
}
