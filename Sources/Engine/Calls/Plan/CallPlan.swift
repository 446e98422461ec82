import RPCurlCall
import RPCurlChain
import RPCurlInterceptors
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// Everything that a call needs, resolved from the options. The command only executes it.
package final class CallPlan {
  /// The settings that do not depend on the schema.
  package let settings: CallSettings
  package let method: MethodDescriptor
  /// The full name of the method. The name in the settings may lack the package or the service.
  package let name: MethodName
  package let pool: DescriptorPool
  package let connection: ConnectionOptions
  package let chain: ChainSource
  /// The messages of `-d`. A session sends its own.
  package internal(set) var sources: [RequestSource] = []
  package let batch: BatchPlan?
  /// Whether the output may have several messages.
  package let isSequence: Bool
  /// The field to print of each response; nil to print whole responses.
  package let filter: FieldFilter?
  /// The server as a source of types that the schema lacks; nil if reflection is off.
  package let reflection: ReflectionSource?

  /// Resolves what depends on the method, except the messages.
  ///
  /// - Parameters:
  ///   - options: The options of the call.
  ///   - settings: The settings that do not depend on the schema.
  ///   - found: The method and its pool.
  ///   - reflection: The server as a source of types that the schema lacks.
  ///   - chain: The interceptors.
  ///   - batch: The plan of the batch; nil for a single call.
  ///   - httpVersion: The HTTP version; nil for that of the options.
  ///   - sharesConnection: Whether other calls may use the same connection at the same time.
  ///   - idles: Whether no other call may follow for a long time.
  package init(
    _ options: Invocation, _ settings: CallSettings,
    _ found: (pool: DescriptorPool, method: MethodDescriptor), reflection: ReflectionSource?,
    _ chain: ChainSource, batch: BatchPlan? = nil, httpVersion: ConnectionOptions.HTTPVersion? = nil,
    sharesConnection: Bool, idles: Bool = false
  ) throws {
    (pool, method) = found
    name = MethodName(service: method.service, method: method.name)
    (self.reflection, self.chain) = (reflection, chain)
    var connection = settings.baseConnection
    connection.httpVersion =
      try httpVersion
      ?? ConnectionPlan.httpVersion(options, settings.target, settings.protocolName, method.kind)
    connection.sharesConnection = sharesConnection
    // Further connections for each failed call of a batch would be a load on the server.
    if batch != nil { connection.diagnosisTime = .zero }
    connection.closesWhenGivenUp = idles
    (self.connection, self.batch, self.settings) = (connection, batch, settings)
    let isRepeated = options.command == .call && options.last(of: [.repeats, .every]) != nil
    isSequence = method.serverStreaming || batch != nil || isRepeated
    filter = try Self.filter(settings.filter, found, reflection)
    if settings.wire.usesGET { try Self.checkGET(settings.protocolName, method) }
  }

  /// The request to the client.
  package var request: CallRequest {
    var request = CallRequest(method: method, target: settings.target.baseURL, userAgent: Version.userAgent)
    request.headers = settings.headers
    request.attributes = settings.attributes
    request.secretNames = settings.secretNames
    request.secrets = settings.variableSecrets
    request.timeout = settings.timeout
    request.protocolName = settings.protocolName
    request.wire = settings.wire
    request.reportsSizes = settings.output.verbosity > 1
    request.reportsMessages = settings.output.verbosity > 0
    request.connection = connection
    return request
  }
}

/// The resolved arguments of a call.
package final class ResolvedCall {
  package let settings: CallSettings
  /// The interceptors, with their loaded plugins.
  package let chain: ChainSource
  /// The plan; nil if only the server has the schema and it was not asked.
  package let plan: CallPlan?
  /// The source of the schema; nil if `plan` is nil.
  package let origin: SchemaSource.Found.Origin?

  init(
    settings: CallSettings, chain: ChainSource, plan: CallPlan? = nil,
    origin: SchemaSource.Found.Origin? = nil
  ) {
    (self.settings, self.chain, self.plan, self.origin) = (settings, chain, plan, origin)
  }
}

extension CallPlan {
  /// The request of a call through the chain. Extensions that settings of interceptors name are looked up.
  ///
  /// - Parameters:
  ///   - log: Receives the interceptors' log records; called on any thread.
  ///   - onFinding: Receives the interceptors' findings; called on any thread.
  ///   - lookup: Finds names that interceptors' responses may use and that the schema lacks; nil if none can be found.
  /// - Throws: `Failure` if a signal arrived.
  package func request(
    log: @escaping LogSink, onFinding: @escaping FindingSink, _ lookup: NameLookup?
  ) throws(Failure) -> CallRequest {
    var request = request
    request.interceptors = chain.registrations
    for member in chain.members { member.reportUnknownMethods(of: method.service, pool, log) }
    try lookup?.resolve(chain.members.flatMap { UnresolvedName.all(inBracketsOf: $0.entry.text) })
    // Without interceptors, what prints a response looks its names up.
    if !request.interceptors.isEmpty, let lookup, lookup.isNeeded(for: method.output) {
      request.interceptors.append(lookup.registration)
    }
    request.log = log
    request.onFinding = onFinding
    return request
  }

