import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

/// A value on its way through the model.
enum ModelValue: Equatable {
  case requestStart([String])
  case responseStart([String])
  case message(MessageModel)
  case requestEnd
  case responseEnd(EndModel)

  var isStart: Bool {
    switch self {
    case .requestStart, .responseStart: true
    case .message, .requestEnd, .responseEnd: false
    }
  }
  var isMessage: Bool { if case .message = self { true } else { false } }
  /// The end of the response, if it is one.
  var end: EndModel? { if case .responseEnd(let end) = self { end } else { nil } }
}

/// The end of a response.
struct EndModel: Equatable {
  var code: String
  /// The interceptor, or the other origin, of an error; empty for a success.
  var origin: String
  var tags: [String] = []

  var isError: Bool { code != "ok" }
  var line: String { "end \(status) \(tags.joined(separator: ","))" }
  var status: String { "\(code) \(origin)" }
}

/// What is known of the real call besides its description: when interceptors ended the call, and how much of the other
/// direction they had received by then. Everything else follows from the description.
struct Observations {
  var moments: [String: Moment] = [:]
  var injections: [String: [CrossInjection]] = [:]
  var responseCounts: [String: Int] = [:]
  /// Which instances have started a response in place of a server.
  var started: Set<String> = []
  /// How many values of the request instances had received when they half-closed it.
  var requestEnds: [String: Int] = [:]
}

/// What every part of a call must receive, in one of the outcomes that the rules allow.
///
/// A call without an early end has one outcome. If an interceptor ends a call while it cannot be known how far a value of
/// the other direction has come, there is one for each place.
struct ExpectedOutcome {
  struct Instance {
    var request: [String]
    var response: [String]
    /// The ends that the instance receives instead of the rest if something further out ends the call; empty if nothing
    /// does.
    var cuts: Set<String> = []
    /// Whether the instance receives the whole request.
    var isWhole = false
  }

  struct Wire {
    var lines: [String]
    var isWhole = false
  }

  /// The report of an attempt.
  struct Report {
    /// How the attempt ends by itself; nil if it does not.
    var end: String?
    /// How it ends if it is cancelled.
    var cuts: Set<String> = []
    /// Whether it need not exist.
    var isOptional = false
  }

  /// The attempts, by their numbers from the outer to the inner one.
  var reports: [[Int]: Report] = [:]
  /// By the name of the interceptor and the path of its attempt.
  var instances: [String: Instance] = [:]
  var wires: [String: Wire] = [:]
  /// Instances and wires that need not exist, since something further out may have ended the call before.
  var optional: Set<String> = []
  /// What leaves the chain, or a part of it, at its outer end.
  var output: [ModelValue] = []
  /// Whether further outcomes were omitted: several attempts, each with many outcomes, have too many.
  var isOneOfMany = false
  /// Whether something has ended the call, or the attempt, before the server's end.
  var isInterrupted = false

  /// Everything so far is further in than something that ends the call: it receives a part, and this end.
  mutating func cut(_ end: EndModel) {
    for key in instances.keys {
      instances[key]?.cuts.insert(end.line)
      instances[key]?.isWhole = false
      optional.insert(key)
    }
    for path in wires.keys {
      wires[path]?.isWhole = false
      optional.insert("wire" + path)
    }
    for numbers in reports.keys {
      reports[numbers]?.cuts.insert(end.status)
      reports[numbers]?.isOptional = true
    }
    isInterrupted = true
  }

  /// Adds what an attempt received.
  mutating func merge(_ other: ExpectedOutcome, isFinal: Bool) {
    for (key, value) in other.instances {
      instances[key] = value
      if !isFinal { instances[key]?.isWhole = false }
    }
    for (path, value) in other.wires {
      wires[path] = value
      if !isFinal { wires[path]?.isWhole = false }
    }
    optional.formUnion(other.optional)
    reports.merge(other.reports) { $1 }
    isOneOfMany = isOneOfMany || other.isOneOfMany
  }

