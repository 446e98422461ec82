import RPCurlChain
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The settings of calls, and the plans that follow from them.
extension Session {
  /// Changes the settings of calls. Invalid settings are rejected and change nothing.
  package func setState(_ change: (inout SessionState) throws -> Void) throws {
    var changed = state
    try change(&changed)
    let parsed = changed.invocation
    let settings = try settings(of: changed, parsed)
    secrets.use(settings.secretNames, in: changed)
    if changed.target != state.target || parsed.tls != options.tls {
      schema.forgetServer()
    }
    state = changed
    options = parsed
    console.error.configure(Diagnostics(parsed))
    clients.show(verbosity: options.verbosity, showsSecrets: options.has(.showSecrets))
    for stream in streams.open { stream.show(as: settings) }
  }

  /// Sets a header, if it is valid.
  package func set(header: Argument) throws {
    try change(headers: [header]) { $0.set(header) }
  }

  /// Adds headers, if they are valid.
  package func add(headers: [Argument]) throws {
    try change(headers: headers) { for header in headers { $0.append(header) } }
  }

  /// Changes the headers. Does not check the others again, and does not copy their list, so that the time to set many is linear.
  private func change(headers new: [Argument], _ change: (inout SessionHeaders) -> Void) throws {
    _ = try settings(options, headers: new, state.target ?? Self.noTarget)
    change(&state.headers)
  }

  func settings(of state: SessionState, _ options: Invocation) throws -> CallSettings {
    try settings(options, headers: state.headers.arguments, state.target ?? Self.noTarget)
  }

  /// Waits until the server accepts connections, with `--wait`.
  package func waitForServer() throws {
    let patience = ServerPatience(options, clients) { [self] (purpose, isDone) throws(Failure) in
      try wait(for: purpose) { isDone() || observer?.isTimeOver == true }
    }
    guard let patience, let text = state.target?.text else { return }
    try patience.waitForPort(of: text, headers: state.headers.arguments)
    let settings = try settings(of: state, options)
    try patience.wait(for: settings.target, settings.baseConnection, settings.protocolName)
  }

  /// How long to wait for data from a pipe: `--max-time`, but not longer than the commands may take; nil for no limit.
  package var waitLimit: Duration? {
    [options.duration(.maxTime), observer?.timeLeft].compactMap(\.self).min()
  }

  /// The target for checking settings while none is set. The settings choose whether it uses TLS.
  static let noTarget = Positional("localhost", .session)

  /// The settings of calls, by default of no method.
  func settings(
    _ options: Invocation, headers: [Argument], _ argument: Positional,
    _ name: MethodName = MethodName(service: "", method: ""), _ output: StandardOutput? = nil
  ) throws -> CallSettings {
    guard options.format != .binary else {
      throw Failure(
        .usage, "binary", "not available in a session, which prints text around messages",
        hint: "format text, or format json")
    }
    let target: Target
    do throws(Failure) {
      target = try Target.parse(server: argument.text, options.tls(console, headers: headers))
    } catch {
      throw error.at(argument.origin)
    }
    return try CallSettings(
      options, headers: headers, target, name,
      isTerminal: (output ?? console.output).isTerminal && isInteractive, sources)
  }

  /// What values of options are read from.
  var sources: ArgumentSources {
    var sources = ArgumentSources(environment: environment, secrets: console.secrets)
    sources.waitLimit = waitLimit
    return sources
  }

  /// Sets the variables of `--var`, which commands replace.
  package func set(_ variables: VariableArguments) throws(Failure) {
    secrets.add(variables)
    for (name, value) in variables.values { try set(variable: name, to: value) }
  }

  /// Sets a variable.
  func set(variable name: String, to value: JSONValue, isFromServer: Bool = false) throws(Failure) {
    try bindings.set(name, to: value, isFromServer: isFromServer)
    secrets.add(value, ofVariable: name)
  }

  /// Removes credentials from what is shown besides calls.
  var redaction: Redaction {
    let known = CallSecrets(secrets.names)
    known.add(Array(secrets.known.mask.secrets))
    return Redaction(known, showsSecrets: options.has(.showSecrets))
  }

