import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports
import RPCurlServer
import RPCurlTransport

/// A method that clients call, with what the calls of it share.
final class ProxiedMethod {
  let plan: CallPlan
  let prepared: PreparedRequest
  let descriptor: MethodDescriptor
  /// The codec of the calls that are made.
  let codec: CodecName
  /// Whether the method is in the schema of a server without a target, which checks its messages.
  let isServed: Bool

  fileprivate init(_ plan: CallPlan, _ prepared: PreparedRequest, isServed: Bool) {
    (self.plan, self.prepared, self.isServed) = (plan, prepared, isServed)
    (descriptor, codec) = (plan.method, plan.settings.wire.codec)
  }
}

/// The calls of a listener: each request is checked, and becomes a call through the chain. It belongs to the loop's thread.
final class ProxiedCalls {
  /// What differs between the calls that are made.
  private struct MethodKey: Hashable {
    let method: MethodName
    let kind: CallKind
    let protocolName: ProtocolName
    let codec: CodecName
    let compression: Compression?
    let isGET: Bool
    /// nil for the version that options, TLS and the kind of the method determine.
    let httpVersion: ConnectionOptions.HTTPVersion?
  }

  /// The number of methods that are kept. Clients choose their names.
  private static let maxMethods = 1000

  private let options: Invocation
  private let settings: CallSettings
  private let chain: ChainSource
  private let schema: ProxySchema
  private let client: LoopClient
  private let console: Console
  private let origins: CrossOrigin
  private let serverOptions: ServerOptions
  private let unfinished: UnfinishedMessages
  /// Whether neither an option nor TLS determines the version of HTTP.
  private let followsVersion: Bool
  /// The innermost interceptor of a server without a target; nil if there is one.
  private let unanswered: InterceptorRegistration?
  private var methods: [MethodKey: ProxiedMethod] = [:]
  private var running: [Int: ProxiedCall] = [:]
  /// The calls of local services that stay open.
  private var open: [ObjectIdentifier: LocalServiceCall] = [:]
  private var count = 0
  private var failedCount = 0
  private var isOutputBehind = false
  /// The lines that were not printed since the last one.
  private var hiddenCount = 0
  /// The break points; nil without `--interactive`.
  var breaks: BreakController? {
    didSet {
      breaks?.show = { [unowned self] in show("\($0)\n") }
      breakRegistration = breaks?.registration
    }
  }
  private var breakRegistration: InterceptorRegistration?
  /// The calls that have ended, for `--save-suite`; nil without it.
  var suite: SavedSuite?
  /// Whether an interceptor has reported a failure.
  private(set) var hasFailedFinding = false

  init(
    _ options: Invocation, _ settings: CallSettings, _ chain: ChainSource, _ schema: ProxySchema,
    _ client: LoopClient, _ console: Console, _ origins: CrossOrigin,
    unanswered: InterceptorRegistration?
  ) {
    (self.options, self.settings, self.chain, self.schema) = (options, settings, chain, schema)
    (self.client, self.console, self.origins) = (client, console, origins)
    self.unanswered = unanswered
    followsVersion = options.httpVersion == nil && !settings.target.isTLS
    unfinished = UnfinishedMessages(maxMessageBytes: settings.wire.maxMessageBytes)
    // The compressions that options name are those of a proxy's calls, and those of a server itself.
    let wire = unanswered == nil ? nil : settings.wire
    serverOptions = ServerOptions(
      maxMessageBytes: settings.wire.maxMessageBytes,
      accepted: wire?.acceptedCompressions ?? Compression.readable,
      sent: (wire?.compression).map { [$0] } ?? Compression.readable.filter(\.isWritable),
      followsTarget: wire?.compression == nil)
    schema.whenReplaced = { [weak self] in
      self?.methods = [:]
      self?.breaks?.use(schema.allMethods)
    }
  }

  /// The number of calls that have not finished.
  var runningCount: Int { running.count }

  /// The calls so far.
  var progress: Progress {
    var progress = Progress()
    progress.calls = Progress.Calls(
      ended: count - running.count, failed: failedCount, running: running.count)
    return progress
  }

  /// Ends the calls that still run; their clients receive the error. A suite could not repeat that.
  func end(_ error: RPCError) {
    omitFromSuite(running.keys)
    for call in running.values { call.end(error) }
  }

  /// The suite does not have the calls with these numbers, which are about to end as the proxy does.
  func omitFromSuite(_ numbers: some Sequence<Int>) {
    for number in numbers { running[number]?.omitFromSuite() }
  }

