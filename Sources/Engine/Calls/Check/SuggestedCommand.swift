import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The shortest command for a server, with the options of another command that it needs too.
package struct SuggestedCommand {
  /// The words of the options that were given.
  private let kept: [String]
  /// The protocol that was given.
  private let givenProtocol: String?
  /// The protocol of a command without `--protocol`: that of the configuration or the environment.
  private let defaultProtocol: String
  /// Whether the options imply TLS for a Unix socket.
  private let impliesTLS: Bool
  /// The server.
  private let target: Target
  /// Whether the server uses TLS.
  package var isTLS: Bool
  /// Whether the certificate of the server cannot be verified.
  package var isInsecure = false
  /// Whether the server uses HTTP/2 over TLS that negotiates nothing.
  package var needsPriorKnowledge = false

  /// Reads the options. Credentials are replaced by variables of the environment.
  package init(
    _ invocation: Invocation, _ target: Target, _ names: SecretNames = .standard,
    environment: (String) -> String? = EnvironmentVariables.value
  ) {
    self.target = target
    let protocols = invocation.all(.protocolName)
    givenProtocol = protocols.last { $0.origin.place == nil }?.string
    let configured = protocols.last { $0.origin.place != nil }?.string
    let variable = environment("RPCURL_PROTOCOL").flatMap { $0.isEmpty ? nil : $0 }
    defaultProtocol = configured ?? variable ?? ProtocolName.grpc.rawValue
    isTLS = target.isTLS
    impliesTLS = invocation.arguments.contains {
      OptionTable[$0.id].impliesTLS && $0.value != .flag(false)
    }
    let expandsHeaders = invocation.text(.expand) != nil
    var secrets = WrittenSecrets(names, separates: true)
    kept = invocation.arguments.filter(Self.isKept).flatMap {
      Self.words($0, expandsHeaders: expandsHeaders, &secrets)
    }
  }

  private static func isKept(_ argument: Argument) -> Bool {
    // The configuration file applies to the command too.
    guard argument.origin.place == nil, argument.value != .flag(false) else { return false }
    switch argument.id {
    // The form of the target says whether TLS is used, and the protocol is added; the time limit is that of the other command.
    case .plaintext, .protocolName, .maxTime: return false
    default:
      let option = OptionTable[argument.id]
      return option.commands.contains(CommandSet(.list))
        && [.server, .request, .configuration].contains(option.group)
    }
  }

  private static func words(
    _ argument: Argument, expandsHeaders: Bool, _ secrets: inout WrittenSecrets
  ) -> [String] {
    guard let value = argument.text else { return argument.words }
    // A value with variables is replaced by rpcurl.
    guard !(expandsHeaders && value.contains("${")),
      let word = secrets.value(value, of: argument.id, argument.name)
    else {
      return [argument.name, ShellText(value).quoted]
    }
    return [argument.name, ShellText(word).quoted]
  }

  /// The command.
  ///
  /// - Parameters:
  ///   - name: The protocol that the server supports.
  ///   - hasReflection: Whether the server offers its schema.
  package func text(_ name: ProtocolName, hasReflection: Bool) -> String {
    var words = ["rpcurl"]
    if hasReflection { words.append("list") }
    if name.rawValue != defaultProtocol { words.append("--protocol \(name.rawValue)") }
    // gRPC needs HTTP/2.
    words += kept.filter { name != .grpc || $0 != "--http1.1" && !(needsPriorKnowledge && $0 == "--http2") }
    if name == .grpc, needsPriorKnowledge { words.append("--http2-prior-knowledge") }
    if isInsecure { words.append("-k") }
    words += plaintext
    words.append(server)
    if !hasReflection { words.append("grpc.health.v1.Health/Check") }
    return words.joined(separator: " ")
  }

  /// The arguments of another command for the server, as `rpcurl list`.
  package var arguments: String {
    let words = (givenProtocol.map { ["--protocol \($0)"] } ?? []) + kept + plaintext
    return (words + [target.argument]).joined(separator: " ")
  }

  private var plaintext: [String] {
    target.unixSocket != nil && impliesTLS && !isTLS ? ["--plaintext"] : []
  }

  private var server: String {
    var target = target
    target.isTLS = isTLS
    guard target.unixSocket == nil, isTLS else { return target.argument }
    return ShellText(String(target.baseURL.dropFirst("https://".count))).quoted
  }
}