  /// Replaces credentials in what the user has written.
  var written: WrittenSecrets {
    WrittenSecrets(
      showsSecrets: options.has(.showSecrets), secrets.names, separates: false, known: secrets.known)
  }

  /// Sets the variables of `--var` among options.
  package func setVariables(of invocation: Invocation) throws(Failure) {
    try set(VariableArguments(invocation.all(.variable), sources))
  }

  /// The settings for calls of a method.
  package func settings(
    for name: MethodName, _ output: StandardOutput? = nil, _ options: Invocation? = nil
  ) throws -> CallSettings {
    guard let target = state.target else { throw missingTarget(inScript: scriptDepth > 0) }
    return try settings(options ?? self.options, headers: state.headers.arguments, target, name, output)
  }

  /// The error for a call without a server.
  func missingTarget(inScript: Bool) -> Failure {
    Failure(
      .usage, "missing target", "the session has no server",
      hint: inScript ? "begin the file with a line: target URL; or set RPCURL_TARGET=URL" : "target URL")
  }

  /// The name of a method as typed: `Method` or `pkg.Service/Method`.
  static func methodName(_ text: String) throws(Failure) -> MethodName {
    guard
      let written = MethodName(text)
        ?? MethodName("Service/\(text)").map({ MethodName(service: "", method: $0.method) })
    else {
      throw Failure(.usage, text, "not a method name", hint: "use Method or pkg.Service/Method")
    }
    return written
  }

  /// The server as a source of the schema; nil if reflection is off.
  package func server() throws -> ReflectionSource? {
    guard options.asksServer else { return nil }
    var source = try settings(for: MethodName(service: "", method: "")).reflection(options, clients)
    // A timeout of 0 would be none.
    if let left = observer?.timeLeft { source.timeout = min(source.timeout, max(left, .milliseconds(1))) }
    return source
  }

  /// The options that a line may have for its call.
  static let optionsOfLines = [OptionID.filter, .filterMissing, .format, .limit, .raw].map { OptionTable[$0] }

  /// The options of a line.
  func callOptions(_ typed: [SessionWords.Word]) throws(Failure) -> [Argument] {
    try Self.callOptions(
      typed.map { (word) throws(Failure) in
        word.isLiteral ? word.text : try bindings.expand(argument: word.text)
      })
  }

  /// The options of a line whose values are inserted.
  static func callOptions(_ words: [String]) throws(Failure) -> [Argument] {
    guard !words.isEmpty else { return [] }
    // The options are those of `call`, which has a target and a method.
    let invocation = Parser.parse(words + ["http://localhost", "a.B/C"], as: .call)
    if let error = invocation.errors.first { throw Failure(error) }
    if let other = invocation.arguments.first(where: { argument in
      !optionsOfLines.contains { $0.id == argument.id }
    }) {
      throw Failure(
        .usage, other.name, "not an option of one call", hint: "options \(other.name) sets it for all calls")
    }
    do throws(ParseError) {
      return try invocation.arguments.map { (argument) throws(ParseError) in
        try Argument(argument.id, argument.text, name: argument.name)
      }
    } catch {
      throw Failure(error)
    }
  }

  /// The plan of a call of the method.
  ///
  /// - Parameters:
  ///   - text: The method as typed: `Method` or `pkg.Service/Method`.
  ///   - output: The destination of the responses.
  ///   - own: The options of the call.
  package func plan(_ text: String, _ output: StandardOutput, _ own: [Argument] = []) throws -> CallPlan {
    let hasFilter = own.contains { $0.id == .filter }
    let options =
      own.isEmpty
      ? options : Invocation(.session, options.arguments.filter { !hasFilter || $0.id != .filter } + own)
    let server = try server()
    let found = try schema.method(Self.methodName(text), options, server: server)
    let name = MethodName(service: found.1.service, method: found.1.name)
    return try CallPlan(
      options, settings(for: name, output, options), found, reflection: server, chain.source,
      sharesConnection: true, idles: true)
  }
}
