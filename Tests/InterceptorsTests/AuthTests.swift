import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

@Suite struct AuthTests {
  private let services = TestServices()

  private func call(
    _ registration: InterceptorRegistration, to target: String = "https://server",
    network: TestNetwork? = nil, protocolName: ProtocolName = .grpc,
    _ further: [InterceptorRegistration] = []
  ) -> TestCall {
    let call = TestCall(
      .unary, Journal(), [registration] + further, network: network, protocolName: protocolName)
    call.request.target = target
    call.start()
    call.send("ping")
    call.close()
    call.work()
    return call
  }

  /// The registration of `auth,TEXT`. The calls of these tests target http://server before interceptors
  /// change it.
  private func auth(_ text: String) throws -> InterceptorRegistration {
    try services.registration("auth,hosts=server,\(text)")
  }

  private func refuse(_ call: TestCall) {
    call.wireChain.receive(.responseStart(ResponseStart(headers: Headers([("grpc-status", "16")]))))
    call.wireChain.receive(
      .responseEnd(ResponseEnd(error: RPCError(.unauthenticated, "token expired", origin: .server))))
  }

  private func jwt(expiry: Int64) -> String {
    let claims = Base64.encode(Array("{\"exp\":\(expiry)}".utf8), padding: false)
    return "e30.\(claims).c2ln"
  }

  private let second: Int64 = 1_000_000_000

  // MARK: Values

  @Test(arguments: [
    ("bearer=abc", "authorization", "Bearer abc"), ("bearer=env:TOKEN", "authorization", "Bearer from-env"),
    ("bearer=@token", "authorization", "Bearer from-file"),
    ("bearer=@@token", "authorization", "Bearer @token"), ("bearer=env::x", "authorization", "Bearer env:x"),
    ("bearer=abc,header=X-Api-Key", "x-api-key", "abc"),
    ("bearer=abc,header=x-key,scheme=Token", "x-key", "Token abc"),
    ("bearer=abc,scheme=Token", "authorization", "Token abc"),
    ("basic=Aladdin:open sesame", "authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    ("basic=u:p,,q:r,header=x-key", "x-key", "Basic dTpwLHE6cg=="),
    ("bearer=cmd:get", "authorization", "Bearer out"),
  ])
  func addsTheHeader(_ text: String, _ name: String, _ value: String) throws {
    services.files["token"] = "from-file\n"
    services.variables["TOKEN"] = "from-env"
    services.commands["get"] = .success("out\n")
    let call = call(try auth(text))
    #expect(call.sentStart?.headers.values(name) == [value])
    #expect(call.sentStart?.credentials?.headerNames == [name])
    #expect(call.logged.isEmpty)
  }

  @Test func replacesHeaderOfCaller() throws {
    let call = TestCall(.unary, Journal(), [try auth("bearer=abc")])
    call.request.target = "https://server"
    call.request.headers = Headers([("authorization", "Bearer old"), ("Authorization", "Bearer older")])
    call.start()
    #expect(call.sentStart?.headers.values("authorization") == ["Bearer abc"])
  }

  @Test func readsFileForEachCall() throws {
    let registration = try auth("bearer=@token")
    #expect(call(registration).end?.error?.message == "token: no such file or directory")
    for token in ["one", "two"] {
      services.files["token"] = token
      #expect(call(registration).sentStart?.headers.first("authorization") == "Bearer \(token)")
    }
    services.files["token"] = "not a token"
    let failed = call(registration)
    #expect(failed.end?.error?.message == "token: the token contains blanks or control characters")
    #expect(failed.end?.code == .unauthenticated)
    #expect(failed.wireLines.isEmpty)
    services.binaryFiles["token"] = Array("caf".utf8) + [0xE9]
    #expect(call(registration).end?.error?.message == "token: not UTF-8")
    #expect(throws: SystemError("not UTF-8")) { try AccessToken(output: [0xE9], now: 0) }
  }

  // MARK: Scope

  @Test(arguments: [
    ("server", "https://server", true), ("server", "https://server:8443/prefix", true),
    ("server:443", "https://server", true), ("server:443", "https://server:8443", false),
    ("SERVER", "https://Server", true), ("*.example.com", "https://a.b.example.com", true),
    ("*.example.com", "https://example.com", false), ("*.example.com", "https://notexample.com", false),
    ("a+b", "https://b", true), ("a,,b", "https://b", true), ("server", "https://server.evil.com", false),
    ("[::1]:50051", "http://[::1]:50051", true), ("::1", "http://[::1]:50051", true),
  ])
  func sendsCredentialsOnlyToGivenHosts(_ hosts: String, _ target: String, _ isSent: Bool) throws {
    let call = call(try services.registration("auth,bearer=abc,hosts=\(hosts)"), to: target)
    #expect((call.sentStart?.headers.first("authorization") != nil) == isSent)
    #expect(call.wireLines == ["start", "ping", "half-close"])
  }

  @Test func defaultScopeIsServerOfFirstCall() throws {
    let registration = try services.registration("auth,bearer=abc,allow-plaintext=true")
    for (target, isSent) in [
      ("http://server", true), ("http://server:80/x", true), ("http://server:81", false),
      ("http://other", false), ("https://server", false),
    ] {
      let call = call(registration, to: target)
      #expect((call.sentStart?.headers.first("authorization") != nil) == isSent, "\(target)")
      if !isSent { #expect(call.logged.first?.text.hasPrefix("no credentials for ") == true) }
    }
  }

  @Test func omitsCredentialsForChangedTarget() throws {
    let redirect = Probe("redirect", .requestStart, Journal())
    redirect.onRequestStart = { start, token in
      var start = start
      start.target = "https://other"
      token.proceed(start)
    }
    let registration = try services.registration("auth,bearer=abc")
    let call = TestCall(.unary, Journal(), [TestCall.registration(redirect), registration])
    call.start()
    #expect(call.sentStart?.target == "https://other")
    #expect(call.sentStart?.headers.isEmpty == true)
  }

  @Test func bindsCredentialsToServer() throws {
    let call = call(try auth("bearer=abc"))
    #expect(call.sentStart?.credentials?.origin == Origin(url: "https://server"))
  }

  @Test func separatesCredentialsOfTwoServers() throws {
    let other = try services.registration("auth,bearer=def,header=x-key,hosts=server")
    let call = call(try auth("bearer=abc"), [other])
    #expect(call.sentStart?.credentials?.headerNames == ["authorization", "x-key"])
  }

  @Test func rejectsPlaintext() throws {
    for text in ["bearer=abc", "bearer=cmd:get"] {
      let refused = call(try auth(text), to: "http://server")
      #expect(refused.end?.code == .unauthenticated)
      #expect(
        refused.end?.error?.message
          == "credentials are not sent to server:80 without TLS; allow-plaintext=true allows that")
      #expect(refused.wireLines.isEmpty)
    }
    #expect(services.commandsRun.isEmpty)
    #expect(
      call(try auth("bearer=abc,allow-plaintext=true"), to: "http://server").sentStart?.headers.isEmpty
        == false)
    let local = try services.registration("auth,bearer=abc,hosts=localhost")
    #expect(call(local, to: "http://localhost:50051").sentStart?.headers.isEmpty == false)
  }

