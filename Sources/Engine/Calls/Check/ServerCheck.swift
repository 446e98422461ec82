import RPCurlCall
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// `rpcurl check`: finds out step by step how a server can be called.
package final class ServerCheck {
  /// The time limit of each step, unless `--max-time` is given.
  private static let limit = Duration.seconds(10)

  private var request: ServerRequest
  private let isJSON: Bool
  private let clients: ClientSource
  private let methods: HealthMethods
  private var report = CheckReport()
  /// The number of lines of the report that are printed.
  private var shown = 0
  /// The cause of the first failed step.
  private var cause: ConnectionCause?
  /// The command that works, as far as it is known.
  private var command: SuggestedCommand
  /// Whether the given options prevent a call.
  private var needsOtherOptions = false
  /// Whether the server uses HTTP/2 over TLS that negotiates nothing.
  private var hasUnnegotiatedHTTP2 = false
  /// Whether the server offers the health service.
  private var hasHealth = false
  /// The result of the protocol that is needed, which is called first.
  private var first: Health?

  private typealias Health = (result: ProbeCall.Result, status: HealthMethods.Status?)

  /// Resolves the argument `TARGET`.
  package init(_ invocation: Invocation, on console: Console) throws {
    request = try ServerRequest(invocation, console)
    methods = try HealthMethods()
    isJSON = invocation.text(.textFormat) == "json"
    command = SuggestedCommand(invocation, request.target, request.secretNames)
    clients = ClientSource(console, request.options)
  }

  /// Prints the report.
  ///
  /// - Throws: `Failure` unless a call can be made.
  package func run() throws {
    try checkSteps(clients.client())
    show()
    if isJSON { clients.console.output.print(report.json) }
    guard !report.canCall else { return }
    throw Failure(reported: cause?.layer == .tls ? .tls : .connection)
  }

  private func checkSteps(_ client: LoopClient) throws {
    if try checkConnection(client) {
      let protocols = try checkProtocols(client)
      let isSupported = protocols.contains(request.protocolName)
      if let name = isSupported ? request.protocolName : protocols.first {
        report.canCall = isSupported && !needsOtherOptions
        let hasReflection = try checkReflection(client, name)
        // Without both, no method is certain to exist.
        if hasReflection || hasHealth {
          report.command = command.text(name, hasReflection: hasReflection)
        }
      }
    }
  }

  /// Prints what is not printed yet.
  private func show() {
    guard !isJSON else { return }
    clients.console.output.print(report.text(after: shown))
    shown = report.lines.count
  }

  private func wait(_ client: LoopClient, _ isDone: () -> Bool) throws {
    show()
    let name = request.target.name
    guard try CommandLoop(client.loop).wait(for: { name }, clients.console, until: isDone) else {
      throw Failure(reported: Interrupt.status)
    }
  }

  private var limit: Duration { request.maxTime ?? Self.limit }

  // MARK: Connection

  /// The base URL with the scheme that the server requires.
  private var baseURL: String {
    var target = request.target
    target.isTLS = command.isTLS
    return target.baseURL
  }

  private func connection(_ protocolName: ProtocolName) throws -> ConnectionOptions {
    // gRPC is checked over HTTP/2 also if the call is over HTTP/1.1.
    let isOverHTTP1 =
      protocolName == .grpc && request.protocolName != .grpc && request.options.httpVersion == .http1
    var options = try request.connection(isOverHTTP1 ? request.protocolName : protocolName)
    if isOverHTTP1 { options.httpVersion = .http2 }
    if hasUnnegotiatedHTTP2, protocolName == .grpc { options.httpVersion = .http2PriorKnowledge }
    if protocolName != .grpc, options.httpVersion == .http1, command.isTLS {
      options.httpVersion = .negotiated
    }
    // Not over the connection of gRPC, if TLS was found not to be used.
    if protocolName != .grpc, options.httpVersion == .negotiated, !command.isTLS {
      options.httpVersion = .http1
    }
    options.isInsecure = options.isInsecure || command.isInsecure
    return options
  }

  private func probe(_ client: LoopClient, _ purpose: ConnectionProbe.Purpose) throws -> ConnectionFacts {
    var result: ConnectionFacts?
    let probe = try connectionProbe(client, purpose) { result = $0 }
    defer { probe.cancel() }
    probe.start(limit: limit)
    try wait(client) { result != nil }
    return result ?? ConnectionFacts()
  }

  private func connectionProbe(
    _ client: LoopClient, _ purpose: ConnectionProbe.Purpose,
    _ completion: @escaping (ConnectionFacts) -> Void
  ) throws -> ConnectionProbe {
    let options = try connection(.grpc)
    do {
      return try ConnectionProbe(baseURL, options, purpose, loop: client.loop, completion: completion)
    } catch {
      throw Failure(.usage, request.target.name, error.message)
    }
  }

  /// Checks name, connection and TLS. Returns false if no call is possible.
  private func checkConnection(_ client: LoopClient) throws -> Bool {
    var facts = try probe(client, .connect)
    if let name = try connection(.grpc).abstractUnixSocket { facts.peer = "abstract socket \(name)" }
    report.add(connection: facts, request.target, hint)
    var failed = try refined(facts.error?.cause, client)
    if !command.isTLS, facts.error == nil {
      // A server that uses TLS accepts the connection too. It rejects the call, or closes the connection.
      let first = try callHealth(request.protocolName, client)
      self.first = first
      if !first.result.isResponse, !first.result.isSilence,
        try probe(client, .inspectTLS).tlsVersion != nil
      {
        self.first = nil
        failed = .serverWithTLS
        report.add("TLS", .failed, ConnectionCause.serverWithTLS.description, hint: hint(.serverWithTLS))
        (command.isTLS, needsOtherOptions) = (true, true)
        facts = try probe(client, .connect)
        cause = failed
        failed = facts.error?.cause
      }
    } else if failed == .serverWithoutTLS {
      (command.isTLS, needsOtherOptions, cause) = (false, true, failed)
      report.add("TLS", .failed, ConnectionCause.serverWithoutTLS.description, hint: hint(.serverWithoutTLS))
      return true
    }
    cause = cause ?? failed
    guard command.isTLS else {
      if facts.error == nil { report.add("TLS", .absent, "not used") }
      return facts.error == nil
    }
    guard facts.error == nil || failed?.layer == .tls else { return false }
    let inspected = facts.error == nil ? facts : try probe(client, .inspectTLS)
    let needsCertificate = inspected.requestsClientCertificate && request.options.last(.cert) == nil
    report.add(tls: inspected, isInsecure: try connection(.grpc).isInsecure)
    if needsCertificate {
      report.add(
        "client certificate", .absent, "the server asks for one", hint: hint(.clientCertificateRequired))
    }
    guard let error = facts.error else { return true }
    let refined = failed?.refined(
      by: inspected, hasCertificate: request.options.last(.cert) != nil, requiresHTTP2: true)
    cause = refined ?? cause
    report.add("verification", .failed, refined?.description ?? error.message, hint: refined.map(hint))
    switch refined {
    case .expired, .notYetValid, .wrongName, .unknownAuthority, .incompleteChain, .selfSigned,
      .rejectedCertificate:
      // The other steps are checked without verification.
      (command.isInsecure, needsOtherOptions) = (true, true)
      return true
    default: return false
    }
  }

  /// The cause of a failed connection. Servers for HTTP/2 without TLS close the connection in the handshake.
  private func refined(_ cause: ConnectionCause?, _ client: LoopClient) throws -> ConnectionCause? {
    guard let cause, cause == .handshakeCut else { return cause }
    return cause.refined(
      by: try probe(client, .readFirstBytes), hasCertificate: request.options.last(.cert) != nil,
      requiresHTTP2: true)
  }

  private func hint(_ cause: ConnectionCause) -> String {
    // The advice is to run this command.
    if case .closed = cause { return "check the port, and the log of the server or of a proxy before it" }
    return ConnectionAdvice(
      request.target, request.protocolName, hasCertificate: request.options.last(.cert) != nil
    )
    .hint(for: cause)
  }

  // MARK: Protocols

  /// Calls the health service over each protocol. Returns the protocols that work.
  private func checkProtocols(_ client: LoopClient) throws -> [ProtocolName] {
    let first = try first ?? callHealth(request.protocolName, client)
    var lines: [CheckReport.Line] = []
    var working: [ProtocolName] = []
    var versions: Set<String> = []
    var health: Health?
    for name in [ProtocolName.grpc, .grpcWeb, .connect] {
      let isNeeded = name == request.protocolName
      // The others need a response too.
      guard isNeeded || !first.result.isSilence else {
        let title = request.protocolName.title
        lines.append(.init(name.title, .skipped, "not tried: the server does not respond to \(title)"))
        continue
      }
      var (result, status) = isNeeded ? first : try callHealth(name, client)
      if result.error?.cause == .onlyHTTP1(negotiated: "") {
        hasUnnegotiatedHTTP2 = true
        let second = try callHealth(name, client)
        if second.result.isResponse {
          (result, status) = second
          command.needsPriorKnowledge = true
          needsOtherOptions = needsOtherOptions || isNeeded
        } else {
          hasUnnegotiatedHTTP2 = false
        }
      }
      if let version = result.httpVersion { versions.insert(version) }
      let otherPath =
        result.isResponse || result.httpStatus == nil ? nil : try respondingPath(name, working, client)
      let isWorking = result.isResponse || otherPath != nil
      if isWorking { working.append(name) }
      if result.isResponse {
        health = health ?? (result, status)
      } else if cause == nil, !isWorking {
        cause = result.error?.cause
      }
      let response =
        name == .grpc && hasUnnegotiatedHTTP2
        ? "responds with --http2-prior-knowledge: TLS negotiated no protocol"
        : otherPath.map { "responds to \($0)" } ?? "responds"
      lines.append(
        .init(
          name.title, isWorking ? .passed : isNeeded ? .failed : .absent,
          isWorking ? response : result.error?.message ?? "no response",
          hint: isWorking ? nil : result.httpStatus == 404 ? Self.gatewayHint : result.error?.cause.map(hint))
      )
    }
    report.add(
      "HTTP", versions.isEmpty ? .failed : .passed,
      versions.isEmpty ? "no response" : versions.sorted().joined(separator: ", "))
    report.lines += lines
    if let health {
      hasHealth = health.result.error?.code != .unimplemented
      report.add(health: health.result.error, health.status)
    } else if !working.isEmpty {
      report.add("health", .absent, "no response in the protocol: a gateway may have no route for it")
    }
    return working
  }

  /// The hint for a server that does not route the paths that the protocols are checked by.
  private static let gatewayHint =
    "a gateway that routes by service may have no route for health and reflection: use --proto FILE, or --descriptor-set FILE"

  /// The path, other than that of health, at which the server responds in a protocol: that of reflection, or of a method of the
  /// schema, if it is known. A gateway may route some services only. The method gets what no decoder accepts, so that it is not run.
  private func respondingPath(
    _ name: ProtocolName, _ working: [ProtocolName], _ client: LoopClient
  ) throws -> String? {
    switch try reflect(.serviceNames, .v1, name, client) {
    case .success?: return "reflection"
    case .failure(.failed(let error))?, .failure(.notOffered(let error))?:
      if error.origin == .server { return "reflection" }
    case .failure?, nil: break
    }
    guard let method = try knownMethod(working, client) else { return nil }
    var call = request.call(method, name, try connection(name), timeout: limit)
    call.target = baseURL
    let isResponse = try result(of: call, .bytes(Self.invalidMessage), client).isResponse
    return isResponse ? "\(method.service)/\(method.name)" : nil
  }

  /// A tag of field 0 with a type that does not exist.
  private static let invalidMessage: [UInt8] = [7]

  /// A unary method of the schema that the options name, or else of the server by a protocol that works.
  private func knownMethod(
    _ working: [ProtocolName], _ client: LoopClient
  ) throws -> MethodDescriptor? {
    var sources: [SchemaSource.Source] = []
    if request.options.hasSchema {
      sources = try SchemaSource.sources(request.options, clients.console.error, waitLimit: limit)
    } else if let name = working.first,
      case .success(let names)? = try reflect(.serviceNames, .v1, name, client),
      let service = names.services.first(where: { !WellKnownSchemas.mayDeclareService($0) }),
      case .success(let schema)? = try reflect(.symbols([service]), .v1, name, client)
    {
      sources = [.init(set: SchemaBytes(schema.descriptorSet), name: "reflection")]
    }
    guard !sources.isEmpty else { return nil }
    let pool = try SchemaSource.pool(sources)
    for name in pool.serviceNames where !WellKnownSchemas.mayDeclareService(name) {
      let methods = (try? pool.service(named: name))?.methods ?? []
      if let method = methods.first(where: { !$0.clientStreaming && !$0.serverStreaming }) { return method }
    }
    return nil
  }

  private func callHealth(_ name: ProtocolName, _ client: LoopClient) throws -> Health {
    var call = request.call(methods.check, name, try connection(name), timeout: limit)
    call.target = baseURL
    var status: HealthMethods.Status?
    let result = try result(of: call, .typed(try methods.request("")), client) {
      status = HealthMethods.status($0)
    }
    return (result, status)
  }

  private func result(
    of call: CallRequest, _ message: Payload, _ client: LoopClient,
    onMessage: @escaping (Message) -> Void = { _ in }
  ) throws -> ProbeCall.Result {
    var result: ProbeCall.Result?
    let probe = ProbeCall(call, message, client, onMessage: onMessage) { result = $0 }
    defer { probe.cancel() }
    try wait(client) { result != nil }
    guard let result else { throw Failure(reported: Interrupt.status) }
    return result
  }

  // MARK: Reflection

  private func reflect(
    _ goal: ReflectionQuery.Goal, _ version: ReflectionVersion, _ name: ProtocolName, _ client: LoopClient
  ) throws -> Result<ReflectedSchema, ReflectionError>? {
    var query = ReflectionRequest(goal, target: baseURL, userAgent: Version.userAgent)
    (query.version, query.protocolName, query.timeout) = (version, name, limit)
    query.connection = try connection(name)
    query.headers = request.allHeaders
    query.secretNames = request.secretNames
    let reflector = client.reflect(query)
    try wait(client) { reflector.result != nil }
    return reflector.result
  }

  /// Checks the versions of reflection. Returns a method that can be called without a schema.
  private func checkReflection(_ client: LoopClient, _ name: ProtocolName) throws -> Bool {
    var versions: [String] = []
    var services: Set<String> = []
    var refusal: (why: String, hint: String?)?
    versions: for version in [ReflectionVersion.v1, .v1alpha] {
      switch try reflect(.serviceNames, version, name, client) {
      case .success(let schema)?:
        versions.append(version.rawValue)
        services.formUnion(schema.services)
      case .failure(.failed(let status))? where status.isTimeout:
        refusal = (status.message, nil)
        break versions
      case .failure(.failed(let status))?:
        guard refusal == nil, let hint = ReflectionSource.hint(forRefusal: status.code) else { break }
        refusal = ("the server refuses it: \(status.code.name)", hint)
      case .failure, nil: break
      }
    }
    guard !versions.isEmpty else {
      report.add(
        "reflection", .absent, refusal?.why ?? "the server does not offer it",
        hint: refusal?.hint ?? "use --proto FILE, or --descriptor-set FILE")
      return false
    }
    let count = "\(services.count) service\(services.count == 1 ? "" : "s")"
    report.add("reflection", .passed, "\(versions.joined(separator: ", ")): \(count)")
    return true
  }
}

extension ProtocolName {
  /// The name for people.
  fileprivate var title: String {
    switch self {
    case .grpc: "gRPC"
    case .grpcWeb: "gRPC-Web"
    case .connect: "Connect"
    }
  }
}
