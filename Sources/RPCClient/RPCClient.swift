import Interception
import Protobuf
import RPCProtocols
import Transport

/// Makes calls, each through the chain of interceptors.
///
/// A client belongs to the thread that made it, on which its loop runs.
///
/// ```swift
/// let client = try RPCClient()
/// let call = try client.makeCall(request, observer: observer)
/// call.start()
/// call.send(.typed(message))
/// call.finishSending()
/// try client.loop.run { call.isFinished }
/// ```
public final class RPCClient {
  /// The loop on which everything happens.
  public let loop: EventLoop
  /// The interceptors that calls pass through. A change applies to calls made after it.
  public var interceptors: [InterceptorRegistration] = []
  /// Where interceptors' log records go; called on any thread.
  public var log: LogSink = { _ in }
  /// Where interceptors' findings go; called on any thread.
  public var onFinding: FindingSink = { _ in }
  /// Addresses for names that requests gave. libcurl keeps them for the requests that follow.
  private var formerAddresses: [String] = []

  private let liveCalls = LiveCalls()

  /// Loads libcurl and makes a client.
  public init() throws(TransportError) {
    loop = try EventLoop()
  }

  deinit {
    liveCalls.end(RPCError(.canceled, "the client was released", origin: .client))
  }

  /// Makes a call, which `start` starts. When the client is released, calls that have not finished end with the status
  /// `canceled`.
  public func makeCall(_ request: CallRequest, observer: any CallObserver) -> Call {
    makeCall(request, interceptors: interceptors, observer: observer)
  }

  func makeCall(
    _ request: CallRequest, interceptors: [InterceptorRegistration], excluding: Set<RegistrationID> = [],
    observer: any CallObserver
  ) -> Call {
    var request = request
    request.formerAddresses = formerAddresses
    formerAddresses += request.connection.resolve.filter { !formerAddresses.contains($0) }
    let mailbox = loop.mailbox
    let subrequests = ClientSubrequestTransport(self, request)
    var environment = ChainEnvironment(
      clock: LoopClock(loop), post: { mailbox.post($0) }, log: log, subrequests: subrequests)
    environment.onFinding = onFinding
    environment.excluded = excluding
    return Call(
      request, builder: ChainBuilder(interceptors), environment: environment, subrequests: subrequests,
      loop: loop, liveCalls: liveCalls, observer: observer)
  }
}
