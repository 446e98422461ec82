import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that add credentials to requests for given servers.
struct AuthFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "auth", summary: "add a bearer token (given or fetched) or basic credentials, for given hosts",
    keys: [
      BuiltIns.Key(
        "bearer=TOKEN", "send this token; @FILE is read for each call, cmd:COMMAND when it expires",
        isSecret: true,
        isReadLater: true),
      BuiltIns.Key("token-url=URL", "fetch the token from an OAuth 2.0 server (client credentials)"),
      BuiltIns.Key("client-id=ID", "client ID for token-url"),
      BuiltIns.Key("client-secret=SECRET", "client secret for token-url", isSecret: true),
      BuiltIns.Key("client-auth=basic|body", "send both as basic credentials (default) or in the body"),
      BuiltIns.Key("scope=SCOPES", "scopes to request from token-url"),
      BuiltIns.Key("audience=AUDIENCE", "audience to request from token-url"),
      BuiltIns.Key("basic=USER:PASSWORD", "send user name and password", isSecret: true),
      BuiltIns.Key("header=NAME", "header to send it in", default: "authorization"),
      BuiltIns.Key("scheme=WORD", "scheme before the token (Bearer; none with header=)"),
      BuiltIns.Key(
        "hosts=HOST+HOST", "servers to send it to: HOST, HOST:PORT, *.DOMAIN (the first call's server)"),
      BuiltIns.Key("allow-plaintext=true", "also send it without TLS"),
      BuiltIns.Key(
        "timeout=DURATION", "timeout of a command or token-url", default: "30s",
        for: ["token-url"]),
    ],
    replaced: [
      "bearer-file": { _ in "write bearer=@FILE" },
      "command": { _ in "write bearer=cmd:COMMAND; no shell runs it: cmd:sh -c '...' does" },
    ],
    make: { settings, services throws(ConfigurationError) in try AuthFactory(settings, services) })

  /// The state that the calls of a registration share.
  struct Plan: Sendable {
    /// The source of the header's value.
    enum Source: Sendable {
      /// A fixed value.
      case value(Secret)
      /// A file with the token.
      case file(String)
      /// A store that fetches the token.
      case store(TokenStore)
    }

    let source: Source
    let headerName: String
    /// The text before the token.
    let prefix: String
    let scope: AuthScope
    let allowsPlaintext: Bool
    let services: any InterceptorServices
  }

  private static let sources = ["bearer", "token-url", "basic"]
  private static let clientKeys = ["client-id", "client-secret", "client-auth", "scope", "audience"]

  private let plan: Plan

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    let headerName = settings.text("header") ?? "authorization"
    guard HeaderSyntax.isName(headerName), !HeaderSyntax.reserved.contains(headerName.lowercased()) else {
      throw settings.error("header", "is not the name of a header that can be set")
    }
    let scope = AuthScope(try settings.hosts("hosts") ?? Selection())
    let scheme = settings.text("scheme") ?? (headerName.lowercased() == "authorization" ? "Bearer" : "")
    guard scheme.isEmpty || HeaderSyntax.isName(scheme) else {
      throw settings.error("scheme", "is not one word")
    }
    let allowsPlaintext = try settings.flag("allow-plaintext") ?? false
    let prefix = scheme.isEmpty ? "" : "\(scheme) "
    plan = Plan(
      source: try Self.source(settings, services, prefix: prefix, allowsPlaintext: allowsPlaintext),
      headerName: headerName, prefix: prefix, scope: scope, allowsPlaintext: allowsPlaintext,
      services: services)
  }

  var declaration: InterceptorDeclaration {
    var declaration = InterceptorDeclaration(
      stages: .requestStart, effects: [.changesHeaders, .authenticates])
    if case .store = plan.source {
      declaration.stages = [.requestStart, .responseStart, .responseMessage, .responseEnd]
      declaration.messages = MessageAccesses(.none)
      declaration.effects.insert(.repeatsAttempts)
    }
    return declaration
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    plan.scope.note(target: call.target)
    return Auth(plan, call, context)
  }

  // MARK: - Sources of credentials

  private static func source(
    _ settings: SettingsReader, _ services: any InterceptorServices, prefix: String, allowsPlaintext: Bool
  ) throws(ConfigurationError) -> Plan.Source {
    let given = sources.filter { settings.text($0) != nil }
    guard let key = given.first, let value = settings.text(key) else {
      throw ConfigurationError(
        interceptor: settings.interceptor,
        reason: "no credentials given", hint: "give one of \(sources.joined(separator: ", "))")
    }
    if given.count > 1 { throw settings.error(given[1], "cannot be combined with \(key)") }
    for other in clientKeys where key != "token-url" && settings.text(other) != nil {
      throw settings.error(other, "requires token-url")
    }
    if key == "basic", settings.text("scheme") != nil {
      throw settings.error("scheme", "must be Basic, with basic")
    }
    guard !value.isEmpty else { throw settings.error(key, "is empty") }
    let timeout = try settings.positiveDuration("timeout") ?? .seconds(30)
    switch key {
    case "bearer": return try bearer(settings, services, prefix: prefix, timeout)
    case "token-url":
      let client = try client(settings, url: value, allowsPlaintext: allowsPlaintext, timeout)
      return .store(clientStore(client, services))
    default:
      guard value.contains(":") else { throw settings.error(key, "must be USER:PASSWORD") }
      return .value(Secret("Basic \(Base64.encode(Array(value.utf8)))"))
    }
  }

  private static func bearer(
    _ settings: SettingsReader, _ services: any InterceptorServices, prefix: String, _ timeout: Duration
  ) throws(ConfigurationError) -> Plan.Source {
    let text: String
    switch try settings.wholeValue("bearer") {
    case .file(let path): return .file(path)
    case .command(let words): return .store(commandStore(words, services, timeout))
    case .environment(let name):
      guard let value = services.environment(name) else {
        throw settings.error("bearer", "the environment variable \(name) is not set")
      }
      text = value
    case .literal(let value): text = value
    case nil: text = ""
    }
    do throws(SystemError) {
      return .value(Secret(prefix + (try AccessToken(text, expiry: nil, now: 0)).value.revealed))
    } catch {
      throw settings.error("bearer", error.reason)
    }
  }

  private static func client(
    _ settings: SettingsReader, url: String, allowsPlaintext: Bool, _ timeout: Duration
  ) throws(ConfigurationError) -> ClientCredentials {
    guard let origin = Origin(url: url) else {
      throw settings.error("token-url", "is not an http(s) URL without user information")
    }
    guard !origin.isExposed || allowsPlaintext else {
      throw settings.error(
        "token-url", "would send the client secret without TLS", hint: "allow-plaintext=true allows that"
      )
    }
    guard let id = settings.text("client-id"), let secret = settings.text("client-secret") else {
      let missing = settings.text("client-id") == nil ? "client-id" : "client-secret"
      throw settings.error(missing, "is required with token-url")
    }
    return ClientCredentials(
      url: url, clientID: id, clientSecret: Secret(secret), scope: settings.text("scope"),
      audience: settings.text("audience"),
      authentication: try settings.choice("client-auth", ClientCredentials.ClientAuthentication.self)
        ?? .basic,
      allowsPlaintext: allowsPlaintext, timeout: timeout)
  }

  private static func commandStore(
    _ command: [String], _ services: any InterceptorServices, _ timeout: Duration
  ) -> TokenStore {
    TokenStore(now: { services.nanosecondsSince1970 }) { _, completion in
      services.run(command, timeout: timeout) { result in
        completion(
          Result { () throws(SystemError) in
            try AccessToken(output: result.get(), now: services.nanosecondsSince1970)
          })
      }
    }
  }

  private static func clientStore(
    _ client: ClientCredentials, _ services: any InterceptorServices
  ) -> TokenStore {
    TokenStore(now: { services.nanosecondsSince1970 }) { context, completion in
      context.fetch(client.request) { result in
        completion(
          Result { () throws(SystemError) in
            try client.token(from: result, now: services.nanosecondsSince1970)
          })
      }
      return nil
    }
  }
}
