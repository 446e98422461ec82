import Calls
import CommandLine
import Interceptors
import Protobuf
import RPCProtocols
import Session
import Transport

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

  /// The credentials that a call sends: those of its headers, also of files and of a prompt, and of its netrc file.
  static func values(of plan: CallPlan) -> [String] {
    let headers = plan.headers.fields.filter { Redaction.isSecret($0.name) }.map(\.value)
    let logins = headers.compactMap { value -> String? in
      guard value.begins(with: "Basic ") else { return nil }
      return Base64.decode(Array(value.utf8.dropFirst(6))).map { String(decoding: $0, as: UTF8.self) }
    }
    return (headers + logins).flatMap(parts) + (plan.connection.netrcFile.map(netrc) ?? [])
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
  static func named(in text: String) -> [String] {
    text.split(separator: "env:").dropFirst().compactMap { part in
      let name = part.prefixOfScalars {
        $0 == "_" || $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0)
      }
      return EnvironmentVariables.value(String(name))
    }
  }
}
