import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct RequestHeaderTests {
  @Test(arguments: [
    ("1n", Duration.nanoseconds(1)), ("2u", .microseconds(2)), ("100m", .milliseconds(100)),
    ("3S", .seconds(3)),
    ("4M", .seconds(240)), ("5H", .seconds(18_000)), ("00000007S", .seconds(7)), (" 1S\t", .seconds(1)),
    ("99999999H", .seconds(359_999_996_400)),
  ])
  func readsTimeoutOfGRPC(text: String, timeout: Duration) {
    #expect(ProtocolName.grpc.timeout(text) == timeout)
    #expect(ProtocolName.grpcWeb.timeout(text) == timeout)
    #expect(ProtocolName.connect.timeout(text) == nil)
  }

  @Test(
    arguments: [
      (Array("café".utf8), "café"), ([], ""), ([0x63, 0xE9], "c\u{E9}"), ([0xC3], "\u{C3}"),
      ([0x80, 0xFF], "\u{80}\u{FF}"), ([0xC3, 0xA9, 0xE9], "\u{C3}\u{A9}\u{E9}"),
    ] as [([UInt8], String)])
  func readsValuesAsUTF8OrISO8859(_ bytes: [UInt8], _ text: String) {
    #expect(HeaderSyntax.text(bytes.span.bytes).unicodeScalars.elementsEqual(text.unicodeScalars))
  }

  @Test func readsTimeoutOfConnect() {
    #expect(ProtocolName.connect.timeout("250") == .milliseconds(250))
    #expect(ProtocolName.connect.timeout("9999999999") == .milliseconds(9_999_999_999))
    #expect(ProtocolName.grpc.timeout("250") == nil)
  }

  @Test(arguments: [
    ([("grpc-timeout", "2S")], Duration.seconds(1), Duration.seconds(1)),
    ([("grpc-timeout", "500m")], .seconds(1), .milliseconds(500)),
    ([("grpc-timeout", "3S"), ("grpc-timeout", "2S")], nil, .seconds(2)),
    ([], .seconds(1), .seconds(1)), ([], nil, nil),
  ])
  func shortestTimeoutApplies(fields: [(String, String)], limit: Duration?, timeout: Duration?) {
    var headers = Headers([("x-a", "1")] + fields)
    #expect(ProtocolName.grpc.takeTimeout(from: &headers, limit: limit) == timeout)
    #expect(headers == Headers([("x-a", "1")]))
  }

  @Test func invalidTimeoutIsRejected() {
    for values in [["zz"], ["1S", ""]] {
      let headers = Headers(values.map { ("grpc-timeout", $0) })
      let error = #expect(throws: RPCError.self) { try ProtocolName.grpc.checkTimeout(in: headers) }
      #expect(
        error?.message.hasPrefix("the value of grpc-timeout is not a timeout: write up to 8 digits") == true)
      #expect(throws: Never.self) { try ProtocolName.connect.checkTimeout(in: headers) }
    }
  }

  @Test func headerOfAnotherProtocolIsKept() {
    var headers = Headers([("connect-timeout-ms", "1")])
    #expect(ProtocolName.grpc.takeTimeout(from: &headers, limit: nil) == nil)
    #expect(headers.count == 1)
  }

  @Test(
    arguments: [
      [("te", "gzip")], [("te", "trailers, deflate")], [("keep-alive", "3")], [("proxy-connection", "x")],
      [("host", "a"), ("host", "b")], [("content-encoding", "gzip")], [("grpc-encoding", "gzip")],
      [("connect-content-encoding", "gzip")],
    ], ProtocolName.allCases)
  func requestWithFieldOfTheMessageIsRejected(fields: [(String, String)], name: ProtocolName) {
    var start = RequestStart.test
    start.headers = Headers(fields)
    let error = #expect(throws: RPCError.self) {
      try WireProtocols.make(name, .of(.unary)).makeRequest(start, timeout: nil)
    }
    #expect(error?.message.hasPrefix("the header \(fields[0].0) ") == true)
  }

  @Test(arguments: ["a", "A.b:1", "[::1]:80", "1.2.3.4", "a_b-c~d", "a!$&'()*+,;=%20", "a.:65535"])
  func hostOfARequestIsSent(host: String) throws {
    var start = RequestStart.test
    start.headers = Headers([("host", host)])
    let request = try WireProtocols.make(.connect, .of(.unary)).makeRequest(start, timeout: nil)
    #expect(request.headers.values("host") == [host])
  }

  @Test(
    arguments: [
      "", " ", "a b", "foo/bar", "u@h", "a:", "a:0", "a:65536", "::1", "[::1", "ä", "a?b", "a#b", ":80",
    ])
  func requestWithAnotherHostIsRejected(host: String) {
    var start = RequestStart.test
    start.headers = Headers([("host", host)])
    let error = #expect(throws: RPCError.self) {
      try WireProtocols.make(.connect, .of(.unary)).makeRequest(start, timeout: nil)
    }
    #expect(error?.message == "the value of host is not a host with an optional port")
    #expect(error?.origin == .request)
  }

  @Test(arguments: [
    ("a b", "1", #""a b" is not a valid header name"#), ("", "1", #""" is not a valid header name"#),
    ("x-a", "1\n2", "the value of the header x-a contains a control character"),
    ("content-type", "text/html", "the header content-type can be set only by the transport"),
  ])
  func requestWithInvalidFieldIsRejected(name: String, value: String, why: String) {
    var start = RequestStart.test
    start.headers = Headers([(name, value)])
    let error = #expect(throws: RPCError.self) {
      try WireProtocols.make(.grpc, .of(.unary)).makeRequest(start, timeout: nil)
    }
    #expect(error?.message == why)
    #expect(error?.code == .invalidArgument)
    #expect(error?.origin == .request)
  }

  @Test func trailersInTEAreSent() throws {
    var start = RequestStart.test
    start.headers = Headers([("te", "trailers")])
    let request = try WireProtocols.make(.grpc, .of(.unary)).makeRequest(start, timeout: nil)
    #expect(request.headers.values("te") == ["trailers"])
  }

  @Test(arguments: [ProtocolName.grpc, .grpcWeb], ["ä", "a\tb"])
  func requestWithValueThatGRPCForbidsIsRejected(name: ProtocolName, value: String) {
    var start = RequestStart.test
    start.headers = Headers([("x-a", value)])
    let error = #expect(throws: RPCError.self) {
      try WireProtocols.make(name, .of(.unary)).makeRequest(start, timeout: nil)
    }
    #expect(
      error?.message
        == "the value of x-a contains bytes other than printable ASCII, which gRPC forbids: percent-encode it, "
        + "or send it as base64 in x-a-bin")
    for kind in [CallKind.unary, .serverStreaming] {
      #expect(throws: Never.self) {
        try WireProtocols.make(.connect, .of(kind)).makeRequest(start, timeout: nil)
      }
    }
  }
}
