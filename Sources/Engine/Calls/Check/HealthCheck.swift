import RPCurlBase
import RPCurlCall
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// `rpcurl health`: the health of a server, or of one of its services.
package final class HealthCheck {
  /// How much before its deadline a check may end: the server's clock may reach it slightly earlier.
  private static let clockTolerance = Duration.milliseconds(100)

  private let request: ServerRequest
  private let service: String
  private let isWatching: Bool
  private let patience: ServerPatience?
  private let clients: ClientSource
  private var status: HealthMethods.Status?
  private var failure: Failure?
  private var isDone = false
  private var call: ProbeCall?
  /// Why the last check did not end the wait.
  private var lastProblem: String?
  /// The number of the next check while waiting.
  private var repetition = 0

  /// Resolves the arguments `TARGET [SERVICE]`.
  package init(_ invocation: Invocation, on console: Console) throws {
    clients = ClientSource(console, invocation)
    patience = ServerPatience(invocation, clients)
    try patience?.waitForPort(of: ConfiguredTarget.server(of: invocation).server.text)
    request = try ServerRequest(invocation, console)
    service = request.arguments.first ?? ""
    isWatching = invocation.has(.watch)
  }

  /// Prints each status.
  ///
  /// - Throws: `Failure` unless the last one is `SERVING`.
  package func run() throws {
    let client = try clients.client()
    let methods = try HealthMethods()
    let message = try methods.request(service)
    let connection = try request.connection(request.protocolName)
    let isInterrupted = try CommandLoop(client.loop).run(
      start: { self.start(client, methods, message, connection) },
      onInterrupt: {
        self.isDone = true
        self.call?.cancel()
      },
      until: { self.isDone })
    call?.cancel()
    if isInterrupted { throw Failure(reported: Interrupt.status) }
    if status == .serving { return }
    if let failure { throw failure }
    let what = service.isEmpty ? request.target.name : service
    throw Failure(
      .assertion, what, "the status is \(status?.name ?? "missing")",
      hint: status == .serviceUnknown
        ? "run \"rpcurl list \(request.words)\" to see the services" : nil)
  }

  private func start(
    _ client: LoopClient, _ methods: HealthMethods, _ message: Message, _ connection: ConnectionOptions
  ) {
    let method = isWatching ? methods.watch : methods.check
    let remaining = patience.map {
      max(($0.end - MonotonicClock.now).roundedToMilliseconds, .milliseconds(1))
    }
    // A check without a limit could wait forever for a server that does not respond.
    let limit = [request.maxTime, remaining, isWatching ? nil : .seconds(10)].compactMap { $0 }.min()
    let call = request.call(method, request.protocolName, connection, timeout: limit)
    self.call = ProbeCall(
      call, .typed(message), client, onMessage: { [self] in received($0) },
      completion: { [self] result in
        guard let pause = ended(result.error, connection) else {
          isDone = true
          return
        }
        client.loop.schedule(at: .now + pause) { [self] in
          if !isDone { start(client, methods, message, connection) }
        }
      })
  }

  private func received(_ message: Message) {
    let new = HealthMethods.status(message)
    // While waiting, repeated results are not printed.
    if isWatching || patience == nil || new == .serving, let new {
      clients.console.output.print(lines: [new.name])
    }
    status = new
    failure = nil
    if new == .serving, patience != nil { isDone = true }
  }

  /// Notes the end of a check. Returns the time until the next one; nil if there is none.
  private func ended(_ error: RPCError?, _ connection: ConnectionOptions) -> Duration? {
    if let error, !isDone, !isEndOfWait(error) {
      let isMissing = error.code == .unimplemented && error.origin == .server
      let isUnknown = error.code == .notFound && error.origin == .server && !service.isEmpty
      failure =
        isUnknown
        ? Failure(
          .call(error), service, "the server does not report the health of this service: not_found (5)",
          hint: "run \"rpcurl list \(request.words)\" to see the services")
        : isMissing ? missing(error) : request.failure(error, connection)
      status = nil
    }
    guard let patience, !isDone, isWorthRetrying(error) else { return nil }
    let problem = error?.message ?? "the status is \(status?.name ?? "missing")"
    if problem != lastProblem { patience.report(problem, of: request.target) }
    lastProblem = problem
    repetition += 1
    let pause = Backoff.forServerStart.wait(beforeRepetition: repetition, fraction: .random(in: 0..<1))
    return patience.end > .now + pause ? pause : nil
  }

  /// The failure for a server without the method.
  private func missing(_ error: RPCError) -> Failure {
    let what = isWatching ? "Watch of the health service" : "the health service"
    let other = isWatching ? "omit --watch; " : ""
    return Failure(
      .call(error), request.target.name, "the server does not offer \(what): unimplemented (12)",
      hint: "\(other)\"rpcurl check \(request.words)\" shows what it offers")
  }

  /// Whether only the end of `--wait` has ended a check. That is not a failure of the server: its last status or failure is
  /// the result, if there is one.
  private func isEndOfWait(_ error: RPCError) -> Bool {
    guard let end = patience?.end, status != nil || failure != nil else { return false }
    return error.code == .deadlineExceeded && end < .now + Self.clockTolerance
  }

  private func isWorthRetrying(_ error: RPCError?) -> Bool {
    guard let error else { return true }
    switch error.cause {
    // A check has no effects, so it may be repeated also if the server has received it.
    case .closed?, .refusedRequest?, .lost?: return true
    case let cause?: return cause.isNotReady
    case nil: break
    }
    switch error.origin {
    case .connection, .proxy: return true
    case .server, .violation, .client:
      return ![.unauthenticated, .permissionDenied, .unimplemented].contains(error.code)
    case .tls, .request, .interceptor, .configuration: return false
    }
  }
}
