import CommandLine
import CommandSupport
import Output
import RPCProtocols
import Testing

@testable import Calls

struct HeaderArgumentsTests {
  private func parse(_ texts: [String], _ environment: [String: String]? = nil) throws -> Headers {
    let expansion = environment.map { variables in HeaderExpansion { variables[$0] } }
    let arguments = Parser.parse(["call"] + texts.flatMap { ["-H", $0] }).all(.header)
    return try HeaderArguments(expansion: expansion).parse(arguments)
  }

  @Test(arguments: [
    ("a: b", "a", "b"), ("A:b", "a", "b"), ("x-y:\t b c \t", "x-y", "b c"), ("a:", "a", ""),
    ("a: b: c", "a", "b: c"), ("a: größ", "a", "größ"), ("a-bin: AQI=", "a-bin", "AQI="),
    ("a: ${HOME}", "a", "${HOME}"),
  ])
  func parsesHeader(text: String, name: String, value: String) throws {
    let fields = try parse([text]).fields
    #expect(fields.map(\.name) == [name])
    #expect(fields.map(\.value) == [value])
  }

  @Test func keepsOrderAndRepeatedNames() throws {
    let fields = try parse(["b: 1", "a: 2", "b: 3"]).fields
    #expect(fields.map { "\($0.name)=\($0.value)" } == ["b=1", "a=2", "b=3"])
  }

  @Test(arguments: [
    ("secret", "missing colon in the header"), ("a b: secret", "\"a b\" is not a header name"),
    (": secret", "\"\" is not a header name"),
    ("a: secret\nb: c", "the value of a contains a control character"),
    ("a-bin: se-cret!", "the value of a-bin is not base64, which a name in -bin requires"),
    ("content-length: 1", "the header content-length is set by the transport and cannot be changed"),
    ("Keep-Alive: secret", "the header keep-alive is set by the transport and cannot be changed"),
    ("proxy-connection: x", "the header proxy-connection is set by the transport and cannot be changed"),
    ("te: gzip", "the header te can have only the value trailers"),
    ("TE: trailers, deflate", "the header te can have only the value trailers"),
    (
      "Content-Encoding: gzip",
      "the header content-encoding is set by the compression of the request and cannot be changed"
    ),
    ("host: se cret", "the value of host is not a host with an optional port"),
  ])
  func rejectsInvalidHeader(text: String, why: String) {
    let failure = #expect(throws: Failure.self) { try parse([text]) }
    #expect(failure?.status == .usage)
    #expect(failure?.message?.what == "-H")
    #expect(failure?.message?.why == why)
    #expect(failure?.message?.rendered.contains("secret") == false)
  }

  @Test(arguments: [
    (ProtocolName.grpc, CodecName.proto, "application/grpc"),
    (.grpcWeb, .json, "application/grpc-web+json"),
    (.connect, .json, "Application/JSON "), (.connect, .proto, "application/connect+proto"),
  ])
  func acceptsContentTypeOfTheCallOnly(name: ProtocolName, codec: CodecName, value: String) throws {
    let headers = HeaderArguments(expansion: nil, form: (name, codec))
    func parse(_ value: String) throws -> Headers {
      try headers.parse(Parser.parse(["call", "-H", "Content-Type: \(value)", "-H", "a: b"]).all(.header))
    }
    #expect(try parse(value) == Headers([("a", "b")]))
    for other in ["text/plain", "application/xml", "application/grpc+other", ""] {
      let failure = #expect(throws: Failure.self) { try parse(other) }
      #expect(failure?.status == .usage)
      #expect(failure?.message?.hint?.contains("--codec json") == true)
    }
  }

  @Test(arguments: [
    (ProtocolName.grpc, "Application/gRPC+proto ", "application/grpc+proto"),
    (.grpcWeb, "application/grpc-web", "application/grpc-web"),
    (.grpcWeb, "application/grpc-web-text", "application/grpc-web-text"),
    (.grpcWeb, "Application/grpc-web-text+proto", "application/grpc-web-text+proto"),
  ])
  func keepsOtherContentTypeOfTheProtocol(name: ProtocolName, value: String, kept: String) throws {
    let headers = HeaderArguments(expansion: nil, form: (name, .proto))
    let parsed = try headers.parse(Parser.parse(["call", "-H", "content-type: \(value)"]).all(.header))
    #expect(parsed == Headers([("content-type", kept)]))
  }

