import Calls
import CommandLine
import Language
import Protobuf
import RPCProtocols
import Session
import Transport

/// The credentials of a run, which reports must not contain.
final class RunSecrets {
  /// Which headers and variables are secret.
  let names: SecretNames
  /// Replaces the secrets that are known so far.
  var mask: SecretMask

  /// - Parameters:
  ///   - secrets: The secrets of variables.
  ///   - invocation: The options of the run.
  init(_ secrets: [String] = [], _ invocation: Invocation) {
    names = SecretNames(invocation)
    mask = SecretMask(secrets + Self.values(invocation))
  }

  /// Adds secrets that become known during the run.
  func add(_ values: [String]) { mask.add(values) }

  /// The text without secrets.
  func apply(_ text: String) -> String { mask.apply(text) }

  /// Adds the value of an environment variable if its name is that of a secret.
  func add(_ value: String, ofVariable name: String) {
    if names.contains(name) { add([value]) }
  }

  /// Adds the values of the environment variables that a command names by `env:NAME`.
  func add(namedIn command: String) { add(Self.named(in: command)) }

  /// Adds the credentials that a call sends: those of its headers, also of files and of a prompt, and of its netrc file.
  func add(of plan: CallPlan) {
    mask.add(SecretMask.secrets(of: plan.headers, names: names))
    if let file = plan.connection.netrcFile { mask.add(Self.netrc(file)) }
  }

  /// The credentials in the options of the command line, the configuration and its profile, and those that the options
  /// name by `env:NAME`.
  private static func values(_ invocation: Invocation) -> [String] {
    var secrets = WrittenSecrets(SecretNames(invocation), separates: true)
    var found: [String] = []
    for argument in invocation.arguments where WrittenSecrets.occur(in: argument.id) {
      guard let text = argument.text else { continue }
      found += named(in: text)
      let count = secrets.secrets.count
      guard secrets.value(text, of: argument.id, argument.name) != nil else { continue }
      for secret in secrets.secrets[count...] { found += parts(of: secret) }
    }
    return found
  }

  /// The passwords of a netrc file, and the values of HTTP Basic that libcurl makes of them.
  private static func netrc(_ file: String) -> [String] {
    NetrcFile(file).logins.flatMap { [$0.password, Base64.encode(Array("\($0.name):\($0.password)".utf8))] }
  }

  /// A credential, and what follows the scheme of a header or the name of a user.
  private static func parts(of secret: String) -> [String] {
    [secret]
      + [" ", ":"].compactMap { separator in
        secret.firstRange(of: separator).map { String(secret[$0.upperBound...]) }
      }
  }

  /// The environment variables that a text names by `env:NAME`.
  private static func named(in text: String) -> [String] {
    text.split(separator: "env:").dropFirst().compactMap { part in
      let name = part.prefixOfScalars {
        $0 == "_" || $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0)
      }
      return EnvironmentVariables.value(String(name))
    }
  }
}