  /// Resolves the arguments of a call. Does not send the call.
  ///
  /// - Parameters:
  ///   - command: The arguments.
  ///   - clients: Creates the client that asks for the schema.
  ///   - environment: Returns the value of an environment variable.
  ///   - isDry: Whether to send no requests for the schema either.
  ///   - readsData: Whether to read the data.
  ///   - schema: The method and its pool, if they are found already.
  /// - Throws: `Failure` if an argument is invalid or the method is not found.
  package static func resolve(
    _ command: Invocation, clients: ClientSource, environment: @escaping (String) -> String?, isDry: Bool,
    readsData: Bool, schema: SchemaSource.Found? = nil
  ) throws -> ResolvedCall {
    let console = clients.console
    // Other programs make the calls of scripts.
    let makesCalls = !isDry && command.program == nil && command.text(.exportScript) == nil
    let patience = makesCalls ? ServerPatience(command, clients) : nil
    try patience?.waitForPort(of: CallTarget.server(of: command)?.text ?? "")
    var settings = try CallSettings(
      command, isDry ? command.tls : command.tls(console), isTerminal: console.output.isTerminal,
      ArgumentSources(environment: environment, secrets: console.secrets))
    var reflection = try settings.reflection(command, clients)
    reflection.isOffline = isDry
    let asksServer = command.asksServer
    try patience?.wait(for: settings.target, reflection.connection, settings.protocolName)
    // Errors of the interceptors are reported before the server is asked.
    let time = CommandTime()
    let chain = try ChainSource(
      ChainArguments(command),
      ChainSetup(
        console, verbosity: settings.output.verbosity, waitLimit: settings.timeout, isDry: isDry, time: time))
    settings.timeout = time.remaining(of: settings.timeout)
    // Before the server is asked for the schema: the call uses the same connection.
    if chain.readsCertificates { clients.reportsCertificates = true }
    do {
      let found: SchemaSource.Found
      do throws(Failure) {
        found =
          if let schema {
            schema
          } else {
            try SchemaSource.find(
              settings.name, schema: command, reflection: asksServer ? reflection : nil, console.error,
              waitLimit: settings.timeout)
          }
      } catch {
        guard isDry, error.cause == .notAsked else {
          let error = error.listing(command.listing(settings.target))
          throw asksServer ? error.addingHint(of: chain) : error.addingReflection(command)
        }
        return ResolvedCall(settings: settings, chain: chain)
      }
      let batch = try batch(command, found.method, settings)
      settings.noteData(console)
      let plan = try CallPlan(
        command, settings, (found.pool, found.method), reflection: asksServer ? reflection : nil, chain,
        batch: batch, sharesConnection: batch != nil)
      settings.noteHeaders()
      if readsData { try plan.checkInput(command, console.error) }
      if readsData, plan.readsTypedMessage(command.data), console.error.isTerminal {
        console.error.remark("* type a message for \(plan.method.name); Ctrl-D ends it\n")
      }
      try plan.addSources(
        command, readsData: readsData,
        isForMany: batch != nil || command.command == .load && !command.data.isEmpty)
      return ResolvedCall(settings: settings, chain: chain, plan: plan, origin: found.origin)
    } catch {
      chain.unload()
      throw error
    }
  }

  private static func batch(
    _ command: Invocation, _ method: MethodDescriptor, _ settings: CallSettings
  ) throws(Failure) -> BatchPlan? {
    let batch = try BatchPlan(command, method)
    guard batch == nil || settings.limit == nil || method.serverStreaming else {
      throw Failure(.usage, "--limit", "cannot be combined with --each")
    }
    return batch
  }

  /// Whether the only message is typed on the terminal.
  private func readsTypedMessage(_ data: [String]) -> Bool {
    data.contains("@-") && !method.clientStreaming && batch == nil && isatty(0) == 1
  }

  /// Reads the data, and the files of fields.
  ///
  /// - Parameter isForMany: Whether the data has the messages of many calls.
  private func addSources(
    _ options: Invocation, readsData: Bool, isForMany: Bool
  ) throws(Failure) {
    var form = settings.requestForm
    form.expansion?.pool = pool
    let rows = try rows(options, readsData: readsData)
    if let rows, rows.isEmpty {
      form.expansion = nil
    } else {
      form.expansion?.row = rows?.first.map(DataRow.init)
    }
    if options.hasTemplates(in: [.data]), form.format != .json {
      throw Failure(
        .usage, "--expand", "cannot replace values in data of --data-format \(form.format.rawValue)",
        hint: "write the data in JSON")
    }
    let plain = form
    let chunks = try ChunkedFile(options, method, isBatch: batch != nil)
    let edits = options.edits.filter { chunks == nil || $0.id == .set }
    try NameLookup.resolving(pool, reflection) { () throws(Failure) in
      for edit in edits { try FieldEdit.Place(edit).check(method.input) }
    }
    let data = options.data.filter { readsData || !$0.hasPrefix("@") }
    guard readsData else {
      if !data.isEmpty {
        sources = try messages(data, of: options, isBatch: isForMany, form)
      }
      return
    }
    form.edits = try FieldEdit.read(edits, form.expansion, waitLimit: settings.timeout)
    guard var chunks else {
      sources = try messages(
        data, of: options, isBatch: isForMany && (rows == nil || !data.isEmpty), form,
        waitLimit: readsTypedMessage(data) ? nil : settings.timeout)
      if let rows { try multiply(by: rows) }
      return
    }
    chunks.marksLast = form.edits.contains { $0.calls(.last) }
    form.chunks = chunks
    let (before, after) = options.dataAroundFile
    // The messages before and after a file do not get the fields of `--set`.
    let around = try [before, after].map { (data) throws(Failure) -> [RequestSource] in
      try data.isEmpty ? [] : messages(data, of: options, isBatch: false, plain)
    }
    sources = around[0] + [.stream(path: chunks.file, form: form)] + around[1]
  }

