import RPCurlPlatform
import RPCurlProgram

/// A way to run steps, which decides what a failure and a signal mean. `effect(of:)` is the only place that says so;
/// rpcurl(1) has the same table.
package enum RunMode {
  /// Lines of a session, typed or piped.
  case prompt
  /// A file of session commands: `run` and `source`.
  case file
  /// The tests of a suite.
  case suite
  /// A call for each message or row: `--each`.
  case rows
  /// The calls of a load.
  case load

  /// What can happen to a step.
  package enum Event {
    /// A call ended with another status than ok: by its server, a lost connection or the deadline.
    case failedCall
    /// A check of a call does not hold.
    case failedCheck
    /// The step cannot be made: its data, names or settings are invalid.
    case invalidStep
    /// The first Ctrl-C. A second one ends the process.
    case interrupt
    /// SIGTERM, SIGHUP, or a failed standard output.
    case termination

    /// The event of the signal that is pending.
    package static var ofSignal: Event {
      Interrupt.isFailedOutput || Interrupt.isTermination ? .termination : .interrupt
    }
  }

  /// What follows.
  package enum Effect {
    /// It is printed, and the next step is run.
    case goesOn
    /// The call ends, and the next step is run.
    case endsCall
    /// A check of the status may follow, which decides. Otherwise it has the effect of a check that does not hold.
    case awaitsCheck
    /// It is counted: the exit status is that of the first failure.
    case counts
    /// The test ends, and the next one is run.
    case endsTest
    /// The run ends: what it has opened is closed, and what it has measured is reported.
    case endsRun
  }

  /// The effect of an event.
  ///
  /// - Parameters:
  ///   - event: What happened.
  ///   - failsEarly: Whether the first failure ends the run (`--fail-early`).
  package func effect(of event: Event, failsEarly: Bool = false) -> Effect {
    switch (event, self) {
    case (.failedCall, .rows) where failsEarly, (.failedCheck, .rows) where failsEarly: .endsRun
    case (.failedCall, .prompt), (.failedCheck, .prompt), (.invalidStep, .prompt): .goesOn
    case (.failedCall, .file), (.failedCall, .suite): .awaitsCheck
    case (.failedCall, .rows), (.failedCheck, .rows), (.failedCall, .load), (.failedCheck, .load): .counts
    case (.failedCheck, .suite), (.invalidStep, .suite): .endsTest
    case (.interrupt, .prompt): .endsCall
    case (.failedCheck, .file), (.invalidStep, _), (.interrupt, _), (.termination, _): .endsRun
    }
  }
}

extension Failure {
  /// What ended a call with this failure.
  package var event: RunMode.Event {
    switch status {
    case .connection, .tls: .failedCall
    case .assertion: .failedCheck
    case _ where ExitStatus.ofCalls.contains(status.rawValue): .failedCall
    default: .invalidStep
    }
  }
}
