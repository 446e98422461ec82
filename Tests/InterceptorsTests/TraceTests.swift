import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct TraceTests {
  private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  private let services = TestServices()
  private let network = TestFactoryNetwork()

  private func call(
    _ registrations: [InterceptorRegistration], kind: CallKind = .unary, headers: [(String, String)] = []
  ) -> TestCall {
    let call = TestCall(kind, Journal(), registrations)
    call.request.headers = Headers(headers)
    call.start()
    return call
  }

  // MARK: Context

  @Test(arguments: [
    (parent, true),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true),
    ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
    ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what", true),
    ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.what", false),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what", false),
    ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
    ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0", false),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x", false),
    ("00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("", false), ("00", false),
  ])
  func parsesTraceParent(_ text: String, _ isValid: Bool) {
    #expect((TraceParent(text) != nil) == isValid)
  }

  @Test func flagsThatAreNotDefinedAreDropped() {
    #expect(
      TraceParent("00-0af7651916cd43dd8448eb211c80319c-00000000000000a1-ff")?.text
        == "00-0af7651916cd43dd8448eb211c80319c-00000000000000a1-03")
  }

  @Test(
    arguments: [
      (["a=1,b=2"], "a=1,b=2"), (["a=1", "b=2"], "a=1,b=2"), ([" a=1 \t,, b=2 "], "a=1,b=2"), ([], ""),
      (["fw529a3039@dt=FfAAAAAA;, 0a_-*/=x y"], "fw529a3039@dt=FfAAAAAA;,0a_-*/=x y"),
      (["a=1,a=2"], nil), (["A=1"], nil), (["a"], nil), (["a="], nil), (["=1"], nil), (["a=b=c"], nil),
      (["a=\u{7f}"], nil), (["é=1"], nil), ([String(repeating: "k", count: 257) + "=1"], nil),
      ([(1...33).map { "k\($0)=1" }.joined(separator: ",")], nil),
    ] as [([String], String?)])
  func parsesTraceState(_ values: [String], _ expected: String?) {
    #expect(TraceState.parse(values) == expected)
  }

  @Test func startsATraceWithoutContext() throws {
    let sent = try #require(
      call([try services.registration("trace")]).sentStart?.headers.first("traceparent"))
    let parent = try #require(TraceParent(sent))
    #expect(parent.isSampled)
    let other = call([try services.registration("trace")]).sentStart?.headers.first("traceparent")
    #expect(other != sent)
  }

  @Test func continuesTheTraceOfTheEnvironment() throws {
    services.variables = ["TRACEPARENT": Self.parent, "TRACESTATE": "a=1, b=2"]
    let call = call([try services.registration("trace")])
    let sent = try #require(TraceParent(call.sentStart?.headers.first("traceparent") ?? ""))
    #expect(sent.traceID.text == "0af7651916cd43dd8448eb211c80319c")
    #expect(SpanID.text(sent.spanID) != "b7ad6b7169203331")
    #expect(call.sentStart?.headers.first("tracestate") == "a=1,b=2")
    call.receiveEnd()
    #expect(call.found.map(\.text) == ["trace ID 0af7651916cd43dd8448eb211c80319c"])
  }

  @Test func headerPrecedesTheEnvironment() throws {
    services.variables = ["TRACEPARENT": Self.parent, "TRACESTATE": "a=1"]
    let own = "00-11111111111111111111111111111111-2222222222222222-00"
    let call = call(
      [try services.registration("trace")],
      headers: [("traceparent", own), ("tracestate", "x=1"), ("tracestate", "y=2")])
    let headers = try #require(call.sentStart?.headers)
    #expect(headers.first("traceparent")?.hasPrefix("00-11111111111111111111111111111111-") == true)
    #expect(headers.first("traceparent")?.hasSuffix("-00") == true)
    #expect(headers.values("traceparent").count == 1)
    #expect(headers.values("tracestate") == ["x=1,y=2"])
    call.receiveEnd()
    #expect(call.found.map(\.text) == ["trace ID 11111111111111111111111111111111, not sampled"])
  }

  @Test(arguments: [
    (["TRACEPARENT": "00-zz", "TRACESTATE": "a=1"], "the environment variable TRACEPARENT is invalid"),
    (["TRACEPARENT": parent, "TRACESTATE": "A"], "the environment variable TRACESTATE is invalid"),
  ])
  func invalidContextIsReportedOnce(_ variables: [String: String], _ words: String) throws {
    services.variables = variables
    let registration = try services.registration("trace")
    let first = call([registration])
    #expect(first.logged.count == 1 && first.logged[0].text.hasPrefix(words))
    #expect(first.sentStart?.headers.first("tracestate") == nil)
    #expect(call([registration]).logged == [])
  }

  @Test func invalidHeaderStartsANewTrace() throws {
    services.variables = ["TRACEPARENT": Self.parent]
    let call = call(
      [try services.registration("trace")], headers: [("traceparent", "x"), ("tracestate", "a=1")])
    let sent = try #require(TraceParent(call.sentStart?.headers.first("traceparent") ?? ""))
    #expect(sent.traceID.text != "0af7651916cd43dd8448eb211c80319c")
    #expect(call.sentStart?.headers.first("tracestate") == nil)
  }

  // MARK: Spans

  /// The exported spans, in the order in which they ended.
  private func spans(_ index: Int = 0) -> [WireFields] {
    WireFields(network.fetches[index].body).messages(1, 2, 2)
  }

  /// Each attempt has a copy of the attributes of the call.
  @Test func exportsAttributesWithoutSecrets() throws {
    let trace = try services.registration("trace,endpoint=https://collector.example/otlp")
    let call = TestCall(.unary, Journal(), [trace])
    try call.chain.attributes.set("tier", "gold")
    try call.chain.attributes.set("api_token", "top")
    call.run()
    trace.factory.callFinished(network.network)
    let attributes = spans().map { $0.attributes(9).filter { $0.key.hasPrefix("rpcurl.attribute.") } }
    let expected = ["rpcurl.attribute.tier": "gold", "rpcurl.attribute.api_token": "[redacted]"]
    #expect(attributes == [expected, expected])
  }

  @Test func exportsACallAndItsAttempts() throws {
    services.variables = ["TRACEPARENT": Self.parent, "TRACESTATE": "a=1"]
    let trace = try services.registration("trace,endpoint=https://collector.example/otlp")
    let call = call([trace, try services.registration("retry,initial=1s,jitter=0")])
    let first = call.sentStart?.headers.first("traceparent")
    call.send("ping")
    call.close()
    call.receiveEnd(RPCError(.unavailable, "busy", origin: .server))
    call.clock.advance(by: .seconds(1))
    let second = call.sentStart?.headers.first("traceparent")
    call.receiveHeaders()
    call.receive("pong")
    call.clock.advance(by: .milliseconds(5))
    call.receiveEnd()
    trace.factory.callFinished(network.network)
    #expect(network.fetches.map(\.url) == ["https://collector.example/otlp/v1/traces"])

    let spans = spans()
    #expect(spans.count == 3)
    let identities = spans.map { hexadecimal($0.bytes(2).first) }
    #expect(
      spans.map { hexadecimal($0.bytes(1).first) }
        == Array(repeating: "0af7651916cd43dd8448eb211c80319c", count: 3))
    #expect(
      spans.map { hexadecimal($0.bytes(4).first) } == [identities[2], identities[2], "b7ad6b7169203331"])
    #expect(spans.map { $0.texts(3) } == [["a=1"], ["a=1"], ["a=1"]])
    #expect(spans.map { $0.numbers(6) } == [[3], [3], [1]])
    #expect(first?.contains(identities[0]) == true && second?.contains(identities[1]) == true)
    let begin = UInt64(services.nanosecondsSince1970)
    #expect(spans.map { $0.numbers(7) } == [[begin], [begin + 1_000_000_000], [begin]])
    #expect(spans.map { $0.numbers(8) } == [[begin], [begin + 1_005_000_000], [begin + 1_005_000_000]])
    #expect(
      spans[0].attributes(9) == [
        "rpc.system": "grpc", "rpc.service": "test.Echo", "rpc.method": "Say", "rpc.grpc.status_code": "14",
        "error.type": "unavailable", "server.address": "server", "server.port": "80", "rpcurl.attempt": "1",
      ])
    #expect(
      spans[0].messages(15).first?.texts(2) == ["busy"] && spans[0].messages(15).first?.numbers(3) == [2])
    #expect(spans[1].messages(15).isEmpty && spans[2].messages(15).isEmpty)
    let events = spans[1].messages(11)
    #expect(events.map { $0.texts(2) } == [["rpc.message"], ["rpc.message"]])
    let size = TestMessages.bytes("ping").count
    #expect(
      events.map { $0.attributes(3) }
        == ["SENT", "RECEIVED"].map {
          ["rpc.message.type": $0, "rpc.message.id": "1", "rpc.message.uncompressed_size": "\(size)"]
        })
  }

  @Test func eventsOfALongStreamAreLimited() throws {
    let trace = try services.registration("trace,endpoint=http://localhost:4318")
    let call = call([trace], kind: .serverStreaming)
    call.receiveHeaders()
    for _ in 1...130 { call.receive("x") }
    call.receiveEnd()
    trace.factory.callFinished(network.network)
    #expect(spans()[0].messages(11).count == 128 && spans()[0].numbers(12) == [2])
  }

  @Test func headerValuesAndMessagesAreNotExported() throws {
    let trace = try services.registration("trace,endpoint=http://localhost:4318")
    let call = call([trace], headers: [("authorization", "Bearer hidden")])
    call.send("secret")
    call.close()
    call.receiveHeaders()
    call.receive("confidential")
    call.receiveEnd()
    trace.factory.callFinished(network.network)
    let body = String(decoding: network.fetches[0].body, as: UTF8.self)
    for word in ["hidden", "authorization", "secret", "confidential"] { #expect(!body.contains(word)) }
  }

  @Test func unsampledTraceIsNotExported() throws {
    services.variables = ["TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"]
    let trace = try services.registration("trace,endpoint=http://localhost:4318")
    let call = call([trace])
    #expect(call.sentStart?.headers.first("traceparent")?.hasSuffix("-00") == true)
    call.receiveEnd()
    network.conclude(trace)
    #expect(network.fetches.isEmpty && network.isConcluded)
  }

  @Test func callThatNeverReachesTheTransportHasASpan() throws {
    let trace = try services.registration("trace,endpoint=http://localhost:4318")
    let refuses = TestCall.registration("B") { _, _ in throw RPCError(.notFound, "none", origin: .client) }
    _ = call([trace, refuses])
    trace.factory.callFinished(network.network)
    #expect(spans().map { $0.attributes(9)["error.type"] } == ["not_found"])
  }

  // MARK: Export

  @Test func oneRequestIsSentAtATime() throws {
    let trace = try services.registration("trace,endpoint=http://localhost:4318,messages=false")
    for _ in 1...3 {
      call([trace]).receiveEnd()
      trace.factory.callFinished(network.network)
    }
    #expect(network.fetches.count == 1)
    network.conclude(trace)
    network.respond()
    #expect(network.fetches.count == 2 && !network.isConcluded)
    #expect(spans(0).count == 2 && spans(1).count == 4)
    network.respond()
    #expect(network.isConcluded && network.logged == [])
  }

  /// Clients may share an interceptor.
  @Test func concludesForEachClient() throws {
    let trace = try services.registration("trace,endpoint=http://localhost:4318")
    call([trace]).receiveEnd()
    trace.factory.callFinished(network.network)
    let concluded = Locked<[String]>([])
    for client in ["a", "b"] {
      trace.factory.conclude(network.network) { concluded.withLock { $0.append(client) } }
    }
    #expect(concluded.withLock { $0 } == [])
    network.respond()
    #expect(concluded.withLock { $0 } == ["a", "b"])
  }

  @Test func failuresAreReportedOnce() throws {
    let trace = try services.registration("trace,endpoint=http://localhost:4318")
    for _ in 1...2 {
      call([trace]).receiveEnd()
      trace.factory.callFinished(network.network)
    }
    network.conclude(trace)
    network.fail("connection refused")
    #expect(network.isConcluded && network.fetches.count == 1)
    #expect(network.logged.map(\.text) == ["4 spans were not exported: localhost:4318: connection refused"])
  }

  @Test func writesSpansToAFile() throws {
    let trace = try services.registration("trace,file=spans.pb")
    for _ in 1...2 {
      call([trace]).receiveEnd()
      trace.factory.callFinished(network.network)
    }
    network.conclude(trace)
    #expect(network.isConcluded && network.fetches.isEmpty)
    #expect(services.files["spans.pb"]?.isEmpty == false)
  }

  @Test(
    arguments: [
      (
        "trace,endpoint=collector:4317", [:],
        "trace: endpoint: is not an http(s) URL without user information"
      ),
      ("trace,file=a,endpoint=http://a", [:], "trace: endpoint: cannot be combined with file"),
      ("trace,file=/no/a", [:], "trace: file: /no/a: no such file or directory"),
      (
        "trace", ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"],
        "trace: OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported, only http/protobuf is"
      ),
    ] as [(String, [String: String], String)])
  func rejectsInvalidSettings(_ text: String, _ variables: [String: String], _ expected: String) {
    services.variables = variables
    #expect {
      try services.registration(text)
    } throws: {
      "\($0)" == expected
    }
  }

  @Test func endpointOfTheSignalIsUsedAsItIs() throws {
    services.variables = [
      "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b/custom",
      "OTEL_EXPORTER_OTLP_TIMEOUT": "700", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=1",
      "OTEL_EXPORTER_OTLP_CERTIFICATE": "ca.pem",
    ]
    let trace = try services.registration("trace")
    call([trace]).receiveEnd()
    trace.factory.callFinished(network.network)
    let fetch = try #require(network.fetches.first)
    #expect(fetch.url == "http://b/custom" && fetch.timeout == .milliseconds(700))
    #expect(fetch.headers.first("a") == "1" && fetch.authoritiesFile == "ca.pem")
  }
}
