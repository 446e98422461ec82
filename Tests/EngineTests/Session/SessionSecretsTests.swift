import RPCurlLanguage
import RPCurlProgram
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

  @Test(arguments: [("TOKEN", "[redacted]"), ("HOME", secret)])
  func addsThoseOfTheEnvironment(_ name: String, _ shown: String) {
    let secrets = SessionSecrets()
    #expect(secrets.noting { _ in Self.secret }(name) == Self.secret)
    #expect(secrets.apply(Self.secret) == shown)
  }
}
