import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports
import RPCurlTransport

/// The calls of a load of a method.
final class LoadCalls: Steps {
  let engine: Engine
  private let measurement: LoadMeasurement
  private let plan: CallPlan
  private let connections: Int?
  /// A client for each connection. Their loops run within that of the first.
  private let clients: [LoopClient]
  private let hasInterceptors: Bool
  /// The request of each client.
  private let requests: [PreparedRequest]
  /// What is measured of the calls to each address; empty if the connections are not spread over several.
  private var byAddress: [(address: String, statistics: LoadStatistics)]
  private let lookup: NameLookup?
  private var data: LoadData
  /// The calls that have not ended, and the number of them on each connection.
  private var calls: [LoadCall] = []
  private var callsByConnection: [Int]
  /// The calls that have ended, whose interceptors have not.
  private var concluding: [(member: LoadCall, call: Call)] = []

  init(_ plan: CallPlan, _ options: LoadOptions, clients source: ClientSource) throws {
    self.plan = plan
    connections = options.connections
    clients = try Self.clients(source.client(), options.connections)
    callsByConnection = Array(repeating: 0, count: clients.count)
    for client in clients { client.loop.sendsTogether = true }
    lookup = NameLookup(plan, client: clients[0])
    var request = try plan.request(
      log: source.console.log(showingDebug: plan.settings.output.verbosity > 1), onFinding: { _ in }, lookup)
    request.connection.sharesConnection = true
    // Further connections for each failed call would be a load on the server.
    request.connection.diagnosisTime = .zero
    hasInterceptors = !request.interceptors.isEmpty
    let addresses = try Self.addresses(plan, request.connection, clients, source.console)
    byAddress = addresses.map { ($0.text, LoadStatistics(from: options.shape.leadTime)) }
    requests = clients.enumerated().map { number, client in
      guard !addresses.isEmpty else { return client.prepare(request) }
      var request = request
      request.connection = request.connection.connecting(to: addresses[number % addresses.count])
      return client.prepare(request)
    }
    engine = Engine(Schedule(options.shape), clients[0], source.console, patience: LoadOptions.patience)
    measurement = try LoadMeasurement(options, waitLimit: plan.settings.timeout)
    data = try Self.data(plan, requests[0], clients[0], lookup)
  }

  /// The addresses of the server that the connections are spread over; none if there is only one connection or address.
  private static func addresses(
    _ plan: CallPlan, _ connection: ConnectionOptions, _ clients: [LoopClient], _ console: Console
  ) throws(Failure) -> [ServerAddress] {
    guard clients.count > 1 else { return [] }
    let loop = clients[0].loop
    let search = AddressSearch(of: plan.settings.target.baseURL, connection, loop: loop)
    defer { search.cancel() }
    guard try CommandLoop(loop).wait(until: { search.isOver }) else {
      throw Failure(reported: Interrupt.status)
    }
    let addresses = search.addresses
    for (address, error) in search.failures where !addresses.isEmpty {
      console.error.remark(
        "rpcurl: no calls to \(TerminalText.escape("\(address.text): \(error.message)"))\n")
    }
    guard addresses.count > 1 else { return [] }
    if plan.settings.output.verbosity > 0 {
      let list = addresses.map(\.text).joined(separator: ", ")
      console.error.write("* \(clients.count) connections to \(list)\n")
    }
    return addresses
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

  /// Makes the calls. Returns what was measured.
  func run() throws(Failure) -> LoadResult {
    var result = try measurement.run(
      self, plan.settings.target.name, "\(plan.name)", connections: connections)
    result.report.addresses = byAddress.map { LoadReport.Part(name: $0.address, statistics: $0.statistics) }
    return result
  }

  var running: Int { calls.count }
  var isOver: Bool { calls.isEmpty && concluding.isEmpty && !clients.contains { $0.hasLingeringCalls } }
  var progress: Progress? { measurement.progress(of: self) }

  func start(due: Duration, isMeasured: Bool) {
    let connection = callsByConnection.indices.min { callsByConnection[$0] < callsByConnection[$1] } ?? 0
    let member = LoadCall(
      self, due: due, isMeasured: isMeasured, connection: connection, hasInterceptors: hasInterceptors)
    var own = OwnParameters(requests[connection])
    if let findings = member.findings { own.onFinding = findings.sink }
    let call = clients[connection].makeCall(requests[connection], own, observer: member)
    member.call = call
    member.place = calls.count
    calls.append(member)
    callsByConnection[connection] += 1
    call.start()
    do throws(Failure) {
      try data.send(to: call)
    } catch {
      end(.failed, error)
    }
  }

  /// Notes that a call has ended. It is counted when its interceptors have ended, which may have findings.
  func end(_ member: LoadCall, _ end: ResponseEnd) {
    guard let call = member.call else { return }
    let isUnfinished = engine.isClosing && end.code == .canceled && end.error?.origin == .client
    member.end(end, at: engine.elapsed, isUnfinished: isUnfinished)
    if member.findings == nil { count(member) }
    if !call.isFinished { concluding.append((member, call)) }
    guard calls.indices.contains(member.place), calls[member.place] === member else { return }
    calls[member.place] = calls[calls.count - 1]
    calls[member.place].place = member.place
    calls.removeLast()
    callsByConnection[member.connection] -= 1
  }

  /// Counts a call that has ended, once. One that was canceled by a signal is not counted.
  private func count(_ member: LoadCall) {
    guard let sample = member.takeSample(), member.isMeasured else { return }
    if engine.isInterrupted, sample.outcome == .unfinished { return }
    measurement.add(sample)
    guard !byAddress.isEmpty else { return }
    byAddress[member.connection % byAddress.count].statistics.add(sample)
  }

  func settle() {
    guard !concluding.isEmpty else { return }
    for (member, call) in concluding where call.isFinished { count(member) }
    concluding.removeAll { $0.call.isFinished }
  }

  func close(_ end: Engine.End) {
    let reason: String
    switch end {
    case .completed: return
    case .late: reason = "the run has ended"
    case .interrupted: reason = Interrupt.reason
    case .failed: reason = "the data is invalid"
    }
    for member in calls { member.call?.cancel(reason) }
    for client in clients { client.cancelLingeringCalls(reason) }
  }
}