  // MARK: Commands

  @Test func commandRunsOnceUntilTokenExpires() throws {
    let registration = try auth("bearer=cmd:get")
    let now = services.nanosecondsSince1970
    let expiry = now / second + 100
    // A token that expires in 100 seconds is renewed 10 seconds earlier.
    for (output, lifetime) in [
      ("plain", nil), (jwt(expiry: expiry), 90),
      ("{\"access_token\":\"abc\",\"expires_in\":100}", 90),
      ("{\"access_token\":\"abc\",\"expires_in\":\"100\"}", 90),
      ("{\"access_token\":\"\(jwt(expiry: expiry))\"}", 90),
      (
        "{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"abc\","
          + "\"expirationTimestamp\":\"2023-11-14T22:15:00Z\"}}", 90
      ),
      ("{\"status\":{\"token\":\"abc\"}}", nil), ("{\"access_token\":\"abc\",\"expires_in\":4000}", 3970),
    ] as [(String, Int64?)] {
      services.nanosecondsSince1970 = now
      services.commands["get"] = .success(output)
      let registration = try auth("bearer=cmd:get")
      let before = services.commandsRun.count
      func runs(after seconds: Int64) -> Int {
        services.nanosecondsSince1970 = now + seconds * second
        let call = call(registration)
        #expect(call.sentStart?.headers.first("authorization")?.hasPrefix("Bearer ") == true, "\(output)")
        return services.commandsRun.count - before
      }
      #expect(runs(after: 0) == 1)
      if let lifetime {
        #expect(runs(after: lifetime - 1) == 1, "\(output)")
        #expect(runs(after: lifetime) == 2, "\(output)")
      } else {
        #expect(runs(after: 1_000_000) == 1, "\(output)")
      }
    }
    _ = registration
  }

