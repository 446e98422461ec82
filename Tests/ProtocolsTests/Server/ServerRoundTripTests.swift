import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

/// What goes into one half of a protocol comes out of the other.
@Suite struct ServerRoundTripTests {
  private static let compressions: [Compression] = [.gzip, .deflate, .br, .zstd, .snappy]

  @Test(arguments: ProtocolName.allCases, 0..<300)
  func halvesOfAProtocolExchangeCalls(name: ProtocolName, seed: Int) throws {
    var random = RandomCall(seed: seed)
    let kind = random.element(CallKind.allCases)
    let call = random.call(name, kind)
    let client = WireProtocols.make(name, call.parameters)
    var body: [UInt8] = []
    for message in call.requestMessages { try client.encode(message, into: &body) }
    let request = try client.makeRequest(call.start, timeout: call.timeout)
    let isGET = request.method == "GET"
    #expect(isGET == (call.parameters.usesGET && kind == .unary && name == .connect))
    let options = ServerOptions(
      maxMessageBytes: 1000, accepted: Self.compressions, sent: random.some(Self.compressions))
    var server = ServerRecorder(
      ServerRequestHead(request), random.flag() && !isGET ? nil : ServerMethod(kind: kind, allowsGET: true),
      options, body: isGET ? [] : body, pieceBytes: random.number(1...40))
    try expectRequest(server, call, name)

    try server.respond(call.responseStart, call.responseMessages, call.end)
    let response = server.response.feed(client, pieceBytes: random.number(1...40))
    try expectResponse(response, call, name, kind)
  }

  /// A proxy is the server's half of a protocol and the client's half of another one.
  @Test(arguments: ProtocolName.allCases.flatMap { name in ProtocolName.allCases.map { (name, $0) } }, 0..<60)
  func callsPassThroughAProxy(names: (ProtocolName, ProtocolName), seed: Int) throws {
    var random = RandomCall(seed: seed)
    let kind = random.element(CallKind.allCases)
    let call = random.call(names.0, kind, isASCII: names != (.connect, .connect))
    let client = WireProtocols.make(names.0, call.parameters)
    var body: [UInt8] = []
    for message in call.requestMessages { try client.encode(message, into: &body) }
    let request = try client.makeRequest(call.start, timeout: call.timeout)
    let options = ServerOptions(
      maxMessageBytes: 1000, accepted: Self.compressions, sent: random.some(Self.compressions))
    let method = ServerMethod(kind: kind, allowsGET: true)
    var front = ServerRecorder(
      ServerRequestHead(request), method, options, body: request.method == "GET" ? [] : body)

    let received = try #require(front.call?.request)
    var parameters = random.call(names.1, kind).parameters
    parameters.codec = received.start.codec
    let back = WireProtocols.make(names.1, parameters)
    body = []
    for message in front.messages { try back.encode(message, into: &body) }
    var start = received.start
    start.target = "http://h"
    let forwarded = try back.makeRequest(start, timeout: received.timeout)
    var server = ServerRecorder(
      ServerRequestHead(forwarded), method, options, body: forwarded.method == "GET" ? [] : body)
    try expectRequest(server, call, names.1)
    try server.respond(call.responseStart, call.responseMessages, call.end)
    let response = server.response.feed(back)
    guard case .responseStart(let head)? = response.events.first else {
      Issue.record("the response has a start")
      return
    }
    try front.respond(head, response.messages, #require(response.end))
    let last = front.response.feed(client, pieceBytes: random.number(1...40))
    try expectResponse(last, call, names.0 == .connect ? names.1 : names.0, kind)
  }

  private func expectRequest(_ server: ServerRecorder, _ call: RandomCall.Call, _ name: ProtocolName) throws {
    #expect(server.error == nil)
    let received = try #require(server.call?.request)
    #expect(server.messages == call.requestMessages)
    #expect(received.protocolName == name)
    #expect(received.start.method == call.start.method)
    #expect(received.start.codec == call.parameters.codec)
    #expect(
      grouped(received.start.headers)
        == grouped(call.start.headers).merging(["user-agent": ["test/1"]]) { sent, _ in sent })
    #expect((received.timeout == nil) == (call.timeout == nil))
    if let timeout = call.timeout, let left = received.timeout {
      #expect((timeout...(timeout + .milliseconds(1))).contains(left))
    }
  }

