import RPCurlChain
import RPCurlCommandSupport
import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct AttributeArgumentsTests {
  private func parse(_ texts: [String]) throws -> CallAttributes {
    try AttributeArguments.parse(
      Parser.parse(["call"] + texts.flatMap { ["--attribute", $0] }).all(.attribute))
  }

  @Test(arguments: [
    ([], []), (["b=2", "a=1"], ["a=1", "b=2"]), (["a=1", "a=2"], ["a=2"]), (["a=1=2"], ["a=1=2"]),
    (["a= größ: "], ["a= größ: "]), (["a=1", "b=1", "a="], ["b=1"]), (["a="], []),
  ])
  func parsesAttributes(texts: [String], expected: [String]) throws {
    #expect(try parse(texts).all.map { "\($0.key)=\($0.value)" } == expected)
  }

  @Test(arguments: [
    ("secret", "missing = in the attribute", "write --attribute KEY=VALUE"),
    (
      "=secret", "missing key of the attribute",
      "a key is ASCII without blanks, colons and control characters"
    ),
    (
      "a:b=secret", "\"a:b\" is not a key of an attribute",
      "a key is ASCII without blanks, colons and control characters"
    ),
    (
      "größe=", "\"größe\" is not a key of an attribute",
      "a key is ASCII without blanks, colons and control characters"
    ),
    (
      "a=secret" + String(repeating: "x", count: 4096), "the attribute a is longer than 4096 bytes",
      "a call has at most 64 attributes of 4096 bytes; --attribute KEY= removes one"
    ),
  ])
  func rejectsInvalidAttribute(text: String, why: String, hint: String) {
    let failure = #expect(throws: Failure.self) { try parse([text]) }
    #expect(failure?.status == .usage)
    #expect(failure?.message?.what == "--attribute")
    #expect(failure?.message?.why == why)
    #expect(failure?.message?.hint == hint)
    #expect(failure?.message?.rendered().contains("secret") == false)
  }

  @Test func rejectsMoreThan64Attributes() throws {
    let most = (1...64).map { "a\($0)=1" }
    #expect(try parse(most + ["a1=2"]).all.count == 64)
    let failure = #expect(throws: Failure.self) { try parse(most + ["b=1"]) }
    #expect(failure?.message?.why == "a call has at most 64 attributes")
  }

  @Test func namesTheLineOfTheConfiguration() throws {
    let argument = try Argument(
      .attribute, "a", name: "--attribute", .file(path: "config", line: 3, profile: nil))
    let failure = #expect(throws: Failure.self) { try AttributeArguments.parse([argument]) }
    #expect(failure?.message?.what.contains("config") == true)
  }

  @Test func areThoseOfTheRequest() throws {
    let plan = try CallPlan.ofOrders("Place", ["--attribute", "tier=gold"])
    #expect(plan.request.attributes.all.map { "\($0.key)=\($0.value)" } == ["tier=gold"])
    #expect(plan.request.headers.isEmpty)
  }
}