  @Test(
    arguments: [
      (
        Result.failure(SystemError("the command ended with exit code 3")),
        "the command ended with exit code 3"
      ),
      (.success(""), "the token is empty"),
      (.success("a\nb"), "the token contains blanks or control characters"),
      (.success("{"), "the output is not valid JSON"),
      (.success("{\"token\":1}"), "the JSON output contains neither access_token nor status.token"),
    ] as [(Result<String, SystemError>, String)])
  func failedCommandFailsCallBeforeSending(_ output: Result<String, SystemError>, _ reason: String)
    throws
  {
    services.commands["get"] = output
    let registration = try auth("bearer=cmd:get")
    let failed = call(registration)
    #expect(failed.end?.code == .unauthenticated)
    #expect(failed.end?.error?.message == "no token: \(reason)")
    #expect(failed.end?.error?.origin == .interceptor("auth"))
    #expect(failed.wireLines.isEmpty)
    services.commands["get"] = .success("good")
    #expect(call(registration).sentStart?.headers.first("authorization") == "Bearer good")
  }

  // MARK: OAuth

  private static let client = "token-url=https://id.example/token,client-id=me,client-secret=s/e cret"

  @Test func fetchesTokenOnceForAllCalls() throws {
    let network = TestNetwork()
    let registration = try auth("\(Self.client),scope=a b,audience=api")
    let calls = (1...3).map { _ in call(registration, network: network) }
    #expect(calls.allSatisfy { $0.wireLines.isEmpty })
    #expect(network.fetches.count == 1)
    let fetch = try #require(network.fetches.first)
    #expect((fetch.method, fetch.url) == ("POST", "https://id.example/token"))
    #expect(fetch.headers.first("content-type") == "application/x-www-form-urlencoded")
    // me:s%2Fe%20cret
    #expect(fetch.headers.first("authorization") == "Basic bWU6cyUyRmUlMjBjcmV0")
    #expect(network.lastParameters == ["grant_type=client_credentials", "scope=a%20b", "audience=api"])
    network.answer("{\"access_token\":\"t1\",\"token_type\":\"Bearer\",\"expires_in\":100}")
    for call in calls { call.work() }
    #expect(calls.allSatisfy { $0.sentStart?.headers.first("authorization") == "Bearer t1" })
    #expect(call(registration, network: network).wireLines == ["start", "ping", "half-close"])
    services.nanosecondsSince1970 += 90 * second
    #expect(call(registration, network: network).wireLines.isEmpty)
    #expect(network.fetches.count == 2)
  }