  private func expectResponse(
    _ response: ResponseRecorder, _ call: RandomCall.Call, _ name: ProtocolName, _ kind: CallKind
  ) throws {
    let end = try #require(response.end)
    guard case .responseStart(let start)? = response.events.first else {
      Issue.record("the response has a start")
      return
    }
    let isDelivered = kind.serverStreams || call.end.error == nil
    #expect(response.messages == (isDelivered ? call.responseMessages : []))
    #expect(end.error == call.end.error.map { call.received($0, name) })
    var leading = grouped(ServerHeaders.leading(start))
    // A response to a GET may be kept by caches.
    leading["vary"] = nil
    #expect(leading == grouped(call.responseStart?.headers ?? Headers()))
    #expect(grouped(ServerHeaders.metadata(end.trailers)) == grouped(call.end.trailers))
  }

  /// The values of each name. Connect groups trailers by their names.
  private func grouped(_ headers: Headers) -> [String: [String]] {
    Dictionary(grouping: headers.fields, by: \.name).mapValues { $0.map(\.value) }
  }
}

/// Random calls.
private struct RandomCall {
  struct Call {
    var parameters: CallParameters
    var start = RequestStart.test
    var timeout: Duration?
    var requestMessages: [[UInt8]] = []
    var responseStart: ResponseStart?
    var responseMessages: [[UInt8]] = []
    var end = ResponseEnd()

    /// An error as the client receives it.
    func received(_ error: RPCError, _ name: ProtocolName) -> RPCError {
      var error = error
      if name != .connect { for index in error.details.indices { error.details[index].debug = nil } }
      return error
    }
  }

  private var random: SeededGenerator

  init(seed: Int) { random = SeededGenerator(seed: UInt64(seed)) }

  mutating func flag() -> Bool { Bool.random(using: &random) }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func element<Element>(_ elements: [Element]) -> Element {
    elements[number(0...elements.count - 1)]
  }
  mutating func some<Element>(_ elements: [Element]) -> [Element] {
    elements.shuffled(using: &random).filter { _ in flag() }
  }

  mutating func call(_ name: ProtocolName, _ kind: CallKind, isASCII: Bool = false) -> Call {
    let all: [Compression] = [.gzip, .deflate, .br, .zstd, .snappy]
    var call = Call(
      parameters: .of(
        kind, codec: element(CodecName.allCases), compression: flag() ? element(all) : nil,
        accepted: some(all),
        usesGET: flag()))
    call.parameters.sendsText = name == .grpcWeb && flag()
    call.start.headers = metadata(isASCII || name != .connect)
    call.timeout = flag() ? .nanoseconds(number(1...5_000_000_000)) : nil
    call.requestMessages = messages(kind.clientStreams ? number(0...4) : 1)
    call.end.trailers = metadata(isASCII || name != .connect)
    if flag() { call.end.error = error() }
    let isEmpty = call.end.error != nil && flag()
    call.responseMessages = messages(kind.serverStreams ? number(0...4) : isEmpty ? 0 : 1)
    if flag() || !call.responseMessages.isEmpty {
      call.responseStart = ResponseStart(headers: metadata(isASCII || name != .connect))
    }
    return call
  }

  private mutating func messages(_ count: Int) -> [[UInt8]] {
    (0..<count).map { _ in (0..<element([0, 1, 5, number(0...900)])).map { _ in UInt8(number(0...255)) } }
  }

  private mutating func metadata(_ isASCII: Bool) -> Headers {
    var headers = Headers()
    for _ in 0..<number(0...4) {
      let values = ["", "a", "a, b", "x  y", "%41", "a:b=\"c\"", isASCII ? "~" : "\u{E9}\u{20AC}"]
      let isBinary = flag()
      headers.add(
        element(["x-one", "x-two", "grpc-tags"]) + (isBinary ? "-bin" : ""),
        isBinary ? Base64.encode(messages(1)[0], padding: flag()) : element(values))
    }
    return headers
  }

  private mutating func error() -> RPCError {
    let texts = ["", "no", " 100% \n", "caf\u{E9} \u{1F600}", "\"quoted\" \\ \u{0}\u{7F}", "a+b&c=d%20"]
    var error = RPCError(element(StatusCode.allCases.filter { $0 != .ok }), element(texts), origin: .server)
    for _ in 0..<number(0...3) {
      error.details.append(
        StatusDetail(
          typeName: element(["a.B", "google.rpc.ErrorInfo"]), value: messages(1)[0],
          debug: flag() ? #"{"a":[1,"b"]}"# : nil))
    }
    return error
  }
}
