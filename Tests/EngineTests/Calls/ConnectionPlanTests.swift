import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlTransport
import Testing

@testable import RPCurlEngine

struct ConnectionPlanTests {
  private let plaintext = Target(baseURL: "http://a")
  private let encrypted = Target(baseURL: "https://a")

  private func server(_ options: [String]) -> Invocation { Parser.parse(["call"] + options) }

  private func plan(_ options: [String], _ target: Target? = nil) throws -> ConnectionOptions {
    try ConnectionPlan.options(
      server(options), target ?? plaintext, .connect,
      ArgumentSources(environment: { _ in nil }, secrets: SecretPrompt()))
  }

  @Test(arguments: [
    ([], Target.TLSChoice.byTarget), (["--plaintext"], .never), (["--plaintext", "-k"], .never),
    (["-k"], .always),
    (["--cacert", "ca.pem"], .always), (["--cert", "c.pem"], .always), (["--tlsv1.3"], .always),
    (["--proxy", ""], .byTarget), (["--insecure=false"], .byTarget),
  ])
  func optionsForTLSChooseIt(options: [String], tls: Target.TLSChoice) {
    #expect(server(options).tls == tls)
  }

  @Test(
    "A server of this machine is asked unless something secret is given, TLS is chosen or the connection goes elsewhere",
    arguments: [
      ([], true), (["-H", "x-a: b"], true), (["--use", "retry"], true), (["--max-time", "2"], true),
      (["--attr", "token=x"], true), (["--insecure=false"], false),
      (["--bearer", "x"], false), (["-u", "a:b"], false), (["-H", "authorization: x"], false),
      (["-H", "@headers"], false), (["--rpc-header", "x-api-key: x"], false), (["--netrc"], false),
      (["-H", "x-tenant: a", "--redact", "x-tenant"], false), (["--use", "auth,bearer=x"], false),
      (["--use", "header,set=x:y"], false), (["--plugin", "a.so"], false), (["--script", "./a.py"], false),
      (["--cert", "a.pem"], false),
      (["--proxy", "http://p:1"], false), (["--resolve", "h:1:127.0.0.1"], false),
      (["--connect-to", "a:1:b:2"], false), (["--unix-socket", "s"], false), (["--http3"], false),
      (["--plaintext"], false), (["--plaintext=false"], false), (["-k"], false),
    ])
  func mayAsk(options: [String], isAsked: Bool) throws {
    let console = Console(OutputCapture())
    #expect(try (server(options).tls(console) == .byResponse(console.localServers)) == isAsked)
  }

  @Test(arguments: [
    (ProtocolName.grpc, CallKind.unary, true, ConnectionOptions.HTTPVersion.http2),
    (.grpc, .unary, false, .http2), (.connect, .unary, true, .negotiated), (.connect, .unary, false, .http1),
    (.grpcWeb, .serverStreaming, true, .negotiated), (.grpcWeb, .serverStreaming, false, .http1),
    (.connect, .bidiStreaming, true, .negotiated), (.connect, .bidiStreaming, false, .http2),
  ])
  func choosesHTTPVersion(
    name: ProtocolName, kind: CallKind, isTLS: Bool, version: ConnectionOptions.HTTPVersion
  ) throws {
    let target = isTLS ? encrypted : plaintext
    #expect(try ConnectionPlan.httpVersion(server([]), target, name, kind) == version)
  }

  @Test(arguments: [
    ("--http1.1", ProtocolName.connect, ConnectionOptions.HTTPVersion.http1), ("--http1.1", .grpcWeb, .http1),
    ("--http2", .connect, .http2), ("--http2-prior-knowledge", .grpc, .http2PriorKnowledge),
  ])
  func followsOptions(
    option: String, name: ProtocolName, version: ConnectionOptions.HTTPVersion
  ) throws {
    #expect(try ConnectionPlan.httpVersion(server([option]), plaintext, name, .bidiStreaming) == version)
  }

  @Test(arguments: ["--cert", "--cacert", "--netrc-file"], ["@c.pem", "env:CERTIFICATE", "cmd:pass c"])
  func namesFilesOnly(option: String, value: String) throws {
    let failure = #expect(throws: Failure.self) { try plan([option, value], encrypted) }
    #expect(failure?.message?.what == "\(option) \(value)")
    #expect(failure?.message?.hint == "\(option) names a file: write its path, without @, env: or cmd:")
  }