  @Test(arguments: [ProtocolName.grpc, .grpcWeb], ["ä", "a\tb", "\u{80}"])
  func rejectsValueThatGRPCForbids(name: ProtocolName, value: String) throws {
    let arguments = Parser.parse(["call", "-H", "x-a: \(value)"]).all(.header)
    let failure = #expect(throws: Failure.self) {
      try HeaderArguments(expansion: nil, form: (name, .proto)).parse(arguments)
    }
    #expect(failure?.status == .usage)
    #expect(
      failure?.message?.why
        == "the value of x-a contains bytes other than printable ASCII, which gRPC forbids")
    #expect(failure?.message?.hint == "percent-encode it, or send it as base64 in x-a-bin")
    let connect = try HeaderArguments(expansion: nil, form: (.connect, .proto)).parse(arguments)
    #expect(connect == Headers([("x-a", value)]))
  }

  @Test(arguments: [
    (
      ProtocolName.grpc, "grpc-timeout",
      ["", "1", "m", "0m", "-1m", "+1m", "1s", "1 m", "123456789m", "1.5S"]
    ),
    (.grpcWeb, "grpc-timeout", ["100ms"]),
    (.connect, "connect-timeout-ms", ["", "0", "1m", "-1", "12345678901"]),
  ])
  func rejectsInvalidTimeout(name: ProtocolName, header: String, values: [String]) {
    for value in values {
      let arguments = Parser.parse(["call", "-H", "\(header): \(value)"]).all(.header)
      let failure = #expect(throws: Failure.self) {
        try HeaderArguments(expansion: nil, form: (name, .proto)).parse(arguments)
      }
      #expect(failure?.message?.why == "the value of \(header) is not a timeout", "\(value)")
      #expect(failure?.status == .usage)
    }
  }

  @Test func readsFileWithoutCommentsAndEmptyLines() throws {
    let directory = try #require(TemporaryDirectory())
    let file = directory.write("headers", Array("# comment\na: 1\r\n\n  \nb: 2".utf8))
    #expect(try parse(["@\(file)"]).fields.map { "\($0.name)=\($0.value)" } == ["a=1", "b=2"])
  }

  @Test func namesLineOfFile() throws {
    let directory = try #require(TemporaryDirectory())
    let file = directory.write("headers", Array("a: 1\n\nsecret\n".utf8))
    let failure = #expect(throws: Failure.self) { try parse(["@\(file)"]) }
    #expect(failure?.message?.what == "\(file), line 3")
    let missing = #expect(throws: Failure.self) { try parse(["@\(file).none"]) }
    #expect(missing?.message?.what == "-H @\(file).none")
    #expect(missing?.message?.why == "No such file or directory")
  }

  @Test func explainsVariablesThatCannotBeUsed() {
    let unset = #expect(throws: Failure.self) { try parse(["a: ${NONE}"], [:]) }
    #expect(unset?.message?.why == "the value of a refers to the variable NONE, which is not set")
    let broken = #expect(throws: Failure.self) { try parse(["a: ${B}"], ["B": "secret\nx"]) }
    #expect(broken?.message?.why == "the variable B in the value of a contains a line break")
  }
}

struct HeaderExpansionTests {
  private let expansion = HeaderExpansion { ["A": "1", "B_2": "${A}", "E": "", "L": "a\nb"][$0] }

  @Test(arguments: [
    ("", ""), ("a", "a"), ("${A}", "1"), ("x${A}y${A}", "x1y1"), ("${E}", ""),
    // A value is not expanded again.
    ("${B_2}", "${A}"),
    // Not names of variables.
    ("$A", "$A"), ("${}", "${}"), ("${A", "${A"), ("${a-b}", "${a-b}"), ("${${A}}", "${1}"), ("$${A}", "$1"),
    ("${A}\u{301}", "1\u{301}"),
  ])
  func replacesVariables(text: String, expanded: String) throws {
    #expect(try expansion.expand(text) == expanded)
  }

  @Test func throwsForUnusableVariables() {
    let unset = #expect(throws: HeaderExpansion.Problem.self) { try expansion.expand("${NONE}") }
    guard case .unset("NONE") = unset else { return #expect(Bool(false), "\(String(describing: unset))") }
    let broken = #expect(throws: HeaderExpansion.Problem.self) { try expansion.expand("${L}") }
    guard case .hasLineBreak("L") = broken else {
      return #expect(Bool(false), "\(String(describing: broken))")
    }
  }
}

struct BearerTokenTests {
  @Test(arguments: [
    ("", "--bearer", "the token is empty"),
    ("env:NONE", "--bearer env:NONE", "the environment variable is not set"),
    ("env:EMPTY", "--bearer env:EMPTY", "the environment variable is empty"),
    ("@/dev/null", "--bearer @/dev/null", "the token is empty"),
  ])
  func rejectsAnEmptyToken(text: String, what: String, why: String) throws {
    let sources = ArgumentSources(environment: { $0 == "EMPTY" ? "" : nil }, secrets: SecretPrompt())
    let argument = try Argument(.bearer, text)
    let failure = #expect(throws: Failure.self) { try CredentialArguments.token(argument, sources) }
    #expect(failure?.message?.what == what)
    #expect(failure?.message?.why == why)
  }

  @Test func rejectsFileThatIsNotUTF8() throws {
    let directory = try #require(TemporaryDirectory())
    let file = directory.write("token", [0x61, 0xE9])
    let sources = ArgumentSources(environment: { _ in nil }, secrets: SecretPrompt())
    let argument = try Argument(.bearer, "@\(file)")
    let failure = #expect(throws: Failure.self) { try CredentialArguments.token(argument, sources) }
    #expect(failure?.message?.why == "not UTF-8")
  }
}
