import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlInterceptors
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports
import RPCurlTransport

/// Makes the calls of a run, at the times that a `LoadPacer` decides, and counts them.
final class LoadRunner {
  /// The phases of a run.
  private enum Phase {
    /// Calls start.
    case starting
    /// No more calls start; those that run are measured until a time, and canceled at another.
    case ending(since: Duration, limit: Duration)
    /// The calls that run are canceled, and counted as unfinished.
    case canceling(since: Duration)
    /// A signal ended the run. The calls that run are canceled, and not counted.
    case interrupted(since: Duration)
  }

  /// How long calls may take after the last one has started, or after the duration.
  private static let patience = Duration.seconds(5)

  private let plan: CallPlan
  private let options: LoadOptions
  private let console: Console
  /// A client for each connection. Their loops run within that of the first.
  private let clients: [LoopClient]
  private let hasInterceptors: Bool
  /// The request of each client.
  private let requests: [PreparedRequest]
  private let timer: PreciseTimer
  private let lookup: NameLookup?
  private let raw: RawLatencies?
  private var data: LoadData
  private var pacer: LoadPacer
  private var statistics: LoadStatistics
  private var begin = MonotonicClock.now
  private var phase = Phase.starting
  /// The calls that have not ended, and the number of them on each connection.
  private var running: [LoadCall] = []
  private var runningByConnection: [Int]
  /// The calls that have ended, whose interceptors have not.
  private var concluding: [(member: LoadCall, call: Call)] = []
  /// Why the data of a call is invalid.
  private var failure: Failure?

  init(_ plan: CallPlan, _ options: LoadOptions, clients source: ClientSource) throws {
    self.plan = plan
    self.options = options
    console = source.console
    clients = try Self.clients(source.client(), options.connections)
    runningByConnection = Array(repeating: 0, count: clients.count)
    for client in clients { client.loop.sendsTogether = true }
    lookup = NameLookup(plan, client: clients[0])
    var request = try plan.request(
      log: console.log(showingDebug: plan.verbosity > 1), onFinding: { _ in }, lookup)
    request.connection.sharesConnection = true
    // Further connections for each failed call would be a load on the server.
    request.connection.diagnosisTime = .zero
    hasInterceptors = !request.interceptors.isEmpty
    requests = clients.map { $0.prepare(request) }
    guard let timer = PreciseTimer(clients[0].loop) else {
      throw Failure(.internalError, "timer", "too many open files")
    }
    self.timer = timer
    raw = try options.rawPath.map { (path) throws(Failure) in try RawLatencies(path, waitLimit: plan.timeout)
    }
    pacer = LoadPacer(options.shape)
    statistics = LoadStatistics(from: options.shape.leadTime)
    data = try Self.data(plan, requests[0], clients[0], lookup)
  }

  /// Makes a client for each connection.
  private static func clients(_ first: LoopClient, _ connections: Int?) throws(Failure) -> [LoopClient] {
    guard let connections else { return [first] }
    do throws(TransportError) {
      var clients = [first]
      while clients.count < connections { clients.append(try LoopClient(within: first)) }
      for client in clients { try client.loop.limitConnections(to: 1) }
      return clients
    } catch {
      throw Failure(.usage, "--connections \(connections)", error.message)
    }
  }

  /// Reads the data for a call that is not started.
  private static func data(
    _ plan: CallPlan, _ request: PreparedRequest, _ client: LoopClient, _ lookup: NameLookup?
  ) throws(Failure) -> LoadData {
    final class Unobserved: CallObserver {
      func receive(_ event: CallEvent<Payload>) throws(RPCError) {}
    }
    let call = client.makeCall(request, observer: Unobserved())
    // The call's interceptors exist already, so they must be notified of its end.
    defer { call.cancel("the call is not needed") }
    return try LoadData(plan, for: call, lookup)
  }

