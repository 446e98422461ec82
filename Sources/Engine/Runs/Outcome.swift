import RPCurlPlatform
import RPCurlProgram

/// How a step has ended.
package enum Outcome {
  case succeeded
  /// It has failed by itself, with this exit status.
  case failed(RunMode.Event, ExitStatus)
  /// It was canceled together with others.
  case givenUp
}

/// Counts how the steps of `--each` and `--repeat` have ended.
package struct Tally {
  /// What is counted.
  package enum Unit: String {
    case call
    case time
  }

  private let unit: Unit
  private let failsEarly: Bool
  /// The steps that ended by themselves, and those of them that failed or succeeded.
  package private(set) var completed = 0
  package private(set) var failed = 0
  package private(set) var succeeded = 0
  /// The first step that failed, by its number.
  private var first: (number: Int, status: ExitStatus)?

  /// Counts nothing yet.
  ///
  /// - Parameters:
  ///   - unit: What is counted.
  ///   - failsEarly: Whether the first failure ends the run (`--fail-early`).
  package init(_ unit: Unit, failsEarly: Bool) {
    (self.unit, self.failsEarly) = (unit, failsEarly)
  }

  /// The exit status: that of the first step that failed; nil if none has.
  package var status: ExitStatus? { first?.status }

  /// Counts a step. Returns what follows.
  package mutating func add(_ outcome: Outcome, number: Int) -> RunMode.Effect {
    switch outcome {
    case .givenUp: return .goesOn
    case .succeeded:
      completed += 1
      succeeded += 1
      return .goesOn
    case .failed(let event, let status):
      if event != .invalidStep { completed += 1 }
      failed += 1
      if first.map({ number < $0.number }) ?? true { first = (number, status) }
      return RunMode.rows.effect(of: event, failsEarly: failsEarly)
    }
  }

  /// The error of a signal that has ended the run.
  package var interruption: Failure {
    let words = completed == 1 ? "\(unit.rawValue) was" : "\(unit.rawValue)s were"
    let failures = failed > 0 ? ", \(failed) of them failed" : ""
    return Failure(Interrupt.status, "", "\(Interrupt.reason): \(completed) \(words) completed\(failures)")
  }

  /// The error of a run of several steps, some of which failed; nil if none did.
  ///
  /// - Parameters:
  ///   - count: The number of steps that have begun.
  ///   - end: Why it ended there; empty if it ran to its end.
  package func summary(of count: Int, end: String = "") -> ErrorReport? {
    guard let first, count > 1 else { return nil }
    let number = unit == .call ? "call \(first.number)" : "number \(first.number)"
    let why = "\(failed) of \(count) \(unit.rawValue)s failed, the first is \(number)\(end)"
    return ErrorReport(Failure.Message(what: "", why: why), first.status)
  }
}