  /// The rows of `--rows`; nil without, and none if they are not read.
  private func rows(_ options: Invocation, readsData: Bool) throws(Failure) -> [JSONValue]? {
    guard let argument = options.last(.rows), let path = argument.text else { return nil }
    guard !method.clientStreaming, options.bytes(.chunk) == nil else {
      throw Failure(
        .usage, argument.name, "a row makes a call with one message, but \(method.name) has a request stream",
        hint: DataRows.hintForStreams)
    }
    guard readsData || path != "-" else { return [] }
    return try DataRows.read(path, named: path == "-" ? "standard input" : path, waitLimit: settings.timeout)
  }

  /// Replaces the messages by those of each row.
  private func multiply(by rows: [JSONValue]) throws(Failure) {
    var messages: [RequestMessage] = []
    for source in sources { messages += try source.messages(waitLimit: settings.timeout) }
    sources = [.messages(rows.map(DataRow.init).flatMap { row in messages.map { $0.with(row) } })]
  }

  /// The messages of `-d`. The error of a file has the place of the option that names it.
  private func messages(
    _ data: [String], of options: Invocation, isBatch: Bool, _ form: RequestForm, waitLimit: Duration? = nil
  ) throws(Failure) -> [RequestSource] {
    do throws(Failure) {
      return try RequestData.sources(data, for: method, isBatch: isBatch, form: form, waitLimit: waitLimit)
    } catch {
      let file = options.all(.data).first { $0.string == "@\(error.message?.what ?? "")" }
      throw error.at(file?.origin)
    }
  }

  /// The filter of `--filter`; nil without settings. Extensions that the schema lacks are looked up.
  @inline(never)
  private static func filter(
    _ settings: FieldFilter.Settings?, _ found: (pool: DescriptorPool, method: MethodDescriptor),
    _ reflection: ReflectionSource?
  ) throws(Failure) -> FieldFilter? {
    try NameLookup.resolving(found.pool, reflection) { () throws(Failure) in
      try FieldFilter(settings, of: found.method.output)
    }
  }

  /// Throws unless the method can be called with GET.
  package static func checkGET(_ protocolName: ProtocolName, _ method: MethodDescriptor) throws(Failure) {
    guard protocolName == .connect else {
      throw Failure(
        .usage, "--connect-get", "\(protocolName.rawValue) has no GET requests",
        hint: "add --protocol connect")
    }
    guard method.kind == .unary, method.hasNoSideEffects else {
      throw Failure(
        .usage, "--connect-get",
        method.kind == .unary
          ? "\(method.name) is not marked as free of side effects"
          : "\(method.name) is a stream, and only unary methods can be called by GET",
        hint: method.kind == .unary
          ? "the schema marks it with: option idempotency_level = NO_SIDE_EFFECTS;" : nil)
    }
  }
}

extension Failure {
  /// The failure for a method that the given files lack, with the option that asks the server too.
  fileprivate func addingReflection(_ command: Invocation) -> Failure {
    // Not for a file that cannot be read or compiled.
    guard cause == .unknownName, command.hasSchema, command.flag(.reflect) == nil else {
      return self
    }
    return changed { $0.append(hint: "--reflect also asks the server") }
  }

  /// The failure of the request for the schema, with what an interceptor does not do for that request.
  fileprivate func addingHint(of chain: ChainSource) -> Failure {
    guard ![.schema, .usage, .input].contains(status) else { return self }
    let names = chain.members.filter { $0.plugin == nil }.map(\.registration.name)
    if let name = names.first(where: { ["replay", "mock"].contains($0) }) {
      return changed {
        $0.hint =
          "\(name) needs the schema: run \"rpcurl export TARGET -o api.binpb\" while a server runs, then add "
          + "--descriptor-set api.binpb"
      }
    }
    guard names.contains("retry") else { return self }
    return changed {
      $0.append(hint: "retry does not apply to the request for the schema; --descriptor-set FILE avoids it")
    }
  }
}

extension Failure.Message {
  /// Adds a hint after those that it has.
  mutating func append(hint added: String) {
    hint = hint.map { "\($0); \(added)" } ?? added
  }
}
