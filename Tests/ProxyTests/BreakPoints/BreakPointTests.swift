import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtobufSupport
import RPCurlProtocols
import Testing

@testable import RPCurlProxy

/// The methods of the test schema `test3`.
func breakSchema() throws -> [MethodName: MethodDescriptor] {
  ProxySchema(try makePool(), isReflected: false).allMethods.filter { $0.key.service == "test3.Greeter" }
}

@Suite struct BreakPointTests {
  private let schema: [MethodName: MethodDescriptor]
  private let scalars: MessageType
  private let hello = MethodName(service: "test3.Greeter", method: "Hello")

  init() throws {
    schema = try breakSchema()
    scalars = try #require(schema[hello]).input
  }

  private func matches(_ text: String, _ content: HeldValue.Content, _ side: BreakPoint.Side = .request)
    throws -> Bool
  {
    let point = try BreakPoint(parsing: text)
    try point.check(schema)
    return point.matches(
      HeldValue(
        call: 1, method: hello, side: side, content: content, headers: Headers([("x-tenant", "blue")]),
        latency: .seconds(2)))
  }

  private func message(_ json: String) throws -> HeldValue.Content {
    .message(try Message(scalars, json: Array(json.utf8)))
  }

  @Test(arguments: [
    ("Hello", "request */Hello"), (" request  test3.Greeter/* ", "request test3.Greeter/*"),
    ("response * where  status not_found", "response * where status not_found"),
    ("test3.Greeter.Hello where .a_string == Ada", "request test3.Greeter/Hello where .a_string == Ada"),
  ])
  func isWrittenAsItIsRead(_ text: String, _ written: String) throws {
    #expect(try BreakPoint(parsing: text).description == written)
    #expect(try BreakPoint(parsing: written).description == written)
  }

  @Test(arguments: [
    ("", "missing METHOD"), ("response", "missing METHOD"), ("a/b/c!", "a/b/c! is not a method"),
    ("Hello if x", "if follows the method"), ("Hello where", "missing condition"),
    ("Hello where .a ==", ""), ("Hello where .a_string == ${env.X}", "${…} has no value here"),
    ("Hello where status ok", "status ok is not a condition on one message of the request"),
    ("response Hello where count 3", "count 3 is not a condition on one message of the response"),
    ("response Hello where any .a == 1", "any .a == 1 is not a condition on one message of the response"),
  ])
  func rejectsOtherText(_ text: String, _ reason: String) throws {
    let error = #expect(throws: LanguageError.self) { try BreakPoint(parsing: text) }
    if !reason.isEmpty, let error {
      #expect(error.reason.contains(reason) || reason == "missing condition", "\(error)")
    }
    #expect(error?.hint != nil)
  }

  @Test func isCheckedAgainstTheSchema() throws {
    let unknown = #expect(throws: LanguageError.self) {
      try BreakPoint(parsing: "test3.Greeter/Helo").check(schema)
    }
    #expect(unknown?.text == "the schema has no method test3.Greeter/Helo; did you mean test3.Greeter/Hello?")
    let field = #expect(throws: LanguageError.self) {
      try BreakPoint(parsing: "Hello where .a_strin == x").check(schema)
    }
    #expect(field?.text.contains("a_strin") == true && field?.hint?.contains("a_string") == true)
    // One of the methods has the field.
    try BreakPoint(parsing: "* where .a_string == x").check(schema)
    // Calls pass as bytes without a schema.
    try BreakPoint(parsing: "any.v1.Any/Thing where .a == x").check([:])
  }

  @Test func conditionsSelectMessages() throws {
    let ada = try message(#"{"aString":"Ada"}"#)
    #expect(try matches("Hello", ada))
    #expect(try !matches("response Hello", ada))
    #expect(try !matches("Watch", ada))
    #expect(try matches("Hello where .a_string == Ada", ada))
    #expect(try !matches("Hello where .a_string == Bob", ada))
    #expect(try matches("Hello where header x-tenant == blue", ada))
    #expect(try !matches("Hello where header x-tenant == red", ada))
    #expect(try !matches("Hello where .a_string exists", .message(nil)))
    #expect(try matches("Hello where header x-tenant exists", .message(nil)))
  }

  @Test func conditionsSelectStarts() throws {
    #expect(try matches("Hello", .start) && matches("Hello where header x-tenant == blue", .start))
    #expect(try !matches("Hello where header x-tenant == red", .start))
    #expect(try !matches("Hello where .a_string absent", .start))
  }

  @Test func conditionsSelectEnds() throws {
    let ok = HeldValue.Content.end(ResponseEnd(error: nil))
    let failed = HeldValue.Content.end(ResponseEnd(error: RPCError(.notFound, "gone", origin: .server)))
    #expect(try !matches("response Hello", ok, .response) && matches("response Hello", failed, .response))
    #expect(try matches("response Hello where status ok", ok, .response))
    #expect(try matches("response Hello where status not_found", failed, .response))
    #expect(try !matches("response Hello where status not_found", ok, .response))
    #expect(try matches("response Hello where error contains gone", failed, .response))
    #expect(try matches("response Hello where latency > 1s", ok, .response))
    #expect(try !matches("response Hello where latency > 3s", ok, .response))
    #expect(try matches("response Hello where header x-tenant == blue", failed, .response))
    #expect(try !matches("response Hello where header x-tenant == blue", ok, .response))
    #expect(try !matches("response Hello where .doubles absent", failed, .response))
  }
}
