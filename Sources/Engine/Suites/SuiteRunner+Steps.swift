import RPCurlBase
import RPCurlProgram
import RPCurlProtocols

/// The steps of a test, which may be repeated.
extension SuiteRunner {
  /// Runs a step, again and again if it may be retried. Returns the last attempt.
  func run(_ step: Suite.Step) throws -> StepRun {
    let begin = MonotonicClock.now
    let calls = session.calls
    var attempts = 0
    while true {
      attempts += 1
      // The first step, without a name, is the test itself: what its last attempt has changed stays.
      let scope = step.name == nil && step.retry != nil ? session.beginScope(keepsVariables: true) : nil
      let (error, mayPass) = try runOnce(step)
      var ended = self.step ?? StepRun(name: step.name, line: step.line)
      ended.duration = MonotonicClock.now - begin
      ended.attempts = attempts
      self.step = ended
      guard mayPass, let retry = step.retry, ended.duration + retry.pause < retry.limit else {
        if let scope { session.keepChanges(of: scope) }
        if let error { throw error }
        return ended
      }
      if let scope { try session.end(scope) }
      session.endCalls(since: calls, "the step is repeated")
      session.failures = []
      try session.sleep(for: retry.pause)
      try checkTime()
    }
  }

  /// Runs a step once. Returns its error, and whether a step that has not passed may pass if it is repeated.
  private func runOnce(_ step: Suite.Step) throws -> (error: (any Error)?, mayPass: Bool) {
    self.step = StepRun(name: step.name, line: step.line)
    let limit = options.stepLimit.map {
      stop(after: $0, "the step took longer than \($0.brief)", hint: "--step-timeout sets the limit")
    }
    defer { limit?() }
    let scope = step.name == nil ? nil : session.beginScope(keepsVariables: true)
    do {
      for command in step.commands { try execute(command) }
      try settle()
    } catch is StepEnded {
    } catch {
      let mayPass = isTransient(error)
      if let scope { try? session.end(scope) }
      return (error, mayPass)
    }
    if let scope { try session.end(scope) }
    return (nil, self.step?.failures.isEmpty == false)
  }

  /// Whether an error is one of the connection, of the server's schema, of a call of the step or of the wait for a
  /// response. Others are mistakes of the suite.
  private func isTransient(_ error: any Error) -> Bool {
    guard interruption == nil, !isTimeOver, let status = (error as? Failure)?.status else { return false }
    let hasFailedCall = session.failures.contains { failed in
      step?.calls.contains { $0.stream === failed.stream } == true
    }
    switch status {
    case .connection, .tls: return true
    // Without reflection, the schema is that of files.
    case .schema: return hasFailedCall || (try? session.server()) != nil
    case .input: return hasFailedCall || (error as? Failure)?.cause == .streamEnded
    // The status of the call for the schema.
    case _ where ExitStatus.ofCalls.contains(status.rawValue): return true
    default: return hasFailedCall
    }
  }
}
