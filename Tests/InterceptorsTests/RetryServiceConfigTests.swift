import RPCurlChain
import RPCurlLanguage
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct RetryServiceConfigTests {
  private static let policy = """
    {"maxAttempts": 4, "initialBackoff": ".1s", "maxBackoff": "1s", "backoffMultiplier": 2,
     "retryableStatusCodes": ["UNAVAILABLE", 8]}
    """

  private func config(_ json: String) throws -> RetryServiceConfig {
    try RetryServiceConfig(json: Array(json.utf8))
  }

  private func method(_ service: String, _ method: String) -> MethodName {
    MethodName(service: service, method: method)
  }

  @Test func mostSpecificEntryTakesPrecedence() throws {
    let config = try config(
      """
      {"loadBalancingPolicy": "round_robin",
       "methodConfig": [
         {"name": [{}], "retryPolicy": \(Self.policy.replacing("4", with: "2"))},
         {"name": [{"service": "a.S"}, {"service": "b.S", "method": ""}],
          "retryPolicy": \(Self.policy.replacing("4", with: "3")), "timeout": "1s"},
         {"name": [{"service": "a.S", "method": "Get"}], "retryPolicy": \(Self.policy)},
         {"name": [{"service": "a.S", "method": "Put"}], "waitForReady": true}
       ]}
      """)
    #expect(config.policy(for: method("a.S", "Get"))?.attempts == 4)
    #expect(config.policy(for: method("a.S", "List"))?.attempts == 3)
    #expect(config.policy(for: method("b.S", "Get"))?.attempts == 3)
    #expect(config.policy(for: method("c.S", "Get"))?.attempts == 2)
    #expect(config.policy(for: method("a.S", "Put")) == nil)
    #expect(config.throttle == nil)
    #expect(
      config.policy(for: method("a.S", "Get"))
        == RetryPolicy(
          attempts: 4, initialBackoff: .milliseconds(100), maxBackoff: .seconds(1), multiplier: 2,
          codes: [.unavailable, .resourceExhausted]))
  }

  @Test func limitsAttemptsToFiveByDefault() throws {
    let services = TestServices()
    services.files["config"] = """
      {"methodConfig": [{"name": [{}], "retryPolicy": \(Self.policy.replacing("4", with: "9"))}],
       "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}
      """
    #expect(throws: Never.self) { try services.registration("retry,policy=config") }
    #expect(try config("{}").policy(for: method("a", "b")) == nil)
    #expect(
      try config(services.files["config"] ?? "").throttle
        == RetryThrottle.Parameters(maxTokens: 10, tokenRatio: 0.1))
  }

  @Test(arguments: [
    ("[]", "the file: is not a JSON object"),
    ("{\"methodConfig\": {}}", "methodConfig: is not a list"),
    ("{\"methodConfig\": [{\"name\": 1}]}", "methodConfig[0].name: is not a list"),
    (
      "{\"methodConfig\": [{\"name\": [{\"method\": \"Get\"}]}]}",
      "methodConfig[0].name[0]: has a method and no service"
    ),
    (
      "{\"methodConfig\": [{\"name\": [{\"service\": 1}]}]}",
      "methodConfig[0].name[0].service: is not a string"
    ),
    (
      "{\"methodConfig\": [{\"name\": [{\"service\": \"S\"}]}, {\"name\": [{\"service\": \"S\"}]}]}",
      "methodConfig[1].name[0]: appears in two entries"
    ),
    (
      "{\"methodConfig\": [{\"name\": [{}], \"hedgingPolicy\": {\"maxAttempts\": 2}}]}",
      "methodConfig[0].hedgingPolicy: hedging is not supported in a file; give a retryPolicy, or use the interceptor hedge"
    ),
    (
      "{\"retryThrottling\": {\"maxTokens\": 1001, \"tokenRatio\": 0.1}}",
      "retryThrottling: needs maxTokens above 0 up to 1000, and tokenRatio of at least 0.001"
    ),
  ])
  func errorNamesPlace(_ json: String, _ reason: String) {
    let problem = #expect(throws: LanguageError.self) { try config(json) }
    #expect(problem?.reason == reason)
  }

  @Test(arguments: [
    ("\"maxAttempts\": 4", "\"maxAttempts\": 1", "maxAttempts: must be a whole number of at least 2"),
    ("\"maxAttempts\": 4", "\"maxAttempts\": 2.5", "maxAttempts: must be a whole number of at least 2"),
    ("\"maxAttempts\": 4,", "", "maxAttempts: must be a whole number of at least 2"),
    ("\".1s\"", "\"0s\"", "initialBackoff: must be a duration above 0 such as \"0.1s\""),
    ("\".1s\"", "0.1", "initialBackoff: must be a duration above 0 such as \"0.1s\""),
    ("\"1s\"", "\"1ms\"", "maxBackoff: must be a duration above 0 such as \"0.1s\""),
    (": 2,", ": 0,", "backoffMultiplier: must be a number above 0"),
    ("[\"UNAVAILABLE\", 8]", "[]", "retryableStatusCodes: must be a list with at least one code"),
    ("[\"UNAVAILABLE\", 8]", "[\"OK\"]", "retryableStatusCodes: \"OK\" is not a failure code"),
    ("[\"UNAVAILABLE\", 8]", "[null]", "retryableStatusCodes: null is not a failure code"),
  ])
  func invalidPolicyNamesPlace(_ old: String, _ new: String, _ reason: String) {
    let policy = Self.policy.replacing(old, with: new)
    let json = "{\"methodConfig\": [{\"name\": [{}], \"retryPolicy\": \(policy)}]}"
    let problem = #expect(throws: LanguageError.self) { try config(json) }
    #expect(problem?.reason == "methodConfig[0].retryPolicy.\(reason)")
  }

  @Test func invalidJSONNamesPlace() {
    let problem = #expect(throws: LanguageError.self) { try config("{\n  \"a\": }") }
    #expect(problem?.reason == "line 2, column 8: expected a value")
  }
}
