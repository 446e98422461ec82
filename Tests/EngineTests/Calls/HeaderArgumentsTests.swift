import RPCurlCommandSupport
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

struct HeaderArgumentsTests {
  private func parse(_ texts: [String], _ expansion: TextExpansion? = nil) throws -> Headers {
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

  @Test func errorOfFileHasItsPlaceOnly() {
    let line = HeaderArguments.Line(text: "x", source: "headers, line 2")
    let failure = #expect(throws: Failure.self) { try HeaderArguments(expansion: nil).parse(line) }
    #expect(failure?.prefixed("script, line 1").message?.what == "headers, line 2")
  }

  @Test func keepsOrderAndRepeatedNames() throws {
    let fields = try parse(["b: 1", "a: 2", "b: 3"]).fields
    #expect(fields.map { "\($0.name)=\($0.value)" } == ["b=1", "a=2", "b=3"])
  }

  @Test(arguments: [
    ("secret", "missing colon in the header"), ("a b: secret", "\"a b\" is not a header name"),
    (": secret", "the header has no name"), (":path: /", "\":path\" is a part of HTTP, not a header"),
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
    #expect(failure?.message?.rendered().contains("secret") == false)
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

  private func expansion(_ level: Expansion) -> TextExpansion {
    let sources = TemplateSources(
      nanosecondsSince1970: { 0 }, environment: { ["A": "1", "B": "secret\nx", "N": "${env.A}"][$0] },
      file: { _ throws(LanguageError) in throw LanguageError("no such file") })
    return TextExpansion(
      level, TemplateFunctions(sources, seed: 1), variables: VariableArguments(["user": .string("Ada")]))
  }

  @Test(arguments: [
    ("a: ${env.A}", "1"), ("a: x${env.A}y$${env.A}", "x1y${env.A}"), ("a: ${env.N}", "${env.A}"),
    ("a: $A", "$A"), ("a: x${user}", "xAda"),
    ("a-bin: ${base64('ab')}", "YWI="),
  ])
  func replacesTemplates(text: String, value: String) throws {
    #expect(try parse([text], expansion(.typed)).fields.map(\.value) == [value])
  }

  @Test(arguments: [
    ("a: ${env.NONE}", "env.NONE: the environment variable is not set"),
    ("a: ${NONE}", "NONE: no such variable"), ("a: ${user.name}", "user.name: user is not a message"),
    ("a: ${uid()}", "uid is not a function"), ("a: ${", "${ has no closing }"),
  ])
  func rejectsInvalidTemplates(text: String, why: String) {
    let failure = #expect(throws: Failure.self) { try parse([text], expansion(.typed)) }
    #expect(failure?.message?.what == "-H: a")
    #expect(failure?.message?.why == why)
  }

  @Test func checksValuesOfTemplates() {
    let failure = #expect(throws: Failure.self) { try parse(["a: ${env.B}"], expansion(.typed)) }
    #expect(failure?.message?.why == "the value of a contains a control character")
  }

  @Test func replacesTemplatesOfFilesOnlyIfAsked() throws {
    let directory = try #require(TemporaryDirectory())
    let file = directory.write("headers", Array("a: ${env.A}\nb: ${random(3,3)}\n".utf8))
    let values = { (level: Expansion) in try parse(["@\(file)"], expansion(level)).fields.map(\.value) }
    #expect(try values(.typed) == ["${env.A}", "${random(3,3)}"])
    #expect(try values(.all) == ["1", "3"])
    let failure = #expect(throws: Failure.self) { try values(.files) }
    #expect(failure?.message?.what == "\(file), line 1: a")
    #expect(failure?.message?.why == "env.A: this text must not read the environment")
  }

  @Test func namesTheFirstTemplateThatIsSentAsText() throws {
    let arguments = Parser.parse(["call", "-H", "a: $x", "-H", "a: ${env.A}"]).all(.header)
    #expect(HeaderArguments(expansion: nil).unexpandedTemplate(in: arguments) == "${env.A}")
    #expect(HeaderArguments(expansion: expansion(.typed)).unexpandedTemplate(in: arguments) == nil)
    let session = try Argument(.header, "a: ${env.A}")
    #expect(HeaderArguments(expansion: nil).unexpandedTemplate(in: [session]) == nil)
    let parsed = try HeaderArguments(expansion: expansion(.typed)).parse([session])
    #expect(parsed.fields.map(\.value) == ["${env.A}"])
  }
}

struct BearerTokenTests {
  @Test(arguments: [
    ("", "--bearer", "the token is empty"),
    ("env:NONE", "--bearer env:NONE", "the environment variable is not set"),
    ("env:EMPTY", "--bearer env:EMPTY", "the token is empty"),
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
