import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport
import Synchronization

/// Makes calls, each through a chain of interceptors.
///
/// A client belongs to the thread that made it, on which its loop runs.
///
/// ```swift
/// let client = try LoopClient()
/// let call = try client.makeCall(request, observer: observer)
/// call.start()
/// call.send(.typed(message))
/// call.finishSending()
/// try client.loop.run { call.isFinished }
/// ```
package final class LoopClient {
  /// The event loop.
  package let loop: EventLoop
  /// The `resolve` entries of all requests. libcurl keeps them for later requests.
  private var formerAddresses: [String] = []

  /// What all chains share.
  private let environment: ChainEnvironment
  private let liveCalls = LiveCalls()
  /// The latest request with interceptors, except those of interceptors themselves.
  private var latest: CallRequest?
  /// What the factories of interceptors of this client may request outside of calls.
  private var networks: [RegistrationID: FactoryNetwork] = [:]
  /// The requests of factories that may be unfinished.
  private var fetches: [FetchTransfer] = []
  let lingeringCalls = LingeringCalls()

  /// Whether interceptors wait for the end of own calls although the calls that caused them have ended.
  package var hasLingeringCalls: Bool { !lingeringCalls.isEmpty }

  /// Cancels the calls that `hasLingeringCalls` reports.
  package func cancelLingeringCalls(_ reason: String) { lingeringCalls.cancel(reason) }

  /// Loads libcurl and makes a client.
  package init() throws(TransportError) {
    loop = try EventLoop()
    environment = Self.environment(loop)
  }

  /// Makes a client with connections of its own, whose loop runs within that of another client.
  ///
  /// - Throws: ``TransportError`` if libcurl is older than 8.8.
  package init(within other: LoopClient) throws(TransportError) {
    loop = try EventLoop(within: other.loop)
    environment = Self.environment(loop)
  }

  private static func environment(_ loop: EventLoop) -> ChainEnvironment {
    let mailbox = loop.mailbox
    return ChainEnvironment(clock: LoopClock(loop), post: { mailbox.post($0) })
  }

  deinit {
    liveCalls.end(Self.released)
    for fetch in fetches { fetch.cancel() }
  }

  /// Makes a call; `start` starts it. When the client is released, unfinished calls end with the status
  /// `canceled`.
  package func makeCall(_ request: CallRequest, observer: any CallObserver) -> Call {
    makeCall(prepare(request), observer: observer)
  }

  /// Prepares a request for many calls of this client.
  ///
  /// - Parameter isSubrequest: Whether an interceptor makes the calls.
  package func prepare(_ request: CallRequest, isSubrequest: Bool = false) -> PreparedRequest {
    var request = request
    request.formerAddresses = formerAddresses
    formerAddresses += request.connection.resolve.filter { !formerAddresses.contains($0) }
    if !isSubrequest, !request.interceptors.isEmpty {
      latest = request
      attach(request.interceptors, log: request.log)
    }
    return PreparedRequest(request)
  }

  /// Makes a call; `start` starts it.
  ///
  /// - Parameters:
  ///   - request: The request, prepared by this client.
  ///   - own: What the call has of its own; nil for what the request has.
  ///   - observer: Observes the call.
  package func makeCall(
    _ request: PreparedRequest, _ own: OwnParameters? = nil, observer: any CallObserver
  ) -> Call {
    makeCall(request, own, excluding: [], observer: observer)
  }

  /// Makes a call that does not pass through some of its interceptors.
  func makeCall(
    _ prepared: PreparedRequest, _ own: OwnParameters? = nil, excluding: Set<RegistrationID>,
    observer: any CallObserver
  ) -> Call {
    // Each part of the request is read where it is, which copies less than the whole.
    let own = own ?? OwnParameters(prepared)
    var environment = environment
    environment.log = prepared.request.log
    environment.onFinding = own.onFinding
    environment.excluded = excluding
    environment.secrets = CallSecrets(prepared.request.secretNames)
    environment.secrets.add(prepared.secrets)
    environment.secrets.add(attributes: prepared.request.attributes.all)
    // Only interceptors make subrequests.
    let subrequests =
      prepared.request.interceptors.isEmpty
      ? nil : ClientSubrequestTransport(self, prepared.request, onFinding: environment.onFinding)
    environment.subrequests = subrequests
    return Call(
      prepared, own, environment: environment, subrequests: subrequests, loop: loop, liveCalls: liveCalls,
      observer: observer)
  }

  /// Ends every unfinished call with an error, without waiting for anything that follows its end.
  package func endCalls(_ error: RPCError) { liveCalls.end(error) }

  // MARK: Factories of interceptors

  private static let released = RPCError(.canceled, "the client was released", origin: .client)

  private func attach(_ interceptors: [InterceptorRegistration], log: @escaping LogSink) {
    for interceptor in interceptors where networks[interceptor.id] == nil {
      let network = network(for: interceptor.id, log: log)
      networks[interceptor.id] = network
      if interceptor.factory.declaration.readsCertificates { loop.reportsCertificates = true }
      interceptor.factory.attach(network)
    }
  }

  /// What the factory of an interceptor may request outside of calls.
  ///
  /// - Parameters:
  ///   - registration: The interceptor, which its calls do not pass through.
  ///   - log: Receives its log records; called on any thread.
  func network(for registration: RegistrationID, log: @escaping LogSink) -> FactoryNetwork {
    if var network = networks[registration] {
      network.log = log
      return network
    }
    let call = {
      [weak self] (call: Subrequest, completion: @escaping (SubrequestResponse) -> Void) in
      guard let self, let latest else {
        return completion(SubrequestResponse(end: ResponseEnd(error: Self.released)))
      }
      ClientSubrequestTransport(self, latest, onFinding: latest.onFinding)
        .call(call, for: latest.facts, excluding: [registration], completion: completion)
    }
    return FactoryNetwork(
      log: log, clock: environment.clock, post: environment.post,
      watch: { [weak loop] in loop?.watch($0, $1, $2) },
      facts: { [weak self] in self?.latest?.facts },
      call: call
    ) { [weak self] fetch, completion in
      guard let self else { return completion(.failure(Self.released)) }
      let transfer = FetchTransfer(fetch, completion)
      fetches.removeAll { $0.isOver }
      fetches.append(transfer)
      transfer.start(on: loop, options: ConnectionOptions(), formerAddresses: formerAddresses)
    }
  }

  /// Makes interceptors write or send what they have collected. To be called once, after their last call.
  ///
  /// - Parameters:
  ///   - interceptors: The interceptors.
  ///   - log: Receives their log records; called on any thread.
  /// - Returns: Whether all have finished, to run the loop until then.
  package func conclude(
    _ interceptors: [InterceptorRegistration], log: @escaping LogSink
  ) -> () -> Bool {
    let waiting = Waiting(count: interceptors.count)
    for interceptor in interceptors {
      // Perhaps on the thread of another loop, if its client shares the interceptor.
      interceptor.factory.conclude(network(for: interceptor.id, log: log)) { [mailbox = loop.mailbox] in
        waiting.count.subtract(1, ordering: .releasing)
        mailbox.post {}
      }
    }
    return { waiting.count.load(ordering: .acquiring) == 0 }
  }

  /// How many factories have not finished.
  private final class Waiting: Sendable {
    let count: Atomic<Int>

    init(count: Int) { self.count = Atomic(count) }
  }
}

extension EventLoop {
  /// Watches a descriptor for a factory of interceptors; without an action it stops that.
  fileprivate func watch(_ descriptor: Int32, _ events: DescriptorEvents, _ action: (() -> Void)?) {
    switch (events, action) {
    case (.reading, let action?): watch(descriptor, action)
    case (.reading, nil): unwatch(descriptor)
    case (.writing, let action?): watchWriting(descriptor, action)
    case (.writing, nil): unwatchWriting(descriptor)
    }
  }
}
