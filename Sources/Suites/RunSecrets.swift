import Calls
import CommandLine
import Protobuf
import RPCProtocols

/// The credentials of a run, which reports must not contain.
enum RunSecrets {
  /// The credentials in the options of the command line, the configuration and its profile, and those that the options
  /// name by `env:NAME`.
  static func values(_ invocation: Invocation) -> [String] {
    var secrets = CommandSecrets(showsSecrets: false, separates: true)
    var found: [String] = []
    for argument in invocation.arguments where CommandSecrets.hasSecrets(argument.id) {
      guard let text = argument.text else { continue }
      found += named(in: text)
      let count = secrets.secrets.count
      guard secrets.value(text, of: argument.id, argument.name) != nil else { continue }
      for secret in secrets.secrets[count...] { found += parts(of: secret) }
    }
    return found
  }

  /// A credential, and what follows the scheme of a header or the name of a user.
  private static func parts(of secret: String) -> [String] {
    [secret]
      + [" ", ":"].compactMap { separator in
        secret.firstRange(of: separator).map { String(secret[$0.upperBound...]) }
      }
  }

  /// The environment variables that a text names by `env:NAME`.
  static func named(in text: String) -> [String] {
    text.split(separator: "env:").dropFirst().compactMap { part in
      let name = part.prefixOfScalars {
        $0 == "_" || $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0)
      }
      return EnvironmentVariables.value(String(name))
    }
  }
}
