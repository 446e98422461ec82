import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

/// Compares what a real call has given with the outcomes that the model allows.
struct DifferentialCheck {
  let call: CallDescription
  let run: DifferentialRun
  private let observations: Observations
  /// The interceptors that make attempts.
  let makers: [Int]

  init(_ call: CallDescription, _ run: DifferentialRun) {
    self.call = call
    self.run = run
    makers = call.interceptors.filter { !$0.isPlain && !$0.isDeclining }.map(\.index)
    var observations = Observations()
    for instance in run.instances {
      let key = DifferentialModel.key(instance.interceptor.index, instance.path)
      observations.moments[key] = instance.moment
      observations.injections[key] = instance.injections
      observations.responseCounts[key] = instance.responseLines.count
      if instance.hasStartedResponse { observations.started.insert(key) }
      observations.requestEnds[key] = instance.requestEndCount
    }
    self.observations = observations
  }

  /// What disagrees; nil if the call is as the model says.
  func disagreement() -> String? {
    guard run.outcome != nil else { return "the call does not end\n" + actual }
    if run.isAmbiguous { return nil }
    if let broken = invariants() { return broken + "\n" + actual }
    let model = DifferentialModel(call: call, observations: observations)
    var reasons: [String] = []
    for outcome in model.outcomes(isCancelled: run.isCancelled) {
      if outcome.isOneOfMany { return nil }
      guard let reason = mismatch(outcome) else { return nil }
      reasons.append(reason)
    }
    return "of \(reasons.count) outcomes none matches:\n"
      + reasons.prefix(4).joined(separator: "\n") + "\n" + actual
  }

  // MARK: - Rules for every call

  private func invariants() -> String? {
    for instance in run.instances {
      let name = DifferentialModel.key(instance.interceptor.index, instance.path)
      if instance.finishes.count != 1 { return "\(name) finished \(instance.finishes.count) times" }
      if instance.responseLines.count(where: { $0.hasPrefix("end") }) > 1, instance.interceptor.isPlain {
        return "\(name) received two ends"
      }
    }
    for wire in run.wires {
      // A verdict of another thread may end the call at the moment at which the server ends it.
      if wire.hasEnded, wire.isCancelled, call.usesThread { continue }
      if wire.hasEnded == wire.isCancelled { return "wire \(wire.path) ended \(wire.hasEnded)" }
    }
    if run.timerCount != 0 { return "\(run.timerCount) timers are left" }
    if !call.isRetried, run.finished != run.finished.sorted(by: >) {
      return "finished in the order \(run.finished)"
    }
    if let broken = reportInvariants() ?? metricsInvariants() { return broken }
    guard let chain = run.chain else { return nil }
    if chain.outbound.waitingCount + chain.inbound.waitingCount != 0 { return "values wait" }
    if chain.outbound.waitingBytes + chain.inbound.waitingBytes != 0 { return "bytes wait" }
    return nil
  }

  // MARK: - One outcome

  private func mismatch(_ outcome: ExpectedOutcome) -> String? {
    let expected = outcome.output.map(callerLine)
    if expected != run.callerLines { return "caller: expected \(expected)" }
    var keys: Set<String> = []
    for instance in run.instances {
      let key = DifferentialModel.key(instance.interceptor.index, instance.path)
      keys.insert(key)
      guard let expected = outcome.instances[key] else { return "\(key): not expected" }
      if let reason = mismatch(instance, expected) { return "\(key): \(reason)" }
    }
    for (key, instance) in outcome.instances where !keys.contains(key) {
      if !outcome.optional.contains(key), !instance.request.isEmpty { return "\(key): expected \(instance)" }
    }
    var paths: Set<String> = []
    for wire in run.wires {
      paths.insert(wire.path)
      guard let expected = outcome.wires[wire.path] else { return "wire \(wire.path): not expected" }
      let lines = wire.lines.filter { $0 != "cancel" }
      let agrees = expected.isWhole ? lines == expected.lines : expected.lines.starts(with: lines)
      if !agrees { return "wire \(wire.path): expected \(expected)" }
    }
    if let reason = reportMismatch(outcome) { return reason }
    for path in outcome.wires.keys where !paths.contains(path) && !outcome.optional.contains("wire" + path) {
      return "wire \(path): expected"
    }
    return nil
  }

  private func mismatch(_ instance: ScriptedInterceptor, _ expected: ExpectedOutcome.Instance) -> String? {
    if expected.isWhole, instance.stages.contains(.metrics), instance.metrics.count != 1 {
      return "\(instance.metrics.count) metrics"
    }
    let isRequestRight =
      expected.isWhole
      ? instance.requestLines == expected.request : expected.request.starts(with: instance.requestLines)
    if !isRequestRight { return "expected request\(expected.isWhole ? "" : " (part)") \(expected.request)" }
    let lines = instance.responseLines
    let receivesEnd = instance.stages.contains(.responseEnd)
    let hasEnd = expected.response.last?.hasPrefix("end") == true
    let isOver = hasEnd || !receivesEnd || (instance.moment.map { $0.kind != .cancel } ?? false)
    if lines == expected.response, isOver { return nil }
    guard !expected.cuts.isEmpty else { return "expected response \(expected.response)" }
    let isUnstarted = instance.requestLines.isEmpty
    if let last = lines.last, expected.cuts.contains(last), expected.response.starts(with: lines.dropLast()) {
      return nil
    }
    // An interceptor that retries may have the end of an attempt, and receives no other.
    if !instance.interceptor.isPlain, lines.last?.hasPrefix("end") == true,
      expected.response.starts(with: lines)
    {
      return nil
    }
    if !receivesEnd || isUnstarted, expected.response.starts(with: lines) { return nil }
    return "expected response \(expected.response), cut by \(expected.cuts)"
  }

  private func callerLine(_ value: ModelValue) -> String {
    switch value {
    case .requestStart, .requestEnd: "?"
    case .responseStart(let tags): "headers \(tags.joined(separator: ","))"
    case .responseEnd(let end): end.line
    case .message(let message):
      message.encoding.map { Lines.bytes(call.bytes(message.text, $0)) } ?? "typed \(message.text)"
    }
  }

  // MARK: - The report

  /// What all parts have received.
  private var actual: String {
    var lines = ["actual:", "  caller \(run.callerLines)\(run.isCancelled ? " cancelled" : "")"]
    lines += ["  \(run.reports)", "  \(run.metrics.map { ($0.receivedBytes, $0.attempts) })"]
    for instance in run.instances {
      let key = DifferentialModel.key(instance.interceptor.index, instance.path)
      lines.append("  \(key) request \(instance.requestLines)")
      lines.append("  \(key) response \(instance.responseLines)")
      if let moment = instance.moment { lines.append("  \(key) \(moment)") }
      if !instance.injections.isEmpty { lines.append("  \(key) \(instance.injections)") }
      if !instance.reports.isEmpty { lines.append("  \(key) \(instance.reports)") }
      lines.append("  \(key) \(instance.metrics) \(instance.finishes.map { Lines.end($0.end) })")
    }
    for wire in run.wires {
      lines.append("  wire \(wire.path) \(wire.lines)\(wire.hasEnded ? " ended" : "")")
    }
    return lines.joined(separator: "\n")
  }
}
