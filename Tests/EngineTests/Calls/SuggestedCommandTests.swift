import RPCurlProgram
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

struct SuggestedCommandTests {
  private func command(_ words: [String], protocolName: String? = nil) throws -> SuggestedCommand {
    let invocation = Parser.parse(["check"] + words)
    try invocation.check()
    let server = try #require(invocation.positionals.first)
    return SuggestedCommand(
      invocation, try Target.parse(server: server.text, invocation.tls),
      environment: { $0 == "RPCURL_PROTOCOL" ? protocolName : nil })
  }

  @Test(
    arguments: [
      (nil, .grpc, ""), ("", .grpc, ""), ("connect", .grpc, "--protocol grpc "),
      ("connect", .connect, "--http1.1 "),
      (nil, .connect, "--protocol connect --http1.1 "),
      ("grpc-web", .connect, "--protocol connect --http1.1 "),
    ] as [(String?, ProtocolName, String)])
  func namesProtocolThatIsNotTheDefault(variable: String?, name: ProtocolName, options: String) throws {
    let command = try command(["--protocol", "connect", "--http1.1", "a.test"], protocolName: variable)
    #expect(command.text(name, hasReflection: true) == "rpcurl list \(options)a.test")
  }

  @Test(arguments: [
    (["a.test:1"], "a.test:1"), (["--plaintext", "a.test:1"], "http://a.test:1"),
    (
      [
        "--cacert", "my ca.pem", "--cert", "c.pem", "--key", "k.pem", "--pass", "env:P", "--tlsv1.3",
        "a.test:1",
      ],
      "--cacert 'my ca.pem' --cert c.pem --key k.pem --pass env:P --tlsv1.3 a.test:1"
    ),
    (
      ["-x", "http://proxy:1", "--authority", "b", "-6", "--connect-timeout", "1m", "http://a.test"],
      "-x http://proxy:1 --authority b -6 --connect-timeout 1m http://a.test"
    ),
    (["--max-time", "1", "--format", "json", "a.test"], "a.test"),
    (
      ["-H", "x-tenant: it's me", "-H", "@headers", "a.test"],
      #"-H 'x-tenant: it'\''s me' -H @headers a.test"#
    ),
    (["--bearer", "@token", "--netrc", "a.test"], "--bearer @token --netrc a.test"),
    (["--bearer", "env:TOKEN", "a.test"], "--bearer env:TOKEN a.test"),
    (["unix:/a b"], "'unix:/a b'"), (["-k", "unix:/a"], "-k --unix-socket /a https://localhost"),
  ])
  func keepsOptionsOfTheConnection(words: [String], text: String) throws {
    #expect(try command(words).text(.grpc, hasReflection: true) == "rpcurl list \(text)")
  }

  @Test(arguments: [
    (["--bearer", "s3cret"], #"--bearer "${RPCURL_BEARER}""#),
    (["--user", "ada:s3cret"], #"--user "${RPCURL_USER}""#),
    (["--proxy", "http://ada:s3cret@proxy"], #"--proxy "${RPCURL_PROXY}""#),
    (["--proxy-user", "ada:s3cret"], #"--proxy-user "${RPCURL_PROXY_USER}""#),
    (["-H", "Authorization: Bearer s3cret"], #"-H "Authorization: ${AUTHORIZATION}""#),
    (["--header", "x-api-key:s3cret"], #"--header "x-api-key: ${X_API_KEY}""#),
    (["--expand", "-H", "x-api-key: ${env.KEY}"], "--expand -H 'x-api-key: ${env.KEY}'"),
    (["--expand=all"], "--expand=all"),
  ])
  func replacesCredentials(words: [String], text: String) throws {
    #expect(try command(words + ["a.test"]).text(.grpc, hasReflection: true) == "rpcurl list \(text) a.test")
  }

  @Test(arguments: [
    (["http://a.test"], "http://a.test"), (["--plaintext", "a.test:1"], "http://a.test:1"),
    (["--cacert", "ca.pem", "a.test:1"], "--cacert ca.pem https://a.test:1"),
    (["--protocol", "connect", "-m", "1", "http://a.test"], "--protocol connect http://a.test"),
    (["--unix-socket", "/a", "http://localhost"], "--unix-socket /a http://localhost"),
    (["--bearer", "s3cret", "http://a.test"], #"--bearer "${RPCURL_BEARER}" http://a.test"#),
    (["--cacert", "ca.pem", "--plaintext", "unix:/a"], "--cacert ca.pem --plaintext unix:/a"),
  ])
  func argumentsReachTheServerAsGiven(words: [String], text: String) throws {
    #expect(try command(words).arguments == text)
  }

  @Test func addsWhatTheServerRequires() throws {
    var command = try command(["--cacert", "ca.pem", "a.test:1"])
    command.isInsecure = true
    #expect(
      command.text(.connect, hasReflection: false)
        == "rpcurl --protocol connect --cacert ca.pem -k a.test:1 grpc.health.v1.Health/Check")
    command.isTLS = false
    #expect(command.text(.grpc, hasReflection: true) == "rpcurl list --cacert ca.pem -k http://a.test:1")
  }

  @Test func refusesTLSForASocketAlsoWithOptionsForTLS() throws {
    var command = try command(["--cacert", "ca.pem", "unix:/a"])
    command.isTLS = false
    #expect(command.text(.grpc, hasReflection: true) == "rpcurl list --cacert ca.pem --plaintext unix:/a")
  }
}
