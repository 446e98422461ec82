import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct HeaderTests {
  private let services = TestServices()

  private func registration(_ text: String) throws -> InterceptorRegistration {
    try services.registration(text)
  }

  /// The headers on the wire if the caller gives `a: 1`, `b: 2`.
  private func headers(_ text: String) throws -> String? {
    let call = TestCall(.unary, Journal(), [try registration(text)])
    call.request.headers = Headers([("a", "1"), ("b", "2")])
    call.start()
    call.work()
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    return call.sentStart?.headers.fields.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  @Test(arguments: [
    ("header,set=a:3", "a=3; b=2"),
    ("header,set=A: 3", "a=3; b=2"),
    ("header,add=a:3", "a=1; b=2; a=3"),
    ("header,remove=b", "a=1"),
    ("header,remove=b,add=b:x:y,,z", "a=1; b=x:y,z"),
    ("header,set=c:", "a=1; b=2; c="),
    ("header,set=a:3,methods=other.Service/*", "a=1; b=2"),
  ])
  func changesHeadersInTheOrderWritten(_ text: String, _ expected: String) throws {
    #expect(try headers(text) == expected)
  }

  @Test(arguments: ["header", "header,timeout=1", "header,methods=a.B/*"])
  func rejectsConfigurationWithoutChange(text: String) {
    let error = #expect(throws: ConfigurationError.self) { try registration(text) }
    #expect(error?.description == "header: no header to change")
    #expect(error?.hint == "write header,set=NAME:VALUE")
  }

  @Test(arguments: [
    ("header,rename=a:c", "c=1; b=2"),
    ("header,rename=A:b", "b=1; b=2"),
    ("header,add=a:3,rename=a:c,set=a:4", "c=1; b=2; c=3; a=4"),
    ("header,rename=missing:c", "a=1; b=2"),
    ("header,set=x-bin:AAE", "a=1; b=2; x-bin=AAE"),
    ("header,set=c:env:VALUE", "a=1; b=2; c=from env"),
    ("header,set=x-bin:env:BASE64", "a=1; b=2; x-bin=AAE="),
    ("header,set=a:@file", "a=from file; b=2"),
    ("header,set=x-bin:@file", "a=1; b=2; x-bin=ZnJvbSBmaWxlCg"),
    ("header,add=a: env:VALUE,add=a:cmd:get", "a=1; b=2; a=from env; a=from command"),
    ("header,set=a:cmd:get 'b c' d\\ e", "a=words; b=2"),
    ("header,set=a:@@file,set=b:env::prod,add=b:cmd::x", "a=@file; b=env:prod; b=cmd:x"),
    ("header,set=a:x env:VALUE", "a=x env:VALUE; b=2"),
    // The whole value is elsewhere; what it contains is literal.
    ("header,set=@whole", "a=1; b=2; c=env:VALUE"), ("header,set=env:WHOLE", "a=1; b=2; c=@file"),
    ("header,expand=true,set=env:EXPANDED", "a=1; b=2; c=${uuid()}"),
    ("header,expand=true,set=a:env:VALUE", "a=from env; b=2"),
    ("header,set=a:cmd:get,remove=b", "a=from command"),
    ("header,set=x-bin:cmd:get,set=a:cmd:other", "a=2; b=2; x-bin=ZnJvbSBjb21tYW5k"),
  ])
  func readsValuesFromSources(_ text: String, _ expected: String) throws {
    services.variables = [
      "VALUE": "from env", "BASE64": "AAE=", "WHOLE": "c:@file", "EXPANDED": "c:${uuid()}",
    ]
    services.files["whole"] = "c:env:VALUE\n"
    services.files["file"] = "from file\n"
    services.commands = [
      "get": .success("from command"), "other": .success("2\r\n"),
      "get|b c|d e": .success("words"),
    ]
    #expect(try headers(text) == expected)
  }

  @Test(arguments: [
    ("header,set=a:env:NONE", "the value of a: the environment variable NONE is not set"),
    ("header,set=a:env:LINES", "the value of a: contains control characters"),
    ("header,set=x-bin:env:LINES", "the value of x-bin: is not base64"),
    ("header,set=a:@/none", "the value of a: /none: no such file or directory"),
    ("header,set=a:@lines", "the value of a: lines: contains control characters"),
    ("header,set=a:@binary", "the value of a: binary: is not UTF-8"),
    ("header,set=a:cmd:fail", "the value of a: exit code 3"),
    ("header,set=a:cmd:get,set=b:cmd:lines", "the value of b: contains control characters"),
  ])
  func unavailableValueFailsCallBeforeSending(_ text: String, _ message: String) throws {
    services.variables["LINES"] = "a\nb"
    services.files["lines"] = "a\nb\n"
    services.binaryFiles["binary"] = [0xE9]
    services.commands = [
      "get": .success("1"), "lines": .success("a\nb"), "fail": .failure(SystemError("exit code 3")),
    ]
    let call = TestCall(.unary, Journal(), [try registration(text)])
    call.run()
    #expect(call.end?.error?.message == message)
    #expect(call.end?.error?.origin == .interceptor("header"))
    #expect(call.wireLines.isEmpty)
  }

  @Test func readsValuesForEachCall() throws {
    let registration = try registration("header,set=a:env:VALUE,set=b:@file,set=c:cmd:get")
    for value in ["1", "2"] {
      services.variables["VALUE"] = value
      services.files["file"] = value
      services.commands["get"] = .success(value)
      let call = TestCall(.unary, Journal(), [registration])
      call.start()
      #expect(call.sentStart?.headers == Headers([("a", value), ("b", value), ("c", value)]))
    }
    #expect(services.commandsRun == ["get", "get"])
  }

  @Test func changesHeadersAndTrailersOfTheResponse() throws {
    let text =
      "header,response-set=from:me,response-add=a:1,trailer-rename=t:u,trailer-add=t:2,trailer-set=v:3,"
      + "trailer-remove=w"
    for error in [nil, RPCError(.aborted, "", origin: .server)] {
      let call = TestCall(.serverStreaming, Journal(), [try registration(text)])
      call.start()
      call.receiveHeaders()
      call.receive("pong")
      call.wireChain.receive(
        .responseEnd(ResponseEnd(error: error, trailers: Headers([("t", "1"), ("w", "4")]))))
      #expect(call.receivedStart?.headers == Headers([("from", "me"), ("a", "1")]))
      #expect(call.end?.trailers == Headers([("u", "1"), ("t", "2"), ("v", "3")]))
      #expect(call.end?.error == error)
      #expect(call.callerLines.prefix(2) == ["headers", "pong"])
    }
    let removed = TestCall(.unary, Journal(), [try registration("header,response-remove=from")])
    removed.run()
    #expect(removed.receivedStart?.headers.isEmpty == true)
  }

  @Test func renamedCredentialIsStillBound() throws {
    let auth = try registration("auth,bearer=abc,hosts=server")
    let call = TestCall(
      .unary, Journal(), [auth, try registration("header,rename=Authorization:x-forwarded")])
    call.request.target = "https://server"
    call.start()
    #expect(call.sentStart?.headers == Headers([("x-forwarded", "Bearer abc")]))
    #expect(call.sentStart?.credentials?.headerNames.contains("x-forwarded") == true)
  }

  @Test(arguments: [
    ("rename=Authorization:x-corp", ["x-corp"]), ("rename=x-token:b,rename=b:x-corp", ["b", "x-corp"]),
    ("rename=x-plain:x-corp", []),
  ])
  func renamedSecretIsCredential(_ changes: String, _ names: [String]) throws {
    let call = TestCall(.unary, Journal(), [try registration("header,\(changes)")])
    call.start()
    #expect((call.sentStart?.credentials?.headerNames ?? []) == Set(names))
    #expect(call.sentStart?.credentials?.allowsPlaintext != false)
  }

  @Test func cancelDuringCommandEndsCall() throws {
    services.holdsCommands = true
    let call = TestCall(.unary, Journal(), [try registration("header,set=a:cmd:get")])
    call.start()
    #expect(call.wireLines.isEmpty)
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(call.end?.code == .canceled)
    #expect(services.canceledCommands == ["get"])
    services.releaseCommands()
    call.work()
    #expect(call.wireLines.isEmpty)
  }

  @Test func callWaitsForCommands() throws {
    services.holdsCommands = true
    services.commands = ["one": .success("1"), "two": .success("2")]
    let call = TestCall(
      .unary, Journal(), [try registration("header,set=a:cmd:one,set=b:cmd:two")])
    call.start()
    call.send("ping")
    call.work()
    #expect(call.wireLines.isEmpty)
    services.releaseCommands()
    call.work()
    #expect(call.sentStart?.headers == Headers([("a", "1"), ("b", "2")]))
    #expect(call.wireLines == ["start", "ping"])
  }

  @Test(arguments: [
    ("header,set=novalue", "header: set: the value is not of the form NAME:VALUE"),
    ("header,set=a b:1", "header: set: the text before the colon is not a valid header name"),
    ("header,add=a:1\n", "header: add: the value of a contains control characters"),
    ("header,remove=", "header: remove: the value is not a valid header name"),
    ("header,colour=red", "header: colour: unknown key"),
    ("header,rename=a", "header: rename: the value is not of the form OLD:NEW"),
    ("header,rename=a:", "header: rename: the new name is not a valid header name"),
    ("header,rename=a:a-bin", "header: rename: only one of a and a-bin is binary"),
    ("header,rename=a:upgrade", "header: rename: upgrade can be set only by the transport"),
    (
      "header,set=Grpc-Encoding:gzip", "header: set: Grpc-Encoding can be set only by the transport"
    ),
    ("header,set=te:gzip", "header: set: te can be set only by the transport"),
    ("header,add=Keep-Alive:3", "header: add: Keep-Alive can be set only by the transport"),
    ("header,set=Content-Type:a", "header: set: Content-Type can be set only by the transport"),
    ("header,set=a-bin:?", "header: set: the value of a-bin is not base64"),
    ("header,set=a:cmd:", "header: set: missing command after cmd:"),
    ("header,set=a:cmd:get | head", "header: set: no shell runs the command, so | has no effect"),
    ("header,response-set=a:cmd:get", "header: response-set: commands run only for request headers"),
    ("header,set-env=a:B", "header: set-env: unknown key"),
    ("header,response-set=a", "header: response-set: the value is not of the form NAME:VALUE"),
    ("header,trailer-remove=", "header: trailer-remove: the value is not a valid header name"),
    ("header,timeout=x", "header: timeout: must be a duration such as 1.5, 250ms, 2m"),
    ("auth:bearer=S3CRET", "auth: no built-in interceptor has this name"),
    ("auth:bearer=S3CRET,x", "auth: setting 1 is not of the form KEY=VALUE"),
    ("nonsense", "nonsense: no built-in interceptor has this name"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try registration(text) }
    #expect(error?.description == message)
  }

  @Test func allBuiltInsHaveDescriptions() {
    #expect(BuiltIns.all.map(\.name) == BuiltIns.all.map(\.name).sorted())
    #expect(BuiltIns.all.allSatisfy { !$0.summary.isEmpty && !$0.keys.isEmpty })
  }
}
