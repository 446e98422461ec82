import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// Scripts of session commands.
/// A call or stream that failed.
package struct FailedCall {
  package let stream: SessionStream
  let status: ExitStatus
  /// The commands to record if a check accepts the failure.
  var texts: [String]

  init(_ stream: SessionStream, _ status: ExitStatus, _ texts: [String] = []) {
    (self.stream, self.status, self.texts) = (stream, status, texts)
  }

  /// What happened. A failed assertion of an interceptor is a failed check with any status; so is a failure without a status.
  package var event: RunMode.Event {
    stream.printer.end?.error != nil && status != .assertion ? .failedCall : .failedCheck
  }
}

extension Session {
  /// How the commands that run now are run.
  var mode: RunMode { observer != nil ? .suite : scriptDepth > 0 || input == nil ? .file : .prompt }

  /// The limit of nested scripts.
  private static let depthLimit = 16

  /// Runs a script until its end or the first command that fails.
  package func run(script path: String, _ repetition: Repetition? = nil) throws {
    defer { finish() }
    try waitForServer()
    guard let repetition else { return try runOnce(path) }
    try repetition.run(client, console) { _ in
      let scope = beginScope(keepsVariables: false)
      defer { try? end(scope) }
      try runOnce(path)
      if end != nil, interruption == nil { resume() }
    }
  }

  private func runOnce(_ path: String) throws {
    do {
      try runScript(path)
      if end == nil { try finishStreams() } else { cancelAll("the script has ended") }
    } catch {
      cancelAll("the script failed")
      throw withStatusOfSignal(error)
    }
    if let end, end != .success { throw Failure(reported: end) }
    try throwFailure(unchecked: true)
  }

  /// Runs the commands of a file, once all of them were checked.
  ///
  /// - Parameters:
  ///   - path: The file; `-` for standard input.
  ///   - keepsGoing: Whether to print the error of a command and continue; the script fails at its end.
  /// - Throws: `Failure` with the file and line of the command that failed; if `keepsGoing`, of the first one.
  package func runScript(_ path: String, keepsGoing: Bool = false) throws {
    guard scriptDepth < Self.depthLimit else {
      throw Failure(.usage, path, "scripts are nested more than \(Self.depthLimit) deep")
    }
    let text = try FileContents.input(path, status: .usage, waitLimit: waitLimit)
    if scriptDepth == 0 {
      failures.removeAll()
      if !keepsGoing {
        var check = ScriptCheck(self)
        try check.check(script: path, text)
      }
    }
    let before = place
    scriptDepth += 1
    defer {
      scriptDepth -= 1
      place = before
    }
    var source = StatementSource(text)
    var firstError: (any Error)?
    func attempt(_ body: () throws -> Void) throws {
      do {
        try body()
      } catch {
        // The observer ends a step by an error of its own, whose reasons it has.
        let isNoted = observer != nil && !(error is Failure)
        let error = isNoted ? error : Self.placed(error, place?.description ?? path)
        guard keepsGoing, end == nil, observer?.isTimeOver != true else { throw error }
        if !isNoted { report(error) }
        // The result of a suite has those that are noted in any case.
        if firstError == nil || !isNoted && !(firstError is Failure) { firstError = error }
      }
    }
    while end == nil, let read = source.next() {
      try attempt { try settle(before: try? read.get()) }
      place = SessionPlace(path, line: source.line)
      try attempt {
        try execute(read.get())
        // Let open streams progress, and handle signals.
        if !(try wait { true }) { handleSignal() }
        try throwFailure(unchecked: false)
      }
    }
    if end == nil { try attempt { try throwFailure(unchecked: true) } }
    guard let firstError, end == nil else { return }
    // Each error was reported. What is printed is not the result of a suite.
    if observer == nil, let failure = firstError as? Failure { throw Failure(reported: failure.status) }
    throw firstError
  }

  /// Throws the failure of a call that a command may not follow.
  private func settle(before statement: SessionStatement?) throws {
    if let observer {
      if let statement { try observer.settle(before: statement) }
    } else if statement?.verb?.mayFollowFailure != true {
      try throwFailure(unchecked: true)
    }
  }

  /// An error that ended a script, with the exit status of the signal that caused it.
  func withStatusOfSignal(_ error: any Error) -> any Error {
    guard let signal = interruption ?? Interrupt.failure, let message = (error as? Failure)?.message else {
      return error
    }
    return Failure(signal.status, message)
  }

  /// Throws the failure of a call that no check can expect.
  ///
  /// - Parameter unchecked: Whether to throw one that no check has followed, too. The observer decides about these itself.
  package func throwFailure(unchecked: Bool) throws(Failure) {
    let ending: [RunMode.Effect] =
      unchecked && observer == nil ? [.awaitsCheck, .endsRun] : [.endsRun, .endsTest]
    guard let failure = failures.first(where: { ending.contains(mode.effect(of: $0.event)) }) else { return }
    failures.removeAll { ending.contains(mode.effect(of: $0.event)) }
    let why = failure.stream.number == nil ? "the command failed" : "the stream opened here failed"
    let error = Failure(failure.status, "", why)
    throw failure.stream.place.map { error.prefixed($0.description) } ?? error
  }

  /// Forgets the failures of a call whose status a check decides about, and records the call if the check holds. At the
  /// prompt, another check may follow one that does not hold.
  func acceptFailures(of stream: SessionStream, checkHolds: Bool) {
    guard checkHolds || mode.effect(of: .failedCall) == .awaitsCheck else { return }
    if checkHolds { stream.saved?.isExpected = true }
    for failure in failures where checkHolds && failure.stream === stream {
      for text in failure.texts { record.add(text) }
    }
    failures.removeAll { $0.stream === stream }
  }

  private static func placed(_ error: any Error, _ place: String) -> Failure {
    (error as? Failure)?.prefixed(place) ?? Failure(.internalError, place, "\(error)")
  }
}
