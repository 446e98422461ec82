import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlLanguage

/// Checks of what is not a message: status, metadata, count and latency.
@Suite struct CallConditionTests {
  @Test(arguments: [
    ("status not_found", "holds"), ("status ok, 5", "holds"), ("status != ok", "holds"),
    ("status ok", "ok | not_found: no item 9"), ("status OK,0", "ok | not_found: no item 9"),
    ("status ok,unavailable", "ok or unavailable | not_found: no item 9"),
    ("status != not_found, aborted", "not not_found and not aborted | not_found: no item 9"),
    ("error == no item 9", "holds"), (#"error == "no item 9""#, "holds"), ("error != no item 8", "holds"),
    ("error =~ ^no item \\d$", "holds"), ("error !~ found", "holds"), ("error contains item", "holds"),
    ("error exists", "holds"), ("error size 9", "holds"),
    ("error == no item", #""no item" | "no item 9""#), ("error =~ ^item", #"=~ ^item | "no item 9""#),
    ("error contains Item", #"a value that contains "Item" | "no item 9""#),
    ("error absent", #"absent | "no item 9""#),
    (".name == \"x\"", #"== "x" | no message (not_found: no item 9)"#),
    ("count 0", "holds"), ("count > 0", "> 0 | 0"),
  ])
  func failedCall(_ check: String, _ expected: String) throws {
    #expect(try outcome(check, failure(.notFound, "no item 9")) == expected)
  }

  @Test func statusWithoutMessage() throws {
    #expect(try outcome("status ok", failure(.unavailable, "")) == "ok | unavailable")
    #expect(try outcome("error exists", failure(.unavailable, "")) == #"exists | """#)
    #expect(try outcome("error absent", failure(.unavailable, "")) == "holds")
  }

  @Test(arguments: [
    ("header content-type", "holds"), ("header Content-Type =~ ^application/grpc", "holds"),
    ("header content-type == application/grpc", "holds"), ("header content-type != text/plain", "holds"),
    ("header content-type contains grpc", "holds"), ("header x-gone absent", "holds"),
    ("header x-gone != 1", "holds"), ("header x-gone !~ 1", "holds"), ("header x-many == b", "holds"),
    ("header x-count > 9", "holds"), ("header x-count <= 10.0", "holds"), ("header x-count size 2", "holds"),
    ("header x-id is uuid", "holds"),
    ("header content-type == text/plain", #"== text/plain | "application/grpc""#),
    ("header x-gone", "exists | no x-gone"), ("header x-gone == 1", "== 1 | no x-gone"),
    ("header x-many == c", #"== c | "a", "b""#), ("header x-many != b", #"!= b | "a", "b""#),
    ("header x-many !~ b", #"!~ b | "a", "b""#), ("header x-count > 10", #"> 10 | "10""#),
    ("header content-type > 10", #"> 10 | "application/grpc""#),
    ("header authorization absent", #"absent | "Bearer [redacted]""#),
    ("header authorization == Bearer swordfish", "holds"),
    ("header authorization == Bearer secret", #"== Bearer [redacted] | "Bearer [redacted]""#),
    ("header authorization =~ ^secret", #"=~ [redacted] | "Bearer [redacted]""#),
    ("trailer x-token contains secret", "contains [redacted] | no x-token"),
    ("trailer x-end =~ ^\\d+$", "holds"), ("trailer content-type exists", "exists | no content-type"),
  ])
  func metadata(_ check: String, _ expected: String) throws {
    var result = try response("test3.Node", [])
    result.headers = Headers([
      ("content-type", "application/grpc"), ("x-many", "a"), ("x-many", "b"), ("x-count", "10"),
      ("x-id", "123e4567-e89b-12d3-a456-426614174000"), ("authorization", "Bearer swordfish"),
    ])
    result.trailers = Headers([("x-end", "12")])
    #expect(try outcome(check, result) == expected)
  }

  @Test(arguments: [
    ("header x-token  ==  a b", "header x-token == [redacted]"),
    ("trailer authorization != Bearer a", "trailer authorization != Bearer [redacted]"),
    ("header x-token == ${env.A}", "header x-token == ${env.A}"),
    ("header x-token  size 2", "header x-token  size 2"), ("header x-a  == b", "header x-a  == b"),
    (".token == a", ".token == a"),
  ])
  func textHasNoCredentials(_ check: String, _ shown: String) throws {
    let result = try response("test3.Node", [])
    #expect(try Condition(parsing: check).text(for: result) == shown)
  }

  @Test(arguments: [
    ("connection http == 2", "holds"), ("connection http > 1.1", "holds"),
    ("connection http == 1.1", #"== 1.1 | "2""#),
    ("connection tls >= 1.2", "holds"), ("connection tls == 1.3", "holds"),
    ("connection address =~ ^127", "holds"),
    ("certificate subject == O=Shop, CN=shop.test", "holds"), ("certificate issuer contains Root", "holds"),
    ("certificate name == 10.0.0.1", "holds"),
    ("certificate name == other.test", #"== other.test | "shop.test", "10.0.0.1""#),
    ("certificate expires > 30d", "holds"), ("certificate expires < 1000h", "holds"),
    ("certificate expires > 60d", "> 60d | 40.5d"),
  ])
  func connection(_ check: String, _ expected: String) throws {
    var result = try response("test3.Node", [])
    var certificate = ServerCertificate()
    (certificate.subject, certificate.issuer) = ("O=Shop, CN=shop.test", "CN=Root")
    certificate.names = ["shop.test", "10.0.0.1"]
    certificate.validity = .seconds(86400 * 81 / 2)
    result.start = ResponseStart(httpVersion: "2")
    (result.start.tlsVersion, result.start.peer) = ("TLSv1.3", "127.0.0.1:50051")
    result.start.certificates = [certificate]
    #expect(try outcome(check, result) == expected)
  }

  @Test(arguments: [
    ("connection http == 2", "== 2 | no connection"), ("connection tls absent", "holds"),
    ("certificate expires > 30d", "> 30d | no certificate"),
    ("certificate subject exists", "exists | no certificate"),
  ])
  func responseWithoutAConnection(_ check: String, _ expected: String) throws {
    #expect(try outcome(check, response("test3.Node", [])) == expected)
  }

  @Test(arguments: [(-90_000, "-1.1d"), (-60, "-0.1h"), (7_200, "2.0h"), (86_400, "1.0d")])
  func showsTheRestOfTheValidity(_ seconds: Int, _ shown: String) throws {
    var result = try response("test3.Node", [])
    var certificate = ServerCertificate()
    certificate.validity = .seconds(seconds)
    result.start.certificates = [certificate]
    #expect(try outcome("certificate expires > 30d", result) == "> 30d | \(shown)")
  }

  @Test(arguments: [
    ("count == 2", "holds"), ("count >= 2", "holds"), ("count < 2", "< 2 | 2"), ("count 3", "3 | 2"),
    ("latency < 1s", "holds"), ("latency <= 250ms", "holds"), ("latency < 250ms", "< 250ms | 250.000ms"),
    ("latency > 1s", "> 1s | 250.000ms"),
  ])
  func countAndLatency(_ check: String, _ expected: String) throws {
    var result = try response("test3.Node", ["{}", "{}"])
    result.latency = .milliseconds(250)
    #expect(try outcome(check, result) == expected)
  }

  @Test(arguments: [
    ("detail google.rpc.ErrorInfo", "holds"), ("detail ErrorInfo", "holds"), ("detail Help absent", "holds"),
    (#"detail ErrorInfo .reason == "QUOTA""#, "holds"), (#"detail ErrorInfo .metadata.zone == "b""#, "holds"),
    (#"detail Node .weight == 3"#, "holds"),
    ("detail Help", "Help | google.rpc.ErrorInfo, google.rpc.ErrorInfo, test3.Node"),
    ("detail ErrorInfo absent", "no ErrorInfo | google.rpc.ErrorInfo, google.rpc.ErrorInfo, test3.Node"),
    (#"detail ErrorInfo .reason == "STOCK""#, #""STOCK" | "QUOTA""#),
    (#"detail Help .links exists"#, "Help | google.rpc.ErrorInfo, google.rpc.ErrorInfo, test3.Node"),
    (
      #"detail ErrorInfo .reson == "QUOTA""#,
      "invalid: google.rpc.ErrorInfo has no field reson | did you mean reason?"
    ),
    (
      #"detail google.rpc.Help .link exists"#,
      "invalid: google.rpc.Help has no field link | did you mean links?"
    ),
  ])
  func details(_ check: String, _ expected: String) throws {
    let node = try Message(type("test3.Node"), json: Array(#"{"weight":3}"#.utf8)).serialized()
    // reason: "QUOTA"; then metadata: {"zone":"b"}
    let info: [UInt8] = [0x0a, 5] + Array("QUOTA".utf8)
    let other: [UInt8] = [0x1a, 9, 0x0a, 4] + Array("zone".utf8) + [0x12, 1] + Array("b".utf8)
    let result = try failure(
      .resourceExhausted, "no quota",
      [
        StatusDetail(typeName: "google.rpc.ErrorInfo", value: info),
        StatusDetail(typeName: "google.rpc.ErrorInfo", value: other),
        StatusDetail(typeName: "test3.Node", value: node),
      ])
    #expect(try outcome(check, result) == expected)
  }

  @Test func invalidDetailsAreReported() throws {
    let result = try failure(
      .aborted, "",
      [
        StatusDetail(typeName: "shop.Gone", value: []),
        StatusDetail(typeName: "google.rpc.ErrorInfo", value: [0x0a, 5]),
      ])
    #expect(try outcome("detail Gone", result) == "holds")
    #expect(
      try outcome("detail google.rpc.RetryInfo .retryDelay exists", failure(.ok, ""))
        == "google.rpc.RetryInfo | no details")
    #expect(
      try outcome("detail Gone .a exists", result)
        == "invalid: the schema does not define the detail shop.Gone")
    #expect(
      try outcome("detail ErrorInfo .reason exists", result)
        == "invalid: the detail google.rpc.ErrorInfo is not a valid message")
  }
}