  /// Sets whether the reader of the output is behind.
  func setOutputBehind(_ isBehind: Bool) {
    isOutputBehind = isBehind
    for call in running.values { call.setOutputBehind(isBehind) }
  }

  /// Makes the handler of a request; nil if the response was made already.
  func receive(_ head: RequestHead, _ stream: ServerStream) -> (any StreamHandler)? {
    let arrived = ServerRequestHead(
      method: head.method, path: head.path, authority: head.authority, headers: head.headers,
      isHTTP2: head.version == .http2)
    let fields: Headers
    switch origins.decide(arrived) {
    case .accept(let added): fields = added
    case .respond(let response):
      refuse(arrived, response, stream, Headers())
      return nil
    }
    let method = arrived.methodName.flatMap(schema.method)
    let known =
      method.map { ServerMethod(kind: $0.kind, allowsGET: $0.hasNoSideEffects) }
      ?? (passesGET(arrived) ? ServerMethod(kind: .unary, allowsGET: true) : nil)
    switch ServerProtocols.receive(arrived, known, serverOptions) {
    case .refusal(let response):
      refuse(arrived, response, stream, fields)
      return nil
    case .call(let inbound):
      let responder = ServerResponder(stream, inbound, fields, unfinished)
      if let method,
        let service = LocalService(inbound.request.start.method, schema, isLocal: unanswered != nil)
      {
        return serve(LocalServiceCall(service, method, responder), staysOpen: service.staysOpen)
      }
      return start(inbound, method, responder, isPlain: head.scheme == "http")
    }
  }

  private func serve(_ call: LocalServiceCall, staysOpen: Bool) -> LocalServiceCall {
    guard staysOpen else { return call }
    let key = ObjectIdentifier(call)
    open[key] = call
    call.onEnd = { [weak self] in self?.open[key] = nil }
    return call
  }

  /// Ends the calls that stay open until the server stops.
  func endWatches(_ error: RPCError) {
    for call in open.values { call.stop(error) }
  }

  /// Whether a request of a method that the schema does not have passes by GET: the server decides whether that is allowed.
  private func passesGET(_ head: ServerRequestHead) -> Bool {
    head.method == "GET" && unanswered == nil
      && (options.text(.protocolName) == nil || settings.protocolName == .connect)
  }

  /// Sends a response that is not one of a call.
  private func refuse(
    _ head: ServerRequestHead, _ response: ServerResponse, _ stream: ServerStream, _ fields: Headers
  ) {
    stream.send(response, fields)
    guard let status = response.head?.status, status >= 400, !prints else { return }
    let text = response.refusalText.map { ": \($0)" } ?? ""
    show(
      TerminalText.escape("- \(head.method) \(head.path) of \(head.authority): HTTP \(status)\(text)") + "\n")
  }

  /// Whether calls are printed as those of `rpcurl call`.
  private var prints: Bool { settings.output.verbosity > 0 || options.format != nil }

  /// Prints a line, unless the reader of the output is behind: the clients do not wait for it.
  private func show(_ line: String) {
    guard !isOutputBehind else { return hiddenCount += 1 }
    if hiddenCount > 0 {
      console.output.write(Array("… \(hiddenCount) lines that the reader was too slow for\n".utf8))
    }
    hiddenCount = 0
    console.output.write(Array(line.utf8))
  }

  private func start(
    _ inbound: any ServerProtocol, _ method: MethodDescriptor?, _ responder: ServerResponder, isPlain: Bool
  ) -> (any StreamHandler)? {
    count += 1
    let number = count
    do {
      let proxied = try proxied(inbound.request, method, isPlain: isPlain)
      let output = CallOutput(console.output, isDirect: true)
      let printer = prints ? CallPrinter(proxied.plan, output: output, index: number) : nil
      let observer = ProxiedCall(
        number, responder, proxied, printer, CallLine(number, inbound.request),
        recording(of: inbound.request, method)
      ) { [weak self] call in
        // Interceptors report findings after the last event.
        self?.client.loop.atEndOfRound { self?.finished(call) }
      }
      let own = parameters(of: proxied, inbound.request, observer)
      let call = client.makeCall(proxied.prepared, own, observer: observer)
      running[number] = observer
      breaks?.startingCall = number
      observer.start(call)
      if isOutputBehind { observer.setOutputBehind(true) }
      return observer
    } catch {
      let failure = error as? RPCError ?? RPCError(.internal, "\(error)", origin: .client)
      responder.end(ResponseEnd(error: failure))
      failedCount += 1
      var line = CallLine(number, inbound.request)
      line.end(ResponseEnd(error: failure))
      show(line.text)
      return nil
    }
  }