  /// Makes the calls. Returns the report, the time of day at which the measured part began, in nanoseconds since 1970, and
  /// why the file of `--raw` could not be written, nil if it was.
  func run() throws -> (report: LoadReport, start: Int64, problem: Failure?) {
    let line = ProgressLine(console, clients[0].loop, printsMessages: false) { [unowned self] in progress }
    defer { line?.finish() }
    begin = .now
    let time = SystemValues(waitLimit: nil).nanosecondsSince1970
    _ = try CommandLoop(clients[0].loop).run(
      onInterrupt: { [unowned self] in
        console.error.endEchoedLine()
        stop(.interrupted(since: elapsed), Interrupt.reason)
      },
      until: { advance() })
    timer.stop()
    let problem = raw?.finish()
    if let failure { throw failure }
    var (end, isInterrupted) = (Duration.zero, false)
    switch phase {
    case .starting: break
    case .ending(let time, _), .canceling(let time): end = time
    case .interrupted(let time): (end, isInterrupted) = (time, true)
    }
    let report = LoadReport(
      target: plan.target.name, method: "\(plan.name)", shape: options.shape,
      connections: options.connections,
      statistics: statistics, missed: pacer.missed(at: end), end: end, isInterrupted: isInterrupted)
    return (report, time + options.shape.leadTime.nanoseconds, problem)
  }

  /// The time since the start of the run.
  private var elapsed: Duration { .now - begin }

  private var progress: Progress {
    statistics.progress(running: running.count, at: elapsed, options.shape)
  }

  /// Starts the calls that are due. Returns whether the run is over.
  private func advance() -> Bool {
    if case .starting = phase { startCalls() }
    if case .ending(let since, let limit) = phase, !running.isEmpty {
      if elapsed < limit {
        timer.set(begin + limit)
      } else {
        stop(.canceling(since: since), "the run has ended")
      }
    }
    // Last: no event follows a call that an interceptor has ended within its start, or that was canceled here.
    if !concluding.isEmpty {
      for (member, call) in concluding where call.isFinished { count(member) }
      concluding.removeAll { $0.call.isFinished }
    }
    if case .starting = phase { return false }
    return running.isEmpty && concluding.isEmpty && !clients.contains { $0.hasLingeringCalls }
  }

  private func startCalls() {
    for _ in 0...options.shape.jobs {
      let now = elapsed
      switch pacer.next(at: now, running: running.count) {
      case .start(let due, let isMeasured): start(due: due, isMeasured: isMeasured)
      case .wait(let until):
        if let until { timer.set(begin + until) }
        return
      case .finish(let end):
        phase = .ending(since: end, limit: pacer.startOfLimit(finishedAt: now) + Self.patience)
        return
      }
      guard case .starting = phase else { return }
    }
    // An interceptor may end calls within their start. Other work comes first, and the loop must not wait.
    clients[0].loop.mailbox.post {}
  }

  private func start(due: Duration, isMeasured: Bool) {
    let connection =
      runningByConnection.indices.min { runningByConnection[$0] < runningByConnection[$1] } ?? 0
    let member = LoadCall(
      self, due: due, isMeasured: isMeasured, connection: connection,
      hasInterceptors: hasInterceptors)
    let call = clients[connection].makeCall(
      requests[connection], onFinding: member.findings?.sink, observer: member)
    member.call = call
    member.place = running.count
    running.append(member)
    runningByConnection[connection] += 1
    call.start()
    do throws(Failure) {
      try data.send(to: call)
    } catch {
      failure = failure ?? error
      stop(.interrupted(since: elapsed), "the data is invalid")
    }
  }

  /// Notes that a call has ended. It is counted when its interceptors have ended, which may have findings.
  func end(_ member: LoadCall, _ end: ResponseEnd) {
    guard let call = member.call else { return }
    var isUnfinished = false
    if case .canceling = phase { isUnfinished = end.code == .canceled && end.error?.origin == .client }
    member.end(end, at: elapsed, isUnfinished: isUnfinished)
    if member.findings == nil { count(member) }
    if !call.isFinished { concluding.append((member, call)) }
    guard running.indices.contains(member.place), running[member.place] === member else { return }
    running[member.place] = running[running.count - 1]
    running[member.place].place = member.place
    running.removeLast()
    runningByConnection[member.connection] -= 1
  }

  /// Counts a call that has ended, once.
  private func count(_ member: LoadCall) {
    guard let sample = member.takeSample(), member.isMeasured else { return }
    if case .interrupted = phase, sample.outcome == .status(.canceled) { return }
    statistics.add(sample)
    if sample.outcome != .unfinished { raw?.add(sample.latency) }
  }

  /// Starts no more calls, and cancels those that run.
  private func stop(_ phase: Phase, _ reason: String) {
    if case .interrupted = self.phase { return }
    self.phase = phase
    for member in running { member.call?.cancel(reason) }
    for client in clients { client.cancelLingeringCalls(reason) }
  }
}
