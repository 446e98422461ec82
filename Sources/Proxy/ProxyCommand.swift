import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlEngine
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlServer
import RPCurlTransport

/// `rpcurl proxy` and `rpcurl serve`: listens, and makes of each call that arrives a call through the chain.
package struct ProxyCommand {
  /// How long open calls may run after Ctrl-C.
  private static let drainTime = Duration.seconds(5)

  private let options: Invocation

  package init(_ invocation: Invocation) {
    options = invocation
  }

  package func run(on console: Console) throws {
    let address = try address()
    let names = Self.names(of: address) + options.texts(.listenName)
    let identity = try identity(names)
    let (target, settings, clients) = try settings(console)
    let chain = try ChainSource(
      ChainArguments(options),
      ChainSetup(console, verbosity: settings.output.verbosity, waitLimit: settings.timeout)
    )
    defer { chain.unload() }
    let origins = CrossOrigin(
      hosts: Self.hosts(address, names), acceptsAddresses: Self.isAnyAddress(address),
      origins: try origins(settings, chain))
    let client = try clients.client()
    defer { chain.conclude(client, log: console.log(showingDebug: settings.output.verbosity > 1)) }
    let schema = try ProxySchema(
      options, target.map { _ in try settings.reflection(options, clients) }, client, console)
    let breaks = try breakPoints(schema, settings)
    let calls = ProxiedCalls(
      options, settings, chain, schema, client, console, origins,
      unanswered: target == nil ? unanswered.registration : nil)
    calls.breaks = breaks
    if let path = options.text(.saveSuite) {
      try checkSuite(path)
      calls.suite = SavedSuite()
    }
    let listener: Listener
    do throws(SystemError) {
      listener = try Listener(address, tls: identity, loop: client.loop) { calls.receive($0, $1) }
    } catch {
      throw Failure(.usage, "--listen", Self.reason(error), hint: error.hint)
    }
    if let target, listener.isReached(by: target.baseURL, settings.baseConnection) {
      throw Failure(.usage, target.name, "the proxy itself listens at this address")
    }
    announce(listener.address, isTLS: identity != nil, target, address, console)
    var isStopped = false
    var isStopping = false
    let stop = {
      guard !isStopping else { return }
      isStopping = true
      if let breaks {
        calls.omitFromSuite(breaks.held)
        breaks.close()
      }
      let stopped = RPCError(.unavailable, "rpcurl was stopped", origin: .client)
      calls.endWatches(stopped)
      client.loop.schedule(at: .now + Self.drainTime) { calls.end(stopped) }
      listener.stop(within: Self.drainTime + .seconds(1)) { isStopped = true }
      // A second signal ends the process while open calls have time to end. A problem is reported at the end.
      if let suite = calls.suite, !suite.isEmpty { try? save(suite, target, settings) }
    }
    if let breaks {
      try BreakScreen(breaks, client.loop, console, options).run { calls.setOutputBehind($0) }
    }
    // Ctrl-C is the usual end.
    let (_, status) = try CommandLoop(client.loop).run(
      flushing: console, progress: { calls.progress }, whenBehind: { calls.setOutputBehind($0) },
      start: { if breaks != nil { stop() } }, onInterrupt: stop,
      until: { isStopped && calls.runningCount == 0 && !client.hasLingeringCalls },
      conclude: { calls.hasFailedFinding ? .assertion : nil })
    if let suite = calls.suite {
      if suite.isEmpty {
        console.error.remark("rpcurl: warning: no call was recorded, and the suite was not written\n")
      } else {
        try save(suite, target, settings)
      }
    }
    if let status { throw Failure(reported: status) }
  }

  // MARK: Options

  /// What responds if there is no target, and no other interceptor does.
  private var unanswered: UnansweredCalls {
    UnansweredCalls(options.has(.defaultResponses) ? Self.messages(seed: options.seed) : nil)
  }

  private static func messages(seed: UInt64?) -> PlausibleMessages {
    PlausibleMessages(seed: seed) { SystemValues(waitLimit: nil).nanosecondsSince1970 }
  }

  /// The break points of `--break`; nil without `--interactive`.
  private func breakPoints(
    _ schema: ProxySchema, _ settings: CallSettings
  ) throws(Failure) -> BreakController? {
    let texts = options.texts(.breakPoint)
    guard options.has(.interactive) else {
      guard texts.isEmpty else { throw Failure(.usage, "--break", "requires --interactive") }
      return nil
    }
    guard options.format == nil else {
      throw Failure(
        .usage, "--interactive", "cannot be combined with --format",
        hint: "what the prompt prints would stand among the output; -v shows the calls")
    }
    let shown = ShownValues(
      encoding: settings.output.jsonEncoding,
      secretNames: settings.output.showsSecrets ? nil : settings.secretNames,
      redaction: settings.redaction)
    let breaks = BreakController(BreakPoints(shown, schema.allMethods))
    for text in texts {
      do throws(LanguageError) { try breaks.add(text) } catch {
        throw Failure(.usage, "--break \(text)", error)
      }
    }
    return breaks
  }

  private func address() throws(Failure) -> ListenAddress {
    let text = options.text(.listen) ?? "127.0.0.1:0"
    do throws(LanguageError) {
      return try ListenAddress(parsing: text)
    } catch {
      throw Failure(.usage, "--listen", error.reason, hint: error.hint)
    }
  }

  /// The names by which clients reach an address.
  private static func names(of address: ListenAddress) -> [String] {
    switch address {
    case .unix: ["localhost"]
    case .host(let host, _):
      Origin.isLocal(host: host) ? [host] + ["localhost", "127.0.0.1", "::1"].filter { $0 != host } : [host]
    }
  }

  /// The hosts that requests may name; nil if any. Clients of a socket name its path, or what they like.
  private static func hosts(_ address: ListenAddress, _ names: [String]) -> [String]? {
    if case .unix = address { nil } else { names }
  }

  /// Whether clients may name this machine by any of its IP addresses, which no name of a page can replace.
  private static func isAnyAddress(_ address: ListenAddress) -> Bool {
    if case .host(let host, _) = address { ["0.0.0.0", "::"].contains(host) } else { false }
  }

  /// The built-in interceptors that add nothing to requests.
  private static let harmless: Set = [
    "assert", "breaker", "cache", "deadline", "fault", "hedge", "limit", "log", "metrics", "mock", "record",
    "replay", "retry", "shadow", "trace", "validate",
  ]

  private static func addsNoCredentials(_ member: ChainSource.Member) -> Bool {
    member.plugin == nil && !member.entry.isScript
      && harmless.contains(String(member.entry.text.prefix { $0 != "," && $0 != ":" }))
  }

  private static func reason(_ error: SystemError) -> String {
    error.path.map { "\($0): \(error.reason)" } ?? error.reason
  }

  private func identity(_ names: [String]) throws(Failure) -> TLSIdentity? {
    let certificate = options.text(.listenCert)
    guard options.text(.listenKey) == nil || certificate?.hasPrefix("new:") == false else {
      throw Failure(.usage, "--listen-key", "requires --listen-cert FILE")
    }
    guard let certificate else { return nil }
    do throws(SystemError) {
      guard certificate.hasPrefix("new:") else {
        return try TLSIdentity(
          certificateFile: certificate, keyFile: options.text(.listenKey) ?? certificate)
      }
      let made = try MadeCertificate(names: names)
      try made.writeAuthority(to: String(certificate.dropFirst(4)))
      return made.identity
    } catch {
      throw Failure(
        .usage, "--listen-cert", Self.reason(error), hint: error.hint)
    }
  }

  private func origins(_ settings: CallSettings, _ chain: ChainSource) throws(Failure) -> [String] {
    let origins = options.texts(.allowOrigin)
    for origin in origins where CrossOrigin.normalized(origin) == nil {
      throw Failure(
        .usage, "--allow-origin \(origin)", "not the origin of a page",
        hint: "write SCHEME://HOST or SCHEME://HOST:PORT, such as http://localhost:5173")
    }
    guard origins.contains(CrossOrigin.anyOrigin) else { return origins }
    let hasCredentials =
      settings.headers.fields.contains { settings.secretNames.contains($0.name) }
      || chain.members.contains { !Self.addsNoCredentials($0) }
      || settings.baseConnection.certificate != nil || settings.baseConnection.netrcFile != nil
    guard !hasCredentials else {
      throw Failure(
        .usage, "--allow-origin *", "pages of all sites could use the credentials that are added to calls",
        hint: "name the origins, such as --allow-origin http://localhost:5173")
    }
    return origins
  }

  /// The settings of the calls that are made. Without a target, the chain must respond to all of them.
  private func settings(_ console: Console) throws -> (Target?, CallSettings, ClientSource) {
    let given = options.positionals.first ?? options.configuredTarget
    var target: Target?
    if options.command == .proxy {
      guard let given else {
        throw Failure(
          .usage, "missing argument", "TARGET", hint: "rpcurl proxy [OPTIONS] TARGET; rpcurl serve needs none"
        )
      }
      do throws(Failure) {
        target = try Target.parse(server: given.text, options.tls(console))
      } catch {
        throw error.at(given.origin)
      }
    }
    let settings = try CallSettings(
      options, headers: options.all(.header), target ?? Target.parse(server: "http://localhost", .never),
      MethodName(service: "", method: ""), isTerminal: console.output.isTerminal,
      ArgumentSources(environment: EnvironmentVariables.value, secrets: console.secrets))
    return (target, settings, ClientSource(console, options))
  }

  /// Checks at the start that a suite can be written at the end.
  private func checkSuite(_ path: String) throws(Failure) {
    do throws(SystemError) {
      guard let file = try ReplacementFile.make(replacing: path) else {
        throw SystemError("not a regular file, or its folder cannot be written")
      }
      file.discard()
    } catch {
      throw Failure(.usage, "--save-suite \(path)", error.reason, hint: error.hint)
    }
  }

  /// Writes the suite of `--save-suite`.
  private func save(_ suite: SavedSuite, _ target: Target?, _ settings: CallSettings) throws(Failure) {
    guard let path = options.text(.saveSuite) else { return }
    // Its own interceptors are not part of what the clients did.
    let arguments = options.arguments.filter {
      OptionTable[$0.id].group != .interceptors && OptionTable[$0.id].commands.contains(CommandSet(.session))
    }
    let place = target.map { Positional($0.name, .session) }
    let state = try SessionState(Invocation(.session, arguments), target: place)
    let secrets = WrittenSecrets(
      showsSecrets: options.has(.showSecrets), settings.secretNames, separates: true)
    if let problem = FileContents.replace(path, with: Array(suite.text(state, secrets).utf8)) {
      throw Failure(.internalError, path, problem)
    }
  }

  private func announce(
    _ place: String, isTLS: Bool, _ target: Target?, _ address: ListenAddress, _ console: Console
  ) {
    let url = place.hasPrefix("unix:") ? place : "\(isTLS ? "https" : "http")://\(place)"
    let way = target.map { " for \($0.name)" } ?? ""
    console.error.remark(TerminalText.escape("listening on \(url)\(way)") + "\n")
    if !address.isLocal {
      console.error.remark(
        "rpcurl: warning: other machines can connect, and make calls with what options add\n")
    }
  }
}
