import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// The credentials of a session, which transcripts and reports must not contain.
package final class SessionSecrets {
  /// Which headers, attributes and variables are secret.
  package private(set) var names = SecretNames.standard
  /// The secrets that were added so far.
  private var added = KnownSecrets()
  /// The credentials of the calls that run. Their interceptors may add some.
  private var running: [CallSecrets] = []

  /// Has no secret yet.
  package init() {}

  /// The secrets that are known so far.
  package var known: KnownSecrets {
    get {
      for call in running { added.add(call.mask) }
      return added
    }
    set { added = newValue }
  }

  /// The text without secrets.
  package func apply(_ text: String) -> String { known.mask.apply(text) }

  /// Follows the credentials of a call until it ends.
  func follow(_ call: CallSecrets) { running.append(call) }

  /// Keeps the credentials of a call that has ended.
  func keep(_ call: CallSecrets) {
    added.add(call.mask)
    running.removeAll { $0 === call }
  }

  /// Adds secrets that become known during the session.
  private func add(_ values: [String]) { added.add(values) }

  /// Adds the values of variables that are read from elsewhere.
  func add(_ variables: VariableArguments) {
    for (name, value) in variables.secrets { added.add([value], ofVariable: name) }
  }

  /// Adds the value of a variable, with the texts in it, if its name is that of a secret.
  func add(_ value: JSONValue, ofVariable name: String) {
    if names.contains(name) { added.add(Self.texts(in: value), ofVariable: name) }
  }

  private static func texts(in value: JSONValue) -> [String] {
    switch value {
    case .object(let members): members.flatMap { texts(in: $0.value) }
    case .array(let elements): elements.flatMap(texts)
    default: [value.plainText]
    }
  }

  /// A function that returns environment variables, and adds those whose names are those of secrets.
  func noting(_ environment: @escaping (String) -> String?) -> (String) -> String? {
    { [self] name in
      let value = environment(name)
      if let value, names.contains(name) {
        added.add([value], of: WrittenSecrets.Placeholder(name: name, meaning: "the variable \(name)"))
      }
      return value
    }
  }

  /// Adds the credentials of a command, and those of the environment that it names by `env:NAME`.
  func add(of command: String) {
    add(namedIn: command) { _ = $0.line(command) }
  }

  /// Changes which names are secret.
  ///
  /// - Parameter state: The settings, some of which may be secret now.
  func use(_ names: SecretNames, in state: SessionState) {
    guard names != self.names else { return }
    self.names = names
    add(of: state)
  }

  /// Adds the credentials in the options of a session, and those of the environment that these name by `env:NAME`.
  func add(of state: SessionState) {
    for argument in state.arguments where WrittenSecrets.occur(in: argument.id) {
      let text = argument.text ?? ""
      add(namedIn: text) { _ = $0.value(text, of: argument.id, argument.name) }
    }
    for entry in state.chain { add(namedIn: entry.text) { _ = $0.spec(entry.text) } }
  }

  /// Adds the credentials that a call sends: those of its headers, also of files and of a prompt, and those that libcurl adds.
  func add(of plan: CallPlan) {
    added.add(plan.settings.secrets.mask)
    add(plan.connection.passwords)
  }

  private func add(namedIn text: String, _ read: (inout WrittenSecrets) -> Void) {
    var written = WrittenSecrets(names, separates: true)
    read(&written)
    add(written.secrets.flatMap(Self.parts) + Self.named(in: text))
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