  /// Adds the report of an attempt.
  mutating func report(_ numbers: [Int], _ attempt: ExpectedOutcome) {
    reports[numbers] = Report(end: attempt.output.last?.end?.status)
  }
}

/// The chain as a pure function of a description and of the moments at which interceptors end the call.
///
/// The rules:
/// - Each interceptor has one place in each direction. Start, messages and end pass it there: outbound from the first to
///   the last, inbound from the last to the first. Stages that it does not declare pass it unseen.
/// - A message is parsed at the first typed stage on its way, and serialized at the first that receives bytes. It leaves
///   with the bytes that entered unless an interceptor set something. If it cannot be parsed, the interceptors that it has
///   passed have received it. Of a response, the interceptor with the typed stage and those further out receive the
///   error as the end, and those further in `canceled`; of a request, the interceptors up to and including that one
///   receive the error as the end. The origin is the last interceptor that set the bytes, else the caller or the server.
/// - Values leave an interceptor in the order of arrival, whatever order the verdicts come in.
/// - A message injected with a token precedes the token's value; one injected through the context follows what the
///   interceptor has received, and precedes what it has not; at the end of the direction it precedes the end. Injected
///   messages pass only the interceptors further on. If a response has no start, an injected message before its end
///   makes one.
/// - When an interceptor ends the call, the interceptors further out receive what it forwarded of the response before the
///   first value that it still holds, with what it injected before that value, and all that it injected through its context;
///   then the end. If the start is not among that, a failure has no messages, and a local response its own start.
///   Interceptors further in receive `canceled`, and the one that ends the call nothing more.
/// - A cancellation reaches all interceptors that have received the start and not the end, and the caller, at once.
/// - An interceptor may half-close the request itself, after what it has received. What it receives or injects afterwards
///   goes no further.
/// - If two messages arrive at the end of the chain of a unary request, the first is sent, and every interceptor receives an
///   error as the end.
/// - Interceptors further out than one that makes attempts receive a report of each attempt, with its number and how it
///   ended, before their end if the attempt ended by itself.
/// - An interceptor that retries receives the responses of its attempts one after the other; further out only that of the
///   last is received. Of the attempts of an interceptor that hedges, the first with a message or a success counts.
struct DifferentialModel {
  let call: CallDescription
  let observations: Observations

  static func key(_ index: Int, _ path: String) -> String { "I\(index)/\(path)" }

  /// All outcomes of the call that the rules allow.
  ///
  /// - Parameter isCancelled: Whether the caller cancelled the call before its end.
  func outcomes(isCancelled: Bool) -> [ExpectedOutcome] {
    let request =
      [ModelValue.requestStart([])] + call.request.map { .message($0) } + [.requestEnd]
    let outcomes = evaluate(0, "", [], request)
    if let end = limit { return outcomes.flatMap { cancelled($0, end) } }
    guard isCancelled else { return outcomes }
    return outcomes
      + outcomes.flatMap { cancelled($0, EndModel(code: call.cancelCode.name, origin: "client")) }
  }

  /// The outcomes of a cancellation at each place of the output.
  private func cancelled(_ outcome: ExpectedOutcome, _ end: EndModel) -> [ExpectedOutcome] {
    let count = outcome.output.last?.end == nil ? outcome.output.count : outcome.output.count - 1
    return (0...count).map { length in
      var cut = outcome
      cut.cut(end)
      cut.output = outcome.output.prefix(length) + [.responseEnd(end)]
      return cut
    }
  }

  // MARK: - A chain, or the chain of an attempt

