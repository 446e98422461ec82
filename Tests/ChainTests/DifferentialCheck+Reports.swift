import RPCurlProtocols

@testable import RPCurlChain

// What interceptors and the caller receive of attempts and of metrics.
extension DifferentialCheck {
  /// An interceptor, or the caller, with the reports that it has received.
  private struct Observer {
    let name: String
    /// Its place; -1 for the caller.
    let index: Int
    /// The numbers of the attempt that it belongs to.
    let numbers: [Int]
    let reports: [ReceivedReport]
  }

  /// The numbers of the attempt that a path names, as far as it is further out than an interceptor.
  private func numbers(_ path: String, upTo index: Int) -> [Int] {
    var numbers: [Int: Int] = [:]
    let digits = path.compactMap(\.wholeNumberValue)
    for place in stride(from: 0, to: digits.count - 1, by: 2) { numbers[digits[place]] = digits[place + 1] }
    return makers.filter { $0 < index }.map { numbers[$0] ?? 1 }
  }

  private func numbers(_ instance: ScriptedInterceptor) -> [Int] {
    numbers(instance.path, upTo: instance.interceptor.index)
  }

  /// The interceptors that the request's start has reached, as far as it is known.
  private var reached: [ScriptedInterceptor] {
    run.instances.filter { !$0.requestLines.isEmpty || !$0.responseLines.isEmpty }
  }

  private var observers: [Observer] {
    let instances = reached.filter { $0.stages.contains(.attemptEnd) }
    return [Observer(name: "caller", index: -1, numbers: [], reports: run.reports)]
      + instances.map {
        Observer(
          name: DifferentialModel.key($0.interceptor.index, $0.path), index: $0.interceptor.index,
          numbers: numbers($0), reports: $0.reports)
      }
  }

  /// Whether an observer receives the report of an attempt: it is further out than the interceptor that made it.
  private func receives(_ observer: Observer, _ numbers: [Int]) -> Bool {
    !numbers.isEmpty && numbers.starts(with: observer.numbers) && makers[numbers.count - 1] > observer.index
  }

  // MARK: - Attempts

  /// Rules of reports for every call.
  func reportInvariants() -> String? {
    // The attempts that are known to have started.
    var started: Set<[Int]> = []
    for instance in reached { started.formUnion(prefixes(numbers(instance))) }
    for wire in run.wires { started.formUnion(prefixes(numbers(wire.path, upTo: .max))) }
    for observer in observers {
      let received = observer.reports.map { observer.numbers + $0.numbers }
      if Set(received).count != received.count { return "\(observer.name) received a report twice" }
      if let number = started.first(where: { receives(observer, $0) && !received.contains($0) }) {
        return "\(observer.name) received no report of attempt \(number)"
      }
      for report in observer.reports {
        if report.isAfterMetrics { return "\(observer.name) received a report after the metrics" }
        let nested = observer.reports.filter {
          $0.numbers.count == report.numbers.count + 1 && $0.numbers.starts(with: report.numbers)
        }
        if nested.count != report.nestedCount { return "\(observer.name): nested attempts of \(report)" }
        if report.hasWait != report.numbers.contains(where: { $0 > 1 }) {
          return "\(observer.name): wait of \(report)"
        }
      }
    }
    for instance in run.instances where !instance.stages.contains(.attemptEnd) {
      if !instance.reports.isEmpty { return "I\(instance.interceptor.index) received an undeclared report" }
    }
    return nil
  }

  private func prefixes(_ numbers: [Int]) -> [[Int]] {
    numbers.isEmpty ? [] : (1...numbers.count).map { Array(numbers.prefix($0)) }
  }

  /// How the reports disagree with an outcome.
  func reportMismatch(_ outcome: ExpectedOutcome) -> String? {
    for observer in observers {
      for report in observer.reports {
        let numbers = observer.numbers + report.numbers
        guard receives(observer, numbers), let expected = outcome.reports[numbers] else {
          return "\(observer.name): report of \(numbers) not expected"
        }
        guard report.end == expected.end || expected.cuts.contains(report.end) else {
          return "\(observer.name): report of \(numbers) expected \(expected)"
        }
        if report.isAfterEnd, !expected.cuts.contains(report.end) {
          return "\(observer.name): report of \(numbers) after the end"
        }
      }
      for (numbers, expected) in outcome.reports where !expected.isOptional && receives(observer, numbers) {
        if !observer.reports.contains(where: { observer.numbers + $0.numbers == numbers }) {
          return "\(observer.name): report of \(numbers) expected"
        }
      }
    }
    return nil
  }

  // MARK: - Metrics

  /// Rules of metrics and outcomes for every call.
  func metricsInvariants() -> String? {
    guard let outcome = run.outcome else { return nil }
    guard run.metrics.count == 1, let metrics = run.metrics.first, metrics == outcome.metrics else {
      return "the caller received metrics \(run.metrics.count) times"
    }
    if Lines.end(outcome.end) != run.callerLines.last { return "the caller finished with \(outcome.end)" }
    for wire in run.wires where wire.measureCount != 1 { return "wire \(wire.path) was not measured once" }
    for instance in run.instances {
      let name = DifferentialModel.key(instance.interceptor.index, instance.path)
      let isReached = !instance.requestLines.isEmpty || !instance.responseLines.isEmpty
      let count = instance.metrics.count
      if !instance.stages.contains(.metrics) ? count != 0 : count > 1 || (isReached && count != 1) {
        return "\(name) received metrics \(count) times"
      }
      guard isReached, let finish = instance.finishes.first else { continue }
      let numbers = numbers(instance)
      let end =
        numbers.isEmpty
        ? Lines.status(outcome.end.error) : run.reports.first { $0.numbers == numbers }?.end
      if Lines.status(finish.end.error) != end { return "\(name) finished with \(finish.end)" }
    }
    let leaves = run.reports.filter { $0.nestedCount == 0 }.count
    if metrics.attempts != max(leaves, 1) { return "\(metrics.attempts) attempts in the metrics" }
    return valuesOfMetrics(metrics)
  }

  /// Each value is what the wires have measured, and what interceptors on the way have added.
  private func valuesOfMetrics(_ metrics: CallMetrics) -> String? {
    let isHeld = run.instances.contains { $0.metrics.isHeld && !numbers($0).isEmpty }
    // The metrics of an attempt that an interceptor holds need not be among those of the call.
    guard !run.isGivenUp, !isHeld else { return nil }
    func bytes(furtherInThan index: Int, _ attempt: [Int]) -> Int {
      let wires = run.wires.filter { numbers($0.path, upTo: .max).starts(with: attempt) }
      let further = run.instances.filter {
        $0.interceptor.index > index && numbers($0).starts(with: attempt)
      }
      return wires.count * DifferentialRun.Wire.measuredBytes
        + further.reduce(0) { $0 + $1.metrics.addedBytes }
    }
    for instance in reached where instance.metrics.count == 1 {
      let index = instance.interceptor.index
      if instance.metrics.receivedBytes != bytes(furtherInThan: index, numbers(instance)) {
        return "\(DifferentialModel.key(index, instance.path)) received other metrics"
      }
    }
    return metrics.receivedBytes == bytes(furtherInThan: -1, []) ? nil : "the caller received other metrics"
  }
}
