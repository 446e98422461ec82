import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

/// Which credentials a session knows after its options and commands.
@Suite struct SessionSecretsTests {
  private static let secret = "hunter2-secret"

  @Test(arguments: [
    "header authorization: Bearer \(secret)", "header x-mine: \(secret)", "attribute x-mine=\(secret)",
    "use auth,bearer=\(secret)", "use header,set=x-token:\(secret)", "options -u ada:\(secret)",
    "options -H 'x-mine: \(secret)'", "expect header x-token == \(secret)",
  ])
  func addsThoseOfCommands(_ command: String) throws {
    let secrets = SessionSecrets()
    secrets.use(
      SecretNames(adding: ["x-mine"]), in: try SessionState(Parser.parse([], as: .session), target: nil))
    secrets.add(of: command)
    #expect(secrets.apply("a \(Self.secret) b") == "a [redacted] b")
  }

  @Test(arguments: [
    ["-H", "authorization: Bearer \(secret)"], ["-u", "ada:\(secret)"], ["--use", "auth,bearer=\(secret)"],
    ["--attribute", "token=\(secret)"],
  ])
  func addsThoseOfOptions(_ words: [String]) throws {
    let secrets = SessionSecrets()
    secrets.add(of: try SessionState(Parser.parse(words, as: .session), target: nil))
    #expect(secrets.apply(Self.secret) == "[redacted]")
  }

  @Test func followsCallsUntilTheyEnd() {
    let (secrets, first, second) = (SessionSecrets(), CallSecrets(), CallSecrets())
    for call in [first, second] { secrets.follow(call) }
    let before = secrets.known
    first.add(["t0ken-first"])
    secrets.keep(first)
    second.add(["t0ken-second"])
    #expect(secrets.apply("t0ken-first t0ken-second") == "[redacted] [redacted]")
    secrets.known = before
    #expect(secrets.apply("t0ken-first t0ken-second") == "t0ken-first [redacted]")
  }

  /// A command has variables with the names of those that the secrets are from.
  @Test func writesVariablesInPlaceOfKnownSecrets() {
    let secrets = SessionSecrets()
    _ = secrets.noting { _ in "env-t0ken" }("MY_TOKEN")
    secrets.add(.string("a\"quoted\" t0ken"), ofVariable: "token")
    secrets.add(of: "header authorization: Bearer t0ken-literal")
    var written = WrittenSecrets(separates: false, known: secrets.known)
    let json = "{\"a\":\"env-t0ken\",\"b\":\"a\\\"quoted\\\" t0ken\",\"c\":\"$\"}"
    #expect(
      written.hiding(ShellText(json), isJSON: true).inDocument(isExpanded: true)
        == "{\"a\":\"${MY_TOKEN}\",\"b\":\"${TOKEN}\",\"c\":\"\\$\"}")
    #expect(written.hiding("x: Bearer env-t0ken").quoted == "\"x: Bearer ${MY_TOKEN}\"")
    #expect(written.hiding("x: t0ken-literal").quoted == "\"x: ${SECRET}\"")
    #expect(written.hiding(ShellText(Base64.encode(Array("t0ken-literal".utf8)))).quoted == "'[redacted]'")
    #expect(
      written.placeholders.map(\.meaning) == [
        "the value of the variable token, with the escapes of JSON", "the variable MY_TOKEN",
        "a secret of the session",
      ])
    var open = WrittenSecrets(showsSecrets: true, separates: false, known: secrets.known)
    #expect(open.hiding("env-t0ken") == "env-t0ken")
  }

  @Test(arguments: [("TOKEN", "[redacted]"), ("HOME", secret)])
  func addsThoseOfTheEnvironment(_ name: String, _ shown: String) {
    let secrets = SessionSecrets()
    #expect(secrets.noting { _ in Self.secret }(name) == Self.secret)
    #expect(secrets.apply(Self.secret) == shown)
  }
}