  /// The interceptors from an index on, as far as the next that makes attempts, and what is further in.
  ///
  /// - Parameter numbers: The numbers of the attempt, from the outer to the inner one.
  private func evaluate(
    _ first: Int, _ path: String, _ numbers: [Int], _ request: [ModelValue]
  ) -> [ExpectedOutcome] {
    var members: [(CallDescription.InterceptorDescription, RequestPass)] = []
    var values = request
    var index = first
    var outcomes: [ExpectedOutcome]?
    while index < call.interceptors.count, values.first?.isStart == true {
      let interceptor = call.interceptors[index]
      index += 1
      if interceptor.isDeclining { continue }
      if call.makeThrows(interceptor.index) {
        var outcome = ExpectedOutcome()
        outcome.output = [.responseEnd(EndModel(code: "aborted", origin: interceptor.name))]
        outcome.isInterrupted = true
        outcomes = [outcome]
        break
      }
      let pass = requestPass(interceptor, path, values)
      members.append((interceptor, pass))
      values = pass.output
      if !interceptor.isPlain { break }
    }
    let isStopped = values.first?.isStart != true
    let hasTooMany = !call.kind.clientStreams && values.count(where: \.isMessage) > 1
    if hasTooMany { values = Array(values.prefix(2)) }
    var result: [ExpectedOutcome]
    if let outcomes {
      result = outcomes
    } else if isStopped {
      result = [ExpectedOutcome()]
    } else if let last = members.last?.0, !last.isPlain {
      result = attempts(last, path, numbers, values)
    } else {
      result = [wire(path, values)]
    }
    if hasTooMany {
      for index in result.indices {
        result[index].cut(EndModel(code: "canceled", origin: "client"))
        result[index].output = [.responseEnd(EndModel(code: "internal", origin: "client"))]
      }
    }
    for (interceptor, pass) in members.reversed() {
      result = result.flatMap { respond(interceptor, path, pass, $0) }
    }
    for (interceptor, _) in members {
      guard observations.moments[Self.key(interceptor.index, path)]?.kind == .cancel else { continue }
      result = result.flatMap { cancelled($0, EndModel(code: "canceled", origin: interceptor.name)) }
    }
    return result
  }

  /// The wire, with the response of the server.
  private func wire(_ path: String, _ request: [ModelValue]) -> ExpectedOutcome {
    let server = call.server(path)
    let lines = request.map { value in
      switch value {
      case .requestStart(let tags): "start \(tags.joined(separator: ","))"
      case .message(let message): Lines.bytes(call.bytes(message.text, message.encoding ?? .canonical))
      default: "half-close"
      }
    }
    var outcome = ExpectedOutcome()
    outcome.wires[path] = ExpectedOutcome.Wire(lines: lines, isWhole: server.waitsForRequest)
    outcome.isInterrupted = !server.waitsForRequest
    if server.hasStart { outcome.output.append(.responseStart(["server"])) }
    outcome.output += server.messages.map { .message($0) }
    outcome.output.append(
      .responseEnd(
        server.isError
          ? EndModel(code: "unavailable", origin: "server", tags: ["server"])
          : EndModel(code: "ok", origin: "", tags: ["server"])))
    return outcome
  }

  // MARK: - Attempts

  private func attempts(
    _ interceptor: CallDescription.InterceptorDescription, _ path: String, _ numbers: [Int],
    _ request: [ModelValue]
  ) -> [ExpectedOutcome] {
    // Each attempt receives the serialized messages.
    let request = request.map { value in
      guard case .message(var message) = value else { return value }
      message.encoding = message.encoding ?? .canonical
      return .message(message)
    }
    func evaluate(_ number: Int) -> [ExpectedOutcome] {
      self.evaluate(
        interceptor.index + 1, path + (number == 1 ? "" : "\(interceptor.index)\(number)"),
        numbers + [number], request)
    }
    switch interceptor.role {
    case .plain: return []
    case .retry(let limit, _): return retries(numbers, limit, evaluate)
    case .hedge(let count, _, let byHeaders):
      return hedges(interceptor, numbers, byHeaders, (1...count).map(evaluate))
    }
  }