  @Test func rejectsHTTP1ForGRPC() {
    let failure = #expect(throws: Failure.self) {
      try ConnectionPlan.httpVersion(server(["--http1.1"]), encrypted, .grpc, .unary)
    }
    #expect(failure?.message?.what == "--http1.1")
    #expect(failure?.message?.why == "gRPC needs HTTP/2")
  }

  @Test func limitsTheTimeToConnectByDefault() throws {
    #expect(try plan([]).connectTimeout == .seconds(10))
    #expect(try plan(["--connect-timeout", "1m"]).connectTimeout == .seconds(60))
  }

  @Test func passesOptionsOn() throws {
    let directory = try #require(TemporaryDirectory())
    let file = directory.write("ca.pem", [])
    let options = try plan([
      "-k", "--cacert", file, "--capath", directory.path, "--tlsv1.3", "--servername", "s", "-6",
      "--connect-to", "a:1:[::1]:2", "--proxy", "http://p", "--netrc",
    ])
    #expect(options.isInsecure)
    #expect(options.authoritiesFile == file)
    #expect(options.authoritiesDirectory == directory.path)
    #expect(options.oldestTLS == .tls13)
    #expect(options.serverName == "s")
    #expect(options.ipVersion == .v6)
    #expect(options.connectTo == ["a:1:[::1]:2"])
    #expect(options.proxy == "http://p")
    #expect(options.netrcFile == "")
    #expect(options.certificate == nil)
  }

  @Test func limitsTheLengthOfSocketPaths() throws {
    let path = String(repeating: "a", count: 107)
    #expect(try plan(["--unix-socket", path]).unixSocket == path)
    for option in ["--unix-socket", "--abstract-unix-socket"] {
      let failure = #expect(throws: Failure.self) { try plan([option, path + "a"]) }
      #expect(failure?.message?.why == "the path of a Unix socket has at most 107 bytes")
    }
  }

  @Test func prefersSocketOfOption() throws {
    let target = Target(baseURL: "http://localhost", unixSocket: "/target")
    #expect(try plan([], target).unixSocket == "/target")
    #expect(try plan(["--unix-socket", "/option"], target).unixSocket == "/option")
    let abstract = Target(baseURL: "http://localhost", unixSocket: "name", isAbstract: true)
    #expect(try plan([], abstract).unixSocket == nil)
    #expect(try plan([], abstract).abstractUnixSocket == "name")
  }

  @Test(arguments: ["a", "a:1", "a:1:b", "a:1:b:2:c", "[::1:1:b:2", "a]:1:b:2"])
  func rejectsIncompleteConnectTo(text: String) {
    let failure = #expect(throws: Failure.self) { try plan(["--connect-to", text]) }
    #expect(failure?.message?.what == "--connect-to \(text)")
    #expect(failure?.message?.why == "not of the form HOST:PORT:HOST:PORT")
  }

  @Test(arguments: [
    ("--resolve", "a.test:1", "not of the form HOST:PORT:ADDRESS"),
    ("--resolve", "a:99999:::1", "not of the form HOST:PORT:ADDRESS"),
    ("--resolve", "a:1:localhost", "localhost is not an IP address"),
    ("--proxy", "foo://a:1", "unknown scheme of the URL"),
    ("--proxy", "a:99999", "not of the form [SCHEME://]HOST[:PORT]"),
  ])
  func rejectsInvalidAddresses(option: String, value: String, why: String) {
    let failure = #expect(throws: Failure.self) { try plan([option, value]) }
    #expect(failure?.status == .usage)
    #expect(failure?.message?.why == why)
  }

  @Test(arguments: [
    ("--resolve", "*:443:192.0.2.1"), ("--resolve", "+a:1:[::1],192.0.2.1"), ("--resolve", "[::1]:1:::1"),
    ("--resolve", "-a:1"), ("--proxy", "SOCKS5h://u:p@ss/w@[::1]:1"), ("--proxy", "a"),
    ("--proxy", "socks://a:1"),
  ])
  func acceptsAddressesOfLibcurl(option: String, value: String) throws {
    let options = try plan([option + "=" + value])
    #expect(options.proxy == value || options.resolve == [value])
  }

  @Test func rejectsNetrcWithAServerName() throws {
    let options = ["--netrc", "--servername", "s"]
    #expect(throws: Failure.self) { try plan(options, encrypted) }
    #expect(try plan(options, plaintext).serverName == "s", "without TLS the name has no effect")
  }

  @Test(arguments: [
    (["--cacert", "/none"], RPCurlProgram.ExitStatus.tls, "--cacert /none", "No such file or directory"),
    (["--cert", "/none"], .tls, "--cert /none", "No such file or directory"),
    (["--netrc-file", "/none"], .usage, "--netrc-file /none", "No such file or directory"),
    (["--key", "/dev/null"], .usage, "--key", "no certificate"),
  ])
  func rejectsUnreadableFiles(options: [String], status: RPCurlProgram.ExitStatus, what: String, why: String)
  {
    let failure = #expect(throws: Failure.self) { try plan(options) }
    #expect(failure?.status == status)
    #expect(failure?.message?.what == what)
    #expect(failure?.message?.why == why)
  }

  @Test func readsPassphraseFromFile() throws {
    let directory = try #require(TemporaryDirectory())
    let certificate = directory.write("cert.pem", [])
    let key = directory.write("key.pem", Array("ENCRYPTED".utf8))
    let pass = directory.write("pass", Array("öffne dich\nsecond line".utf8))
    let options = try plan(["--cert", certificate, "--key", key, "--pass", "@\(pass)"])
    #expect(options.certificate?.file == certificate)
    #expect(options.certificate?.keyFile == key)
    #expect(options.certificate?.passphrase == "öffne dich")
    directory.write("pass", [0xF6])
    let failure = #expect(throws: Failure.self) {
      try plan(["--cert", certificate, "--key", key, "--pass", "@\(pass)"])
    }
    #expect(failure?.message?.why == "not UTF-8")
  }

  @Test(arguments: [
    ("typed", "not @FILE, env:NAME or cmd:COMMAND"), ("@@typed", "not @FILE, env:NAME or cmd:COMMAND"),
    ("env:RPCURL_TEST_NO_SUCH_VARIABLE", "the environment variable is not set"),
    ("cmd:false", "the command ended with exit code 1"),
  ])
  func rejectsPassphraseOnCommandLine(value: String, why: String) throws {
    let directory = try #require(TemporaryDirectory())
    let certificate = directory.write("cert.pem", [])
    let failure = #expect(throws: Failure.self) { try plan(["--cert", certificate, "--pass", value]) }
    #expect(failure?.message?.why == why)
  }
}
