import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// Runs one suite in this process.
package struct SuiteWorker {
  private let path: String
  private let invocation: Invocation
  private let options: SuiteOptions
  private let schemaCommand: Session.SchemaCommand
  private let secrets = SessionSecrets()

  /// Prepares a run.
  ///
  /// - Parameters:
  ///   - path: The file; `-` for standard input.
  ///   - invocation: The options of its calls.
  ///   - options: What runs, and how.
  ///   - schemaCommand: Runs `list`, `describe`, `template` or `export`.
  package init(
    _ path: String, _ invocation: Invocation, _ options: SuiteOptions,
    schemaCommand: @escaping Session.SchemaCommand
  ) {
    self.path = path
    self.invocation = invocation
    self.options = options
    self.schemaCommand = schemaCommand
  }

  /// What is wrong with the suite. Makes no call.
  package func check() throws -> (suite: Suite, failures: [Failure]) {
    let suite = try SuiteFiles.read(path, waitLimit: invocation.duration(.maxTime))
    let session = try session(OutputCapture())
    defer { session.finish() }
    let failures = SuiteCheck(suite, session, options).failures.map { line, failure in
      failure.prefixed(SessionPlace(path, line: line).description)
    }
    return (suite, failures)
  }

  /// Runs the suite. What prevents that is an event, too.
  ///
  /// - Parameter emit: Receives the events of the file.
  /// - Returns: The error of a signal that has arrived meanwhile; nil if none has.
  package func run(_ emit: @escaping (SuiteEvent) -> Void) -> Failure? {
    let begin = MonotonicClock.now
    // A signal before the first call must not end the process without a report.
    _ = Interrupt.install()
    do {
      return try run(SuiteFiles.read(path, waitLimit: invocation.duration(.maxTime)), emit)
    } catch {
      var end = SuiteFileEnd(
        file: path, errors: [SuiteError(error, secrets)], duration: MonotonicClock.now - begin)
      end.isInterrupted = Interrupt.failure != nil
      emit(.fileEnd(end))
      return Interrupt.failure
    }
  }

  private func session(_ capture: OutputCapture) throws -> Session {
    var console = Console(capture)
    console.runFiles = options.runFiles
    console.error.configure(Diagnostics(invocation))
    let session = try Session(
      console, SessionState(invocation, target: invocation.configuredTarget), isInteractive: false,
      schemaCommand: schemaCommand, secrets: secrets)
    session.goldenFiles = SessionGoldenFiles(
      besides: path, isUpdating: options.updatesGoldenFiles, in: options.runFiles)
    return session
  }

  private func run(_ suite: Suite, _ emit: @escaping (SuiteEvent) -> Void) throws -> Failure? {
    let capture = OutputCapture()
    let session = try session(capture)
    let result = try run(suite, session, capture, emit)
    var end = result.end
    let printed = capture.take()
    if !printed.isEmpty { end.output = secrets.apply(printed) }
    if session.console.reports.areIncomplete {
      end.errors.append(SuiteError(what: "", why: "a report of an interceptor is incomplete"))
    }
    emit(SuiteEvent.fileEnd(end).limited)
    return result.interruption
  }

  /// Runs the suite to the end of the session.
  private func run(
    _ suite: Suite, _ session: Session, _ capture: OutputCapture, _ emit: @escaping (SuiteEvent) -> Void
  ) throws -> (end: SuiteFileEnd, interruption: Failure?) {
    defer {
      session.finish()
      session.console.output.flush()
    }
    if let pipe = options.reportPipe {
      let loop = session.client.loop
      loop.watch(pipe) { [unowned loop] in
        loop.unwatch(pipe)
        Interrupt.request()
      }
    }
    let recordings = options.recordings.map { SuiteRecordings(options, $0, of: path) }
    let chain = session.chain
    try recordings?.begin(session)
    session.chain.hideFromCommandLines(besides: chain)
    if let (line, failure) = SuiteCheck(suite, session, options).failures.first {
      let error = SuiteError(options.explained(failure, of: path), line: line, secrets)
      return (SuiteFileEnd(file: path, errors: [error], duration: .zero), nil)
    }
    var result = SuiteRunner(suite, session, options, capture) { emit($0.limited) }.run()
    do { try recordings?.end(session) } catch { result.end.errors.append(SuiteError(error, secrets)) }
    return result
  }
}