  /// One attempt after the other, until one has a message or succeeds.
  private func retries(
    _ numbers: [Int], _ limit: Int, _ attempt: (Int) -> [ExpectedOutcome]
  ) -> [ExpectedOutcome] {
    var results: [ExpectedOutcome] = []
    var pending = [ExpectedOutcome()]
    for number in 1...limit where !pending.isEmpty {
      let attempts = attempt(number).limited(to: 100)
      var next: [ExpectedOutcome] = []
      for outcome in pending {
        for attempt in attempts {
          let isRetried = attempt.isFailure && number < limit
          var merged = outcome
          merged.merge(attempt, isFinal: !isRetried)
          merged.report(numbers + [number], attempt)
          merged.output += attempt.output
          merged.isInterrupted = attempt.isInterrupted
          if isRetried { next.append(merged) } else { results.append(merged) }
        }
      }
      pending = next.limited(to: 500)
    }
    return results
  }

  /// Several attempts at once: the first with a message or a success has the response.
  private func hedges(
    _ interceptor: CallDescription.InterceptorDescription, _ numbers: [Int], _ byHeaders: Bool,
    _ attempts: [[ExpectedOutcome]]
  ) -> [ExpectedOutcome] {
    func hasFailed(_ attempt: ExpectedOutcome) -> Bool {
      byHeaders ? attempt.isFailureWithoutStart : attempt.isFailure
    }
    let lost = EndModel(code: "canceled", origin: interceptor.name)
    var combinations: [[ExpectedOutcome]] = [[]]
    for outcomes in attempts.map({ $0.limited(to: 20) }) {
      combinations = combinations.flatMap { list in outcomes.map { list + [$0] } }
    }
    var results: [ExpectedOutcome] = []
    for combination in combinations {
      for (chosen, outcome) in combination.enumerated()
      where !outcome.output.isEmpty && !hasFailed(outcome) {
        var merged = ExpectedOutcome()
        for (number, other) in combination.enumerated() where number != chosen {
          var other = other
          other.cut(lost)
          merged.merge(other, isFinal: false)
          merged.reports[numbers + [number + 1]] = ExpectedOutcome.Report(
            end: hasFailed(other) ? other.output.last?.end?.status : nil, cuts: [lost.status],
            isOptional: true)
        }
        merged.merge(outcome, isFinal: true)
        merged.report(numbers + [chosen + 1], outcome)
        merged.output = outcome.output
        merged.isInterrupted = outcome.isInterrupted
        results.append(merged)
      }
      guard combination.allSatisfy(hasFailed), let last = combination.last else { continue }
      var merged = ExpectedOutcome()
      for (number, other) in combination.enumerated() {
        merged.merge(other, isFinal: number == combination.count - 1)
        merged.report(numbers + [number + 1], other)
      }
      merged.output = last.output
      merged.isInterrupted = last.isInterrupted
      results.append(merged)
    }
    if results.isEmpty {
      var blocked = ExpectedOutcome()
      for (number, outcome) in combinations[0].enumerated() {
        blocked.merge(outcome, isFinal: false)
        blocked.reports[numbers + [number + 1]] = ExpectedOutcome.Report(
          end: outcome.output.last?.end?.status, isOptional: true)
      }
      results = [blocked]
    }
    return results
  }
}

extension [ExpectedOutcome] {
  /// The first of them, marked if others are omitted.
  fileprivate func limited(to maximum: Int) -> [ExpectedOutcome] {
    guard count > maximum else { return self }
    return prefix(maximum).map {
      var outcome = $0
      outcome.isOneOfMany = true
      return outcome
    }
  }
}

extension ExpectedOutcome {
  /// Whether the response fails without a start.
  var isFailureWithoutStart: Bool { isFailure && !output.contains(where: \.isStart) }

  /// Whether the response fails without a message.
  var isFailure: Bool {
    guard let end = output.last?.end else { return false }
    return end.isError && !output.contains(where: \.isMessage)
  }
}
