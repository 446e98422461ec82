import RPCurlProtocols
import Testing

@testable import RPCurlReports

/// A parser of JavaScript reads whole scripts in `Tests/EndToEnd/test_load.py`.
struct K6ScriptTests {
  private func script(
    _ shape: LoadShape, kind: CallKind = .unary, schema: [K6Script.Schema] = [.reflection],
    thresholds: String = ""
  ) throws -> String {
    K6Script(
      address: "localhost:50051", isPlaintext: true, method: "demo.v1.Demo/Hello", kind: kind, schema: schema,
      messages: [#"{"name":"Ada"}"#, "{}"], metadata: [("x-tenant", .text("blue"))], timeout: .seconds(2),
      shape: shape, thresholds: thresholds.isEmpty ? [] : try LoadThreshold.list(thresholds)
    ).text
  }

  @Test func openLoopIsAnArrivalRate() throws {
    let text = try script(
      LoadShape(.open(jobs: 300), at: 200, ramp: .seconds(10), warmUp: .seconds(5), duration: .seconds(30)))
    #expect(
      text.contains(
        "    lead: { executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '1s', preAllocatedVUs: 100, maxVUs: 300, stages: [{ target: 200, duration: '10000ms' }, { target: 200, duration: '5000ms' }] },\n"
      ))
    #expect(
      text.contains(
        "    load: { executor: 'constant-arrival-rate', rate: 200, timeUnit: '1s', preAllocatedVUs: 100, maxVUs: 300, duration: '30000ms', startTime: '15000ms' },\n"
      ))
    #expect(text.contains("client.connect(\"localhost:50051\", { plaintext: true, reflect: true });"))
    #expect(text.contains("const params = { metadata: { \"x-tenant\": \"blue\" }, timeout: '2000ms' };"))
    #expect(text.contains("  {\"name\":\"Ada\"},\n  {},\n];"))
  }

  @Test(arguments: [("<", ">"), ("<=", ">="), (">", "<"), (">=", "<="), ("==", "=="), ("!=", "!=")])
  func limitsOfErrorsAreLimitsOfChecksThatPass(comparison: String, opposite: String) throws {
    let text = try script(
      LoadShape(.closed, at: 1, duration: .seconds(1)), thresholds: "errors\(comparison)5%")
    #expect(text.contains("'checks{scenario:load}': ['rate\(opposite)0.95'],"))
  }

  @Test func fractionsOfARateHaveALongerUnit() throws {
    let text = try script(LoadShape(.open(jobs: 5), at: 0.5, duration: nil, requests: 10))
    #expect(
      text.contains("rate: 500, timeUnit: '1000s', preAllocatedVUs: 5, maxVUs: 5, duration: '20000ms' }"))
    #expect(!text.contains("lead:"))
  }

  @Test func closedLoopIsANumberOfUsers() throws {
    #expect(
      try script(LoadShape(.closed, at: 20, duration: .seconds(30)))
        .contains("    load: { executor: 'constant-vus', vus: 20, duration: '30000ms' },\n"))
    #expect(
      try script(LoadShape(.closed, at: 20, duration: nil, requests: 1000)).contains(
        "    load: { executor: 'shared-iterations', vus: 20, iterations: 1000, maxDuration: '24h' },\n"))
  }

  @Test func stagesAreThoseOfK6() throws {
    let stages = [LoadShape.Stage(.zero, to: 5), .init(.seconds(30), to: 50)]
    #expect(
      try script(LoadShape(.closed, at: 2, ramp: .seconds(1), stages)).contains(
        """
            lead: { executor: 'ramping-vus', startVUs: 0, stages: [{ target: 2, duration: '1000ms' }] },
            load: { executor: 'ramping-vus', startVUs: 2, stages: [{ target: 5, duration: '0ms' }, { target: 50, duration: '30000ms' }], startTime: '1000ms' },
        """))
    #expect(
      try script(LoadShape(.open(jobs: 8), at: 0.5, stages)).contains(
        "    load: { executor: 'ramping-arrival-rate', startRate: 500, timeUnit: '1000s', preAllocatedVUs: 8, maxVUs: 8, stages: [{ target: 5000, duration: '0ms' }, { target: 50000, duration: '30000ms' }] },\n"
      ))
    #expect(!K6Script.isTooShort(LoadShape(.closed, at: 0, [.init(.milliseconds(1), to: 1)])))
  }

  /// k6 refuses a scenario with more users than iterations.
  @Test func usersAreNotMoreThanIterations() throws {
    #expect(
      try script(LoadShape(.closed, at: 10, warmUp: .seconds(1), duration: nil, requests: 5))
        .contains(
          """
              lead: { executor: 'constant-vus', vus: 10, duration: '1000ms' },
              load: { executor: 'shared-iterations', vus: 5, iterations: 5, maxDuration: '24h', startTime: '1000ms' },
          """))
  }

  /// k6 refuses scenarios of less than a second.
  @Test(
    arguments: [
      (LoadShape(.closed, at: 1, duration: .milliseconds(999)), true),
      (LoadShape(.closed, at: 1, warmUp: .milliseconds(999), duration: nil, requests: 5), true),
      (LoadShape(.closed, at: 1, warmUp: .seconds(1), duration: .seconds(1)), false),
      (LoadShape(.open(jobs: 1), at: 100, duration: nil, requests: 50), true),
      (
        LoadShape(
          .open(jobs: 1), at: 100, ramp: .milliseconds(1), warmUp: .milliseconds(1), duration: nil,
          requests: 100), false
      ),
    ] as [(LoadShape, Bool)])
  func partsHaveALeastLength(_ shape: LoadShape, isTooShort: Bool) {
    #expect(K6Script.isTooShort(shape) == isTooShort)
  }

  @Test func secretBytesAreDecoded() throws {
    var script = K6Script(
      address: "h:1", isPlaintext: true, method: "a.B/C", kind: .unary, schema: [.reflection],
      messages: ["{}"], metadata: [("t-bin", .bytes([0, 255]))], timeout: nil,
      shape: LoadShape(.closed, at: 1, duration: .seconds(1)), thresholds: [])
    #expect(script.text.contains("\"t-bin\": new Uint8Array([0, 255]) }"))
    #expect(!script.text.contains("k6/encoding"))
    script.metadata = [("t-bin", .base64(variable: "T_BIN"))]
    #expect(script.text.contains("import { b64decode } from 'k6/encoding';\n"))
    #expect(script.text.contains("new Uint8Array(b64decode(__ENV.T_BIN.replace(/=+$/, ''), 'rawstd')) }"))
  }

  @Test func thresholdsAreThoseOfK6() throws {
    let text = try script(
      LoadShape(.closed, at: 1, duration: .seconds(1)),
      thresholds: "p99<50ms,max<=1s,errors<0.1%,errors<5,rate>190")
    #expect(
      text.contains(
        """
            'grpc_req_duration{scenario:load}': ['p(99)<50', 'max<=1000'],
            'checks{scenario:load}': ['rate>0.999'],
            'failed_calls{scenario:load}': ['count<5'],
            'iterations{scenario:load}': ['rate>190'],
        """))
  }

  @Test func streamsSendTheirMessages() throws {
    let shape = LoadShape(.closed, at: 1, duration: .seconds(1))
    #expect(
      try script(shape, kind: .bidiStreaming).contains(
        "messages.forEach((message) => stream.write(message));"))
    #expect(
      try script(shape, kind: .serverStreaming)
        .contains("stream.write(messages[exec.scenario.iterationInTest % messages.length]);"))
  }

  @Test func schemaIsLoadedFromFiles() throws {
    let shape = LoadShape(.closed, at: 1, duration: .seconds(1))
    #expect(
      try script(shape, schema: [.descriptorSet("a.binpb")]).contains("client.loadProtoset(\"a.binpb\");"))
    let text = try script(shape, schema: [.protos(importPaths: ["p"], files: ["a.proto", "b.proto"])])
    #expect(text.contains("client.load([\"p\"], \"a.proto\", \"b.proto\");"))
    #expect(text.contains("reflect: false"))
    let many = try script(shape, schema: [.descriptorSet("a"), .descriptorSet("b"), .reflection])
    #expect(many.contains("client.loadProtoset(\"a\");\nclient.loadProtoset(\"b\");\n"))
    #expect(many.contains("reflect: true"))
  }

  @Test func optionsOfTheConnectionAreThoseOfK6() throws {
    var script = K6Script(
      address: "h:1", isPlaintext: false, method: "a.B/C", kind: .unary, schema: [.reflection],
      messages: ["{}"], metadata: [], timeout: nil,
      shape: LoadShape(.closed, at: 1, duration: .seconds(1)), thresholds: [])
    #expect(script.text.contains("{ plaintext: false, reflect: true });"))
    #expect(script.text.contains("export const options = {\n  scenarios: {\n"))
    (script.authority, script.userAgent, script.maxMessageBytes) = ("a.example", "probe", 1024)
    script.isInsecure = true
    script.tags = [try LoadTag("branch=a\"b")]
    #expect(
      script.text.contains(
        "{ plaintext: false, reflect: true, authority: \"a.example\", maxReceiveSize: 1024 });"))
    #expect(
      script.text.contains(
        "export const options = {\n  userAgent: \"probe\",\n  tags: { \"branch\": \"a\\\"b\" },\n  insecureSkipTLSVerify: true,\n  scenarios: {\n"
      )
    )
  }
}