  @Test func sendsClientCredentialsInBody() throws {
    let network = TestNetwork()
    _ = call(try auth("\(Self.client),client-auth=body"), network: network)
    #expect(network.fetches.first?.headers.first("authorization") == nil)
    #expect(
      network.lastParameters == [
        "grant_type=client_credentials", "client_id=me", "client_secret=s%2Fe%20cret",
      ])
  }

  @Test func restartsFetchIfFetchingCallEnds() throws {
    let network = TestNetwork()
    let registration = try auth(Self.client)
    let first = call(registration, network: network)
    let second = call(registration, network: network)
    first.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    second.work()
    #expect(network.fetches.count == 2)
    network.answer("{\"access_token\":\"t2\"}", index: 1)
    second.work()
    #expect(second.sentStart?.headers.first("authorization") == "Bearer t2")
    #expect(first.wireLines.isEmpty)
  }

  @Test(arguments: [
    (
      400, "{\"error\":\"invalid_scope\",\"error_description\":\"no such scope\"}",
      "refused: invalid_scope (no such scope)"
    ),
    (401, "{\"error\":\"invalid_client\"}", "refused: invalid_client"),
    (
      400, "{\"error\":\"bad\",\"error_description\":\"s/e cret is wrong\"}",
      "refused: bad ([redacted] is wrong)"
    ),
    (503, "<html>", "responded with HTTP 503"), (200, "{}", "responded without an access_token"),
    (200, "{\"access_token\":\"x\",\"token_type\":\"mac\"}", "returned a token of a type other than bearer"),
    (200, "<html>", "responded without an access_token"),
  ])
  func refusedFetchFailsCallBeforeSending(_ status: Int, _ body: String, _ words: String) throws {
    let network = TestNetwork()
    let call = call(try auth(Self.client), network: network)
    network.answer(body, status: status)
    call.work()
    #expect(call.end?.code == .unauthenticated)
    #expect(call.end?.error?.message == "no token: the token server id.example:443 \(words)")
    #expect(call.wireLines.isEmpty)
  }

  @Test(arguments: [
    "s/e cret", "s%2Fe%20cret", "s\\/e cret", Base64.encode(Array("me:s%2Fe%20cret".utf8)),
    Base64.encode(Array("me:s/e cret".utf8)),
  ])
  func refusalOfTokenServerContainsNoSecret(form: String) throws {
    let network = TestNetwork()
    let call = call(try auth(Self.client), network: network)
    network.answer("{\"error\":\"bad\",\"error_description\":\"not \(form)\"}", status: 400)
    call.work()
    let message = try #require(call.end?.error?.message)
    #expect(message.hasSuffix("[redacted])"))
    #expect(!message.contains("cret") && !message.contains(form.suffix(8)))
  }

  @Test func unreachableTokenServerFailsCall() throws {
    let network = TestNetwork()
    let call = call(try auth(Self.client), network: network)
    network.fail("connection refused")
    call.work()
    #expect(
      call.end?.error?.message == "no token: the token server id.example:443: connection refused")
  }

  // MARK: Rejected tokens

  @Test func fetchesNewTokenOnceAfterRejection() throws {
    let network = TestNetwork()
    let call = call(try auth(Self.client), network: network)
    network.answer("{\"access_token\":\"t1\"}")
    call.work()
    refuse(call)
    call.work()
    #expect(network.fetches.count == 2)
    #expect(call.end == nil)
    network.answer("{\"access_token\":\"t2\"}")
    call.work()
    call.clock.advance(by: .zero)
    #expect(call.wireLines.count { $0 == "start" } == 2)
    #expect(call.sentStart?.headers.values("authorization") == ["Bearer t2"])
    refuse(call)
    call.work()
    #expect(call.end?.error?.message == "token expired")
    #expect(call.callerLines.prefix(2) == ["headers", "end unauthenticated"])
    #expect(network.fetches.count == 2)
  }

  /// A call whose token the server refuses after the headers of its response.
  private func callRefusedAfterItsHeaders(_ network: TestNetwork, hasMessage: Bool = false) throws -> TestCall
  {
    let call = call(try auth(Self.client), network: network, protocolName: .grpcWeb)
    network.answer("{\"access_token\":\"t1\"}")
    call.work()
    call.receiveHeaders()
    call.hasMessage = hasMessage
    call.receiveEnd(RPCError(.unauthenticated, "token expired", origin: .server))
    call.work()
    return call
  }

  /// The server has run the method.
  @Test func callWhoseMessageArrivedIsNotRepeatedWithNewToken() throws {
    let network = TestNetwork()
    let call = try callRefusedAfterItsHeaders(network, hasMessage: true)
    #expect(network.fetches.count == 1)
    #expect(call.wireStarts == 1)
    #expect(call.end?.error?.message == "token expired")
  }

  @Test func newTokenMayTakeLongerThanHeadersAreHeld() throws {
    let network = TestNetwork()
    let call = try callRefusedAfterItsHeaders(network)
    call.clock.advance(by: .seconds(2))
    network.answer("{\"access_token\":\"t2\"}")
    call.work()
    call.clock.advance(by: .zero)
    #expect(call.wireStarts == 2)
    #expect(call.sentStart?.headers.values("authorization") == ["Bearer t2"])
  }

  @Test func rejectedCallsShareNextToken() throws {
    let network = TestNetwork()
    let registration = try auth(Self.client)
    let calls = (1...2).map { _ in call(registration, network: network) }
    network.answer("{\"access_token\":\"t1\"}")
    for call in calls {
      call.work()
      refuse(call)
      call.work()
    }
    #expect(network.fetches.count == 2)
    network.answer("{\"access_token\":\"t2\"}")
    for call in calls {
      call.work()
      call.clock.advance(by: .zero)
      #expect(call.sentStart?.headers.first("authorization") == "Bearer t2")
    }
  }

  @Test func reportsRejectionIfNoNewToken() throws {
    let network = TestNetwork()
    let call = call(try auth(Self.client), network: network)
    network.answer("{\"access_token\":\"t1\"}")
    call.work()
    refuse(call)
    call.work()
    network.answer("{\"error\":\"invalid_client\"}", status: 401)
    call.work()
    #expect(call.end?.error?.message == "token expired")
    #expect(call.callerLines.prefix(2) == ["headers", "end unauthenticated"])
    #expect(call.logged.last?.level == .warning)
  }

  @Test func doesNotRetryOtherFailuresOrFixedTokens() throws {
    services.commands["get"] = .success("out")
    let denied = call(try auth("bearer=cmd:get"))
    denied.receiveEnd(RPCError(.permissionDenied, "", origin: .server))
    #expect(denied.end?.code == .permissionDenied)
    let fixed = call(try auth("bearer=abc"))
    refuse(fixed)
    #expect(fixed.end?.code == .unauthenticated)
    #expect(services.commandsRun.count == 1)
  }

  @Test func cancelDuringFetchEndsCall() throws {
    let network = TestNetwork()
    let call = call(try auth(Self.client), network: network)
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(call.end?.code == .canceled)
    #expect(call.outcome != nil)
    network.answer("{\"access_token\":\"t1\"}")
    call.work()
    #expect(call.wireLines.isEmpty)
  }

  @Test func commandIsCanceledWhenNoCallWaitsForIt() throws {
    services.holdsCommands = true
    services.commands["get"] = .success("out")
    let registration = try auth("bearer=cmd:get")
    let calls = (1...2).map { _ in call(registration) }
    calls[0].work()
    calls[0].chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(services.canceledCommands.isEmpty)
    services.releaseCommands()
    calls[1].work()
    #expect(calls[1].sentStart?.headers.first("authorization") == "Bearer out")
    #expect(services.commandsRun == ["get"])

    let other = call(try auth("bearer=cmd:get"))
    other.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(services.canceledCommands == ["get"])
    services.releaseCommands()
    other.work()
    #expect(other.wireLines.isEmpty)
  }

  // MARK: Configuration

  @Test(arguments: [
    ("auth", "auth: no credentials given"),
    ("auth,header=x", "auth: no credentials given"),
    ("auth,bearer=a,basic=b:c", "auth: basic: cannot be combined with bearer"),
    ("auth,bearer=", "auth: bearer: is empty"),
    ("auth,bearer=top secret", "auth: bearer: the token contains blanks or control characters"),
    ("auth,basic=secret", "auth: basic: must be USER:PASSWORD"),
    ("auth,basic=a:b,scheme=X", "auth: scheme: must be Basic, with basic"),
    ("auth,bearer=a,scope=b", "auth: scope: requires token-url"),
    ("auth,bearer=a,header=content-length", "auth: header: is not the name of a header that can be set"),
    ("auth,bearer=a,header=content-type", "auth: header: is not the name of a header that can be set"),
    ("auth,bearer=a,header=TE", "auth: header: is not the name of a header that can be set"),
    ("auth,bearer=a,scheme=a b", "auth: scheme: is not one word"),
    ("auth,bearer=a,hosts=", "auth: hosts: must be HOST, HOST:PORT or *.DOMAIN"),
    ("auth,bearer=a,hosts=a:b", "auth: hosts: a:b: must be HOST, HOST:PORT or *.DOMAIN"),
    ("auth,bearer=a,hosts=*", "auth: hosts: *: must be HOST, HOST:PORT or *.DOMAIN"),
    ("auth,bearer=a,allow-plaintext=maybe", "auth: allow-plaintext: must be true or false"),
    ("auth,bearer=cmd:a,timeout=never", "auth: timeout: must be a duration such as 1.5, 250ms, 2m"),
    ("auth,token-url=id.example", "auth: token-url: is not an http(s) URL without user information"),
    (
      "auth,token-url=https://u:p@id.example/,client-id=a,client-secret=b",
      "auth: token-url: is not an http(s) URL without user information"
    ),
    (
      "auth,token-url=http://id.example,client-id=a,client-secret=b",
      "auth: token-url: would send the client secret without TLS"
    ),
    ("auth,token-url=https://id.example,client-id=a", "auth: client-secret: is required with token-url"),
    (
      "auth,token-url=https://id.example,client-id=a,client-secret=b,client-auth=x",
      "auth: client-auth: must be one of basic, body"
    ),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description == message)
  }
}
