import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The shortest command for a server, with the options of the check that a call needs too.
package struct SuggestedCommand {
  /// The words of the options that were given for the check.
  private let kept: [String]
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

  /// Reads the options of the check. Credentials are replaced by variables of the environment.
  package init(
    _ invocation: Invocation, _ target: Target, _ names: SecretNames = .standard,
    environment: (String) -> String? = EnvironmentVariables.value
  ) {
    self.target = target
    let configured = invocation.all(.protocolName).last { $0.origin.place != nil }?.string
    let variable = environment("RPCURL_PROTOCOL").flatMap { $0.isEmpty ? nil : $0 }
    defaultProtocol = configured ?? variable ?? ProtocolName.grpc.rawValue
    isTLS = target.isTLS
    impliesTLS = invocation.tls == .always
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
    // The form of the target says whether TLS is used, the check which protocol; the time limit is that of the check.
    case .plaintext, .protocolName, .maxTime: return false
    default: return [.server, .request, .configuration].contains(OptionTable[argument.id].group)
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
    if target.unixSocket != nil, impliesTLS, !isTLS { words.append("--plaintext") }
    words.append(server)
    if !hasReflection { words.append("grpc.health.v1.Health/Check") }
    return words.joined(separator: " ")
  }

  private var server: String {
    var target = target
    target.isTLS = isTLS
    guard target.unixSocket == nil, isTLS else { return target.argument }
    return ShellText(String(target.baseURL.dropFirst("https://".count))).quoted
  }
}
