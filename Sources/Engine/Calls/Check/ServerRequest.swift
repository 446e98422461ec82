import RPCurlCall
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// The server of a command that makes calls of its own: the target with its headers and connection options.
package struct ServerRequest {
  package let target: Target
  package let protocolName: ProtocolName
  package let maxTime: Duration?
  package let options: Invocation
  /// The arguments after the target.
  package let arguments: [String]
  private let headers: Headers
  private let sources: ArgumentSources
  /// Which headers are secret.
  package let secretNames: SecretNames

  /// Resolves the options, and the first positional argument, `TARGET`, or the configured target.
  package init(_ options: Invocation, _ console: Console) throws {
    self.options = options
    let (argument, others) = try ConfiguredTarget.server(of: options)
    arguments = others.map(\.text)
    do throws(Failure) {
      target = try Target.parse(server: argument.text, options.tls(console))
    } catch {
      throw error.at(argument.origin)
    }
    let environment = EnvironmentVariables.value
    let sources = ArgumentSources(environment: environment, secrets: console.secrets)
    self.sources = sources
    secretNames = try options.secretNames()
    protocolName = try CallSettings.protocolName(options, environment)
    let given = try options.headerArguments(sources, protocolName).parse(options.all(.header))
    try CredentialArguments.check(options, options.all(.header), given: given)
    (headers, maxTime) = try CredentialArguments.headers(
      options, protocolName,
      bearer: try options.last(.bearer).map { try CredentialArguments.token($0, sources) },
      given: given, limit: options.duration(.maxTime), sources)
  }

  /// The options and the server as arguments of another command.
  var words: String { SuggestedCommand(options, target, secretNames).arguments }

  /// The connection options for a protocol.
  package func connection(_ protocolName: ProtocolName) throws -> ConnectionOptions {
    try ConnectionPlan.options(options, target, protocolName, sources)
  }

  /// The request of a call.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - connection: The connection options for the protocol.
  ///   - timeout: The time limit of the call; nil for none.
  package func call(
    _ method: MethodDescriptor, _ protocolName: ProtocolName, _ connection: ConnectionOptions,
    timeout: Duration?
  ) -> CallRequest {
    var request = CallRequest(method: method, target: target.baseURL, userAgent: Version.userAgent)
    request.protocolName = protocolName
    request.connection = connection
    request.headers = headers
    request.secretNames = secretNames
    request.timeout = timeout
    return request
  }

  /// The headers of each request.
  package var allHeaders: Headers { headers }

  /// A failed call as the failure of the command.
  package func failure(_ error: RPCError, _ connection: ConnectionOptions) -> Failure {
    Failure(error, of: target, protocolName, connection)
  }
}

extension Failure {
  /// A failed call as the failure of a command.
  ///
  /// - Parameters:
  ///   - error: The error of the call.
  ///   - target: The server.
  ///   - protocolName: The protocol of the call.
  ///   - connection: The options of its connection.
  init(
    _ error: RPCError, of target: Target, _ protocolName: ProtocolName, _ connection: ConnectionOptions
  ) {
    let hint = CallPlan.hint(
      for: error, target: target, protocolName: protocolName, hasCertificate: connection.certificate != nil)
    let why =
      "\(error.code.name) (\(error.code.rawValue))\(error.message.isEmpty ? "" : ": \(error.message)")"
    switch error.origin {
    case .connection, .tls, .request: self.init(.call(error), target.name, error.message, hint: hint)
    case .proxy(let proxy): self.init(.call(error), "proxy \(proxy)", error.message, hint: hint)
    default: self.init(.call(error), target.name, why, hint: hint)
    }
  }
}