  /// What a call has of its own: what the client has sent, and what options say.
  private func parameters(
    of method: ProxiedMethod, _ arrived: RPCurlProtocols.ServerRequest, _ observer: ProxiedCall
  ) -> OwnParameters {
    var own = OwnParameters(method.prepared)
    own.headers = arrived.start.headers.replacing(settings.headers)
    if let timeout = arrived.timeout { own.timeout = min(timeout, settings.timeout ?? timeout) }
    own.onFinding = observer.findings.sink
    return own
  }

  /// A method, whose types are invented if the schema does not have it.
  ///
  /// What is not translated is for a server that the client could call itself: it has the client's codec, compression and
  /// version of HTTP.
  ///
  /// - Parameter isPlain: Whether the request came without TLS.
  private func proxied(
    _ request: RPCurlProtocols.ServerRequest, _ method: MethodDescriptor?, isPlain: Bool
  ) throws -> ProxiedMethod {
    let protocolName = options.text(.protocolName) == nil ? request.protocolName : settings.protocolName
    let isTranslated = protocolName != request.protocolName
    let key = MethodKey(
      method: request.start.method, kind: method?.kind ?? request.kind ?? .bidiStreaming,
      protocolName: protocolName,
      codec: codec(of: request, protocolName, isKnown: method != nil),
      compression: isTranslated ? settings.wire.compression : compression(of: request),
      isGET: request.isGET && protocolName == .connect,
      httpVersion: isTranslated || !isPlain || !followsVersion ? nil : request.isHTTP2 ? .http2 : .http1)
    if let method = methods[key] { return method }
    let known =
      try method
      ?? OpaqueMethod.descriptor(
        of: key.method, key.kind, hasNoSideEffects: key.isGET)
    let plan = try CallPlan(
      options, settings.with(protocolName, key.codec, key.compression, usesGET: key.isGET),
      (schema.pool, known), reflection: nil, chain, httpVersion: key.httpVersion, sharesConnection: true)
    var call = try plan.request(
      log: console.log(showingDebug: settings.output.verbosity > 1), onFinding: { _ in }, nil)
    call.isOpaque = method == nil
    call.reportsMessages = prints && settings.output.verbosity > 0
    call.interceptors += [breakRegistration, unanswered].compactMap(\.self)
    if methods.count >= Self.maxMethods { methods = [:] }
    let proxied = ProxiedMethod(
      plan, client.prepare(call), isServed: unanswered != nil && method != nil)
    methods[key] = proxied
    return proxied
  }

  /// The codec of a call. Few servers of gRPC have another than protobuf: what is translated for them has that.
  private func codec(
    of request: RPCurlProtocols.ServerRequest, _ protocolName: ProtocolName, isKnown: Bool
  ) -> CodecName {
    if options.text(.codec) != nil { return settings.wire.codec }
    let isTranslated = protocolName != request.protocolName
    return isTranslated && isKnown && protocolName != .connect ? .proto : request.start.codec
  }

  /// The compression of a call that is not translated.
  private func compression(of request: RPCurlProtocols.ServerRequest) -> Compression? {
    guard options.text(.compression) == nil else { return settings.wire.compression }
    return request.compression.flatMap { $0.isWritable ? $0 : nil }
  }

  /// What the suite will have of a call; nil if it does not record it. Clients ask for the schema by themselves.
  private func recording(
    of request: RPCurlProtocols.ServerRequest, _ method: MethodDescriptor?
  ) -> SavedSuite.Call? {
    guard suite != nil, method != nil, !LocalService.reflection.contains(request.start.method.service) else {
      return nil
    }
    return SavedSuite.Call(request)
  }

  private func finished(_ call: ProxiedCall) {
    running[call.number] = nil
    if call.line.hasFailed { failedCount += 1 }
    if let recorded = call.recorded { suite?.add(recorded) }
    if let printer = call.printer {
      if printer.conclude() == .assertion { hasFailedFinding = true }
      return
    }
    show(call.line.text)
    for finding in call.findings.removeAll() where finding.kind == .failure {
      hasFailedFinding = true
      console.output.remark(TerminalText.escape("\(call.number) assertion failed: \(finding.text)") + "\n")
    }
  }
}

extension Headers {
  /// These fields without those that others have, and the others.
  fileprivate func replacing(_ others: Headers) -> Headers {
    var headers = self
    for field in others.fields { headers.remove(field.name) }
    return headers.appending(others)
  }
}
