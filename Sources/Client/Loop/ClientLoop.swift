import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlProtocols
import RPCurlTransport

/// Owns the loop of a client and all that belongs to the loop's thread.
///
/// The thread is the executor of the actor, so that the compiler keeps the loop's objects, which are not Sendable, on it.
/// Other threads use `post`, which needs no task.
actor ClientLoop {
  private enum State {
    /// The thread has not made the loop.
    case starting
    case open(LoopClient)
    /// Interceptors write or send what they have collected, until the function returns true or the time has passed.
    case closing(LoopClient, isDone: () -> Bool, deadline: MonotonicClock.Instant)
    /// No loop exists. Calls fail with the error.
    case over(RPCError)
  }

  /// The maximum time for interceptors to write or send what they have collected.
  private static let closeTime = Duration.seconds(5)

  private let thread = LoopThread()
  private var state = State.starting
  private var calls: [Int: CallDriver] = [:]
  /// The calls that have not started.
  private var queue = CallQueue<QueuedCall>(limit: nil)
  /// The addresses of the server; nil if libcurl chooses one.
  private var addresses: AddressTurn?
  private let news = CallNews()
  private var closeWaiters: [CheckedContinuation<Void, Never>] = []
  /// The reflection requests that run, by their numbers.
  private var reflectors: [Int: Reflector] = [:]

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// A call that waits to be started.
  private struct QueuedCall {
    let request: CallRequest
    let channel: CallChannel
    let begin = MonotonicClock.now
    /// Ends the call at its deadline.
    var timer: EventLoop.TimerID?
  }

  static let closed = RPCError(.canceled, "the client is closed", origin: .client)

  /// Starts the thread, which retains the actor until `beginClose`.
  ///
  /// - Parameter options: Those of the client.
  nonisolated func start(_ options: ClientOptions) {
    thread.start { self.assumeIsolated { $0.run(options) } }
  }

  /// Runs `work` on the loop's thread, after all that was posted before.
  nonisolated func post(_ work: @escaping @Sendable (isolated ClientLoop) -> Void) {
    thread.add { self.assumeIsolated { work($0) } }
  }

  // MARK: Calls

  /// Starts a call. Its channel receives the response, or the error if the loop is closed.
  func start(_ request: CallRequest, _ number: Int, _ channel: CallChannel) {
    guard case .open(let client) = state else {
      return channel.fail(failure)
    }
    let queued = QueuedCall(request: request, channel: channel)
    if hasAddresses(for: request, client), queue.startsAtOnce() { return start(queued, number, client) }
    queue.add(queued, number)
    limitQueued(number, request.timeout, client)
  }

  /// Starts the calls that need not wait.
  private func startQueued(_ client: LoopClient) {
    guard let next = queue.next, hasAddresses(for: next.request, client) else { return }
    while let (number, queued) = queue.start() { start(queued, number, client) }
  }

  private func start(_ queued: QueuedCall, _ number: Int, _ client: LoopClient) {
    if let timer = queued.timer { client.loop.cancel(timer) }
    var request = queued.request
    // The time in the queue is a part of that of the call.
    if queued.timer != nil, let timeout = request.timeout {
      request.timeout = max(timeout - (.now - queued.begin), .zero)
    }
    if let address = addresses?.next() { request.connection = request.connection.connecting(to: address) }
    let driver = CallDriver(queued.channel, news) { [weak self] end in
      self?.assumeIsolated { $0.ended(number, end) }
    }
    calls[number] = driver
    let call = client.makeCall(request, observer: driver)
    driver.start(call)
  }

  private func ended(_ number: Int, _ end: ResponseEnd) {
    calls[number] = nil
    queue.end()
    if let cause = end.error?.cause { addresses?.forget(after: cause) }
    guard queue.next != nil, case .open(let client) = state else { return }
    // Not within the end of another call.
    client.loop.atEndOfRound { [weak self] in
      self?.assumeIsolated { loop in
        if case .open(let client) = loop.state { loop.startQueued(client) }
      }
    }
  }

  /// Ends a call at its deadline, if it waits until then.
  private func limitQueued(_ number: Int, _ timeout: Duration?, _ client: LoopClient) {
    guard let timeout else { return }
    let timer = client.loop.schedule(at: .now + timeout) { [weak self] in
      self?.assumeIsolated { loop in
        let error = RPCError(
          .deadlineExceeded, "the call took longer than \(timeout.inSeconds), and was not sent",
          origin: .client)
        loop.queue.remove(number)?.channel.fail(error)
      }
    }
    queue.change(number) { $0.timer = timer }
  }

  /// Whether the addresses that calls are spread over are known, or are not needed. Otherwise they are searched for.
  private func hasAddresses(for request: CallRequest, _ client: LoopClient) -> Bool {
    addresses?.isKnown {
      AddressSearch(of: request.target, request.connection, loop: client.loop) { [weak self] in
        self?.assumeIsolated { loop in
          if case .open(let client) = loop.state { loop.startQueued(client) }
        }
      }
    } ?? true
  }

  /// Gives the call what its channel holds of the request.
  func sendRequests(_ number: Int) { calls[number]?.sendRequests() }

  /// Continues a response that was paused.
  func resumeResponse(_ number: Int) { calls[number]?.resumeResponse() }

  /// Cancels a call; does nothing if it has ended.
  func cancel(_ number: Int, _ reason: String) {
    guard let queued = queue.remove(number) else {
      calls[number]?.cancel(reason)
      return
    }
    if let timer = queued.timer, case .open(let client) = state { client.loop.cancel(timer) }
    queued.channel.fail(RPCError(.canceled, reason, origin: .client))
  }

  private func endQueued(_ error: RPCError) {
    addresses?.cancel()
    for queued in queue.removeAll() { queued.channel.fail(error) }
  }

  private var failure: RPCError {
    if case .over(let error) = state { error } else { Self.closed }
  }

  // MARK: Reflection

  /// Requests a schema.
  ///
  /// - Parameter completion: Called once.
  func reflect(
    _ request: ReflectionRequest, _ number: Int,
    _ completion: @escaping @Sendable (Result<[UInt8], RPCError>) -> Void
  ) {
    guard case .open(let client) = state else { return completion(.failure(failure)) }
    let reflector = client.reflect(request)
    guard reflector.result == nil else { return completion(reflector.schema) }
    reflectors[number] = reflector
    reflector.whenDone = { [weak self, weak reflector] in
      self?.assumeIsolated { $0.reflectors[number] = nil }
      if let reflector { completion(reflector.schema) }
    }
  }

  /// Cancels a request for a schema; does nothing if it is complete.
  func cancelReflection(_ number: Int) { reflectors[number]?.cancel("the task was canceled") }

  // MARK: The end

  /// Ends all calls, and lets interceptors write or send what they have collected.
  func beginClose(_ interceptors: [InterceptorRegistration], log: @escaping LogSink) {
    switch state {
    case .open(let client):
      for reflector in reflectors.values { reflector.cancel(Self.closed.message) }
      endQueued(Self.closed)
      client.endCalls(Self.closed)
      state = .closing(
        client, isDone: client.conclude(interceptors, log: log), deadline: .now + Self.closeTime)
      client.loop.schedule(at: .now + Self.closeTime) {}
    case .starting, .closing, .over: break
    }
  }

  /// Waits until the loop and its thread have ended.
  nonisolated func waitForClose() async {
    await waitForEndOfLoop()
    thread.end()
  }

  private func waitForEndOfLoop() async {
    if case .over = state { return }
    await withCheckedContinuation { closeWaiters.append($0) }
  }

  private var isDone: Bool {
    switch state {
    case .closing(_, let isDone, let deadline): isDone() || deadline < .now
    case .over: true
    case .starting, .open: false
    }
  }

  // MARK: The thread

  private func run(_ options: ClientOptions) {
    queue = CallQueue(limit: options.maxConcurrentCalls)
    addresses = options.spreadsOverAddresses ? AddressTurn() : nil
    do throws(TransportError) {
      let client = try LoopClient()
      client.loop.sendsTogether = true
      client.loop.onOldLibcurl = options.oldLibcurlCheck()
      if let limit = options.maxConnections { try client.loop.limitConnections(to: limit) }
      let news = news
      client.loop.beforeWait = {
        news.flush()
        return false
      }
      state = .open(client)
      thread.attach(client.loop.mailbox)
      defer { thread.detach() }
      try client.loop.run { isDone }
      client.endCalls(Self.closed)
      state = .over(Self.closed)
    } catch {
      let error = RPCError(.internal, error.message, origin: .client)
      if case .open(let client) = state { client.endCalls(error) }
      endQueued(error)
      state = .over(error)
    }
    news.flush()
    calls = [:]
    for waiter in closeWaiters { waiter.resume() }
    closeWaiters = []
  }
}

extension Reflector {
  /// The descriptor set of the result, or the error.
  fileprivate var schema: Result<[UInt8], RPCError> {
    switch result {
    case .success(let schema): .success(schema.descriptorSet)
    case .failure(.failed(let error)): .failure(error)
    case .failure(let error): .failure(RPCError(.notFound, "\(error)", origin: .server))
    case nil: .failure(ClientLoop.closed)
    }
  }
}
