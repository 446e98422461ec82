import RPCurlBase
import RPCurlCall
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlTransport

/// What `--wait` asks for: the server of a command need not accept connections before this time is over.
package struct ServerPatience {
  /// Runs the loop until a condition holds. Returns false if a signal arrived first.
  ///
  /// - Parameters:
  ///   - purpose: What is awaited, for a terminal.
  ///   - isDone: The condition.
  typealias Drive = (_ purpose: @escaping () -> String?, _ isDone: () -> Bool) throws(Failure) -> Bool

  private let options: Invocation
  private let clients: ClientSource
  private let drive: Drive?
  private let limit: Duration
  /// When the wait ends at the latest.
  let end: MonotonicClock.Instant

  /// Creates what the options ask for. Returns nil without `--wait`.
  ///
  /// - Parameters:
  ///   - options: The options.
  ///   - clients: Creates the client whose loop runs meanwhile.
  ///   - drive: Runs the loop; nil to run it by itself.
  init?(_ options: Invocation, _ clients: ClientSource, drive: Drive? = nil) {
    guard let limit = options.duration(.wait) else { return nil }
    (self.options, self.clients, self.limit) = (options, clients, limit)
    end = .now + limit
    self.drive = drive
  }

  /// Prints why a server is not ready, with `-v`.
  func report(_ problem: String, of target: Target) {
    guard options.verbosity > 0 else { return }
    clients.console.error.write("* waiting for \(TerminalText.escape("\(target.name): \(problem)"))\n")
  }

  /// Waits until the port of a server accepts connections, if its first bytes then decide whether TLS is used.
  ///
  /// - Parameters:
  ///   - text: The server, as it was given.
  ///   - headers: The headers of a session, which are not part of its options.
  func waitForPort(of text: String, headers: [Argument]? = nil) throws(Failure) {
    guard case .byResponse = try options.tls(clients.console, headers: headers),
      let target = Target.ofThisMachine(text)
    else { return }
    var connection = ConnectionOptions()
    // The port is all that is known: no byte is awaited.
    connection.httpVersion = .http1
    if let timeout = options.duration(.connectTimeout) { connection.connectTimeout = timeout }
    try wait(for: target, connection)
  }

  /// Waits until a server accepts connections.
  ///
  /// - Parameters:
  ///   - target: The server.
  ///   - connection: The options of its connections.
  ///   - protocolName: The protocol of the calls.
  /// - Throws: `Failure` if it does not, or if a signal arrived.
  func wait(
    for target: Target, _ connection: ConnectionOptions, _ protocolName: ProtocolName = .grpc
  ) throws(Failure) {
    let loop = try clients.client().loop
    let wait = ServerWait(for: target.baseURL, connection, until: end, loop: loop)
    defer { wait.cancel() }
    var reason: String?
    let purpose = { options.verbosity > 0 ? nil : "\(target.name); Ctrl-C ends it" }
    let isDone = {
      if let problem = wait.problem?.message, problem != reason {
        reason = problem
        report(problem, of: target)
      }
      return wait.isOver
    }
    let isReady =
      if let drive { try drive(purpose, isDone) } else {
        try CommandLoop(loop).wait(for: purpose, clients.console, until: isDone)
      }
    guard isReady else { throw Failure(reported: Interrupt.status) }
    guard wait.isOver, let problem = wait.problem else { return }
    var error = RPCError(problem)
    error.message += " (waited for \(limit.inSeconds))"
    throw Failure(error, of: target, protocolName, connection)
  }
}
