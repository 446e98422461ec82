import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct MetricsTests {
  private let services = TestServices()
  private let network = TestFactoryNetwork()

  /// Makes a call through an interceptor, which takes this time.
  private func run(
    _ registration: InterceptorRegistration, taking time: Duration, _ error: RPCError? = nil
  ) {
    let call = TestCall(.unary, Journal(), [registration])
    call.metrics.sentMessages = 1
    call.metrics.receivedMessages = 2
    call.metrics.receivedBytes = 1500
    call.start()
    call.clock.advance(by: time)
    call.receiveEnd(error)
    #expect(call.outcome != nil)
  }

  private func report(_ text: String, _ times: [Duration], file: String = "-") throws -> String {
    let registration = try services.registration(text)
    for time in times { run(registration, taking: time) }
    network.conclude(registration)
    #expect(network.isConcluded)
    return services.files[file] ?? ""
  }

  @Test(arguments: [
    ("metrics", "-", "jobs_total: 2.5\nother: 3\n"),
    ("metrics,format=json", "-", #""counters":{"jobs_total":2.5,"other":3}"#),
    (
      "metrics,format=prometheus,file=f", "f",
      "# TYPE jobs_total counter\njobs_total 2.5\n# HELP other Counted by a plugin.\n# TYPE other counter\nother 3\n"
    ),
    ("metrics,format=otlp,file=f", "f", "jobs_total"),
  ])
  func reportsCountersOfPlugins(_ text: String, _ file: String, _ expected: String) throws {
    try services.shared.add(2, to: "other")
    try services.shared.add(1, to: "other")
    try services.shared.add(2.5, to: "jobs_total")
    #expect(try report(text, [.milliseconds(1)], file: file).contains(expected))
  }

  // MARK: Histograms

  @Test(arguments: [Duration.nanoseconds(100), .microseconds(1), .milliseconds(1)])
  func quantilesHaveThreeSignificantDigits(_ unit: Duration) {
    let histogram = LatencyHistogram()
    for number in 1...10_000 { histogram.count(unit * number) }
    #expect(histogram.total == 10_000)
    for (percentile, expected) in [
      (0.1, 10.0), (50, 5000), (90, 9000), (99, 9900), (99.9, 9990), (100, 10000),
    ] {
      #expect(abs(histogram.quantile(percentile) / unit - expected) <= expected / 1000, "\(percentile)")
    }
    #expect(abs(histogram.mean / unit - 5000.5) <= 5)
  }

  /// 1.3 % of the calls exceed the latency of the others.
  @Test func quantileIsExceededByNoMoreCallsThanStated() {
    let histogram = LatencyHistogram()
    for _ in 1...149 { histogram.count(.milliseconds(2)) }
    for _ in 1...2 { histogram.count(.milliseconds(150)) }
    #expect(histogram.quantile(98) < .milliseconds(3))
    #expect(histogram.quantile(99) > .milliseconds(149))
  }

  @Test func slowCallsCountForTheCallsThatTheyDelay() {
    let histogram = LatencyHistogram()
    for _ in 1...99 { histogram.count(.milliseconds(1), expectedInterval: .milliseconds(10)) }
    // As if calls with latencies of 1000, 990, … 10 milliseconds had been made.
    histogram.count(.seconds(1), expectedInterval: .milliseconds(10))
    #expect(histogram.total == 199)
    #expect(abs(histogram.quantile(75) / .milliseconds(1) - 500) <= 15)
  }

  @Test func extremeLatenciesAreLimited() {
    let histogram = LatencyHistogram()
    #expect(histogram.min == .zero && histogram.max == .zero && histogram.mean == .zero)
    histogram.count(.seconds(-1))
    histogram.count(.seconds(1_000_000))
    #expect(histogram.total == 2)
    #expect(histogram.quantile(100) >= .seconds(86_400))
  }

  @Test func countsCallsUpToBounds() {
    let histogram = LatencyHistogram()
    for milliseconds in [3, 7, 7, 30, 20_000] { histogram.count(.milliseconds(milliseconds)) }
    #expect(histogram.counts(upTo: [1, 5, 10, 50, 100].map { .milliseconds($0) }) == [0, 1, 3, 4, 4])
    #expect(LatencyHistogram().counts(upTo: [.seconds(1)]) == [0])
  }

  // MARK: Reports

  @Test func tableHasALinePerMethodAndStatus() throws {
    let registration = try services.registration("metrics")
    for _ in 1...2 { run(registration, taking: .milliseconds(12)) }
    run(registration, taking: .seconds(2), RPCError(.unavailable, "busy", origin: .server))
    network.conclude(registration)
    #expect(
      services.files["-"] == """
        METHOD         STATUS       CALLS  MEAN     P50      P90      P99      P99.9    MAX      SENT      RECEIVED
        test.Echo/Say  ok           2      12.0 ms  12.0 ms  12.0 ms  12.0 ms  12.0 ms  12.0 ms  2 (14 B)  4 (3.00 kB)
        test.Echo/Say  unavailable  1      2.00 s   2.00 s   2.00 s   2.00 s   2.00 s   2.00 s   1 (7 B)   2 (1.50 kB)

        """)
  }

  @Test func countsOfInterceptorsAreLimited() {
    var statistics = CallStatistics(expectedInterval: .zero)
    var metrics = CallMetrics()
    metrics.attempts = .max
    metrics.sentBytes = .max
    let method = MethodName(service: "test.Echo", method: "Say")
    for _ in 1...2 { statistics.count(method, .grpc, .ok, .zero, metrics) }
    #expect(statistics.series.map(\.attempts) == [.max])
    #expect(MetricsTable.text(statistics).contains("9223372037 GB"))
  }

  @Test func nothingIsReportedWithoutCalls() throws {
    #expect(try report("metrics", []) == "")
    #expect(try report("metrics,format=prometheus,file=f", [], file: "f") == "")
    #expect(network.logged == [])
  }

  @Test func jsonHasPlainAndCorrectedLatencies() throws {
    let text = try report("metrics,format=json,interval=10ms", [.milliseconds(5), .milliseconds(100)])
    let json = try JSONValue(parsing: Array(text.utf8))
    #expect(json["expected_interval_ms"]?.text == "10.000")
    guard case .array(let calls)? = json["calls"], let series = calls.first else {
      Issue.record("\(text)")
      return
    }
    #expect(series["method"]?.text == "test.Echo/Say" || "\(text)".contains("\"method\":\"test.Echo/Say\""))
    #expect(series["calls"]?.text == "2")
    #expect(series["received"]?.text == "4")
    let plain = try #require(Double(series["latency_ms"]?["p50"]?.text ?? ""))
    let corrected = try #require(Double(series["corrected_latency_ms"]?["p50"]?.text ?? ""))
    #expect(abs(plain - 5) < 0.1 && corrected > 40)
  }

  @Test func prometheusHasCumulativeBuckets() throws {
    let text = try report(
      "metrics,format=prometheus,file=f", [.milliseconds(4), .milliseconds(40), .seconds(30)], file: "f")
    let labels = "service=\"test.Echo\",method=\"Say\",protocol=\"grpc\",code=\"ok\""
    for line in [
      "# TYPE rpcurl_call_duration_seconds histogram",
      "rpcurl_call_duration_seconds_bucket{\(labels),le=\"0.002\"} 0",
      "rpcurl_call_duration_seconds_bucket{\(labels),le=\"0.005\"} 1",
      "rpcurl_call_duration_seconds_bucket{\(labels),le=\"10.0\"} 2",
      "rpcurl_call_duration_seconds_bucket{\(labels),le=\"+Inf\"} 3",
      "rpcurl_call_duration_seconds_sum{\(labels)} 30.044",
      "rpcurl_received_bytes_total{\(labels)} 4500",
    ] { #expect(text.split(separator: "\n").contains { $0 == line }, "\(line)") }
  }

  @Test func otlpIsSentToTheEndpoint() throws {
    services.variables = [
      "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/",
      "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b,x=1",
      "OTEL_SERVICE_NAME": "checkout", "OTEL_RESOURCE_ATTRIBUTES": "env=test%2C1,service.name=other,,bad",
    ]
    let registration = try services.registration("metrics,format=otlp,timeout=3s")
    run(registration, taking: .milliseconds(40))
    network.conclude(registration)
    let fetch = try #require(network.fetches.first)
    #expect(fetch.url == "http://collector:4318/v1/metrics")
    #expect(fetch.headers.first("content-type") == "application/x-protobuf")
    #expect(fetch.headers.first("api-key") == "a b" && fetch.headers.first("x") == "1")
    #expect(fetch.timeout == .seconds(3))
    let request = WireFields(fetch.body)
    #expect(
      request.messages(1, 1).first?.attributes(1) == ["service.name": "checkout", "env": "test,1"])
    let metrics = request.messages(1, 2, 2)
    #expect(metrics.first?.texts(1) == ["rpc.client.duration"] && metrics.count == 5)
    let point = try #require(metrics.first?.messages(9, 1).first)
    #expect(point.attributes(9)["rpc.grpc.status_code"] == "0" && point.numbers(4) == [1])
    #expect(!network.isConcluded)
    network.respond(status: 503)
    #expect(network.isConcluded)
    #expect(network.logged.map(\.text) == ["not exported: collector:4318 responded with HTTP 503"])
  }

  @Test func unwritableFileIsReported() throws {
    _ = try report("metrics,format=json,file=/no/f", [.seconds(1)])
    #expect(network.logged.map(\.text) == ["cannot write the report: /no/f: no such file or directory"])
  }

  @Test(arguments: [
    ("metrics,format=prometheus", "metrics: format: prometheus requires a file"),
    ("metrics,format=otlp", "metrics: format: otlp requires an endpoint or a file"),
    ("metrics,interval=1us", "metrics: interval: must be at least 1ms"),
    ("metrics,endpoint=http://a", "metrics: endpoint: requires format=otlp"),
    (
      "metrics,format=otlp,endpoint=http://u:secret@a",
      "metrics: endpoint: is not an http(s) URL without user information"
    ),
    ("metrics,file=", "metrics: file: must be a file name"),
  ])
  func rejectsInvalidSettings(_ text: String, _ expected: String) {
    #expect {
      try services.registration(text)
    } throws: {
      "\($0)" == expected
    }
  }

  @Test func retriedCallCountsOnceBeforeRetry() throws {
    let metrics = try services.registration("metrics,format=json")
    let call = TestCall(
      .unary, Journal(), [metrics, try services.registration("retry,initial=1s,jitter=0")])
    call.start()
    call.receiveEnd(RPCError(.unavailable, "busy", origin: .server))
    call.clock.advance(by: .seconds(1))
    call.receiveEnd()
    network.conclude(metrics)
    let text = services.files["-"] ?? ""
    #expect(text.contains("\"calls\":1,\"attempts\":2"), "\(text)")
    #expect(text.contains("\"code\":\"ok\"") && !text.contains("unavailable"))
  }
}
