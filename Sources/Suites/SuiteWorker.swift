import CommandLine
import Output
import RPCProtocols
import Session
import SuiteReports
import System

/// Runs one suite in this process.
package struct SuiteWorker {
  private let path: String
  private let invocation: Invocation
  private let options: SuiteOptions
  private let schemaCommand: Session.SchemaCommand

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

  /// Runs the suite. What prevents that is an event, too.
  ///
  /// - Parameter emit: Receives the events of the file.
  package func run(_ emit: @escaping (SuiteEvent) -> Void) {
    let begin = MonotonicClock.now
    // A signal before the first call must not end the process without a report.
    _ = Interrupt.install()
    do {
      try run(Suite(path, parsing: SuitePath.read(path, named: path)), emit)
    } catch {
      let message = (error as? Failure)?.message
      let problem = SuiteError(
        what: message?.what ?? path, why: message?.why ?? "\(error)", hint: message?.hint)
      emit(.fileEnd(SuiteFileEnd(file: path, error: problem, duration: MonotonicClock.now - begin)))
    }
  }

  private func run(_ suite: Suite, _ emit: @escaping (SuiteEvent) -> Void) throws {
    let capture = try OutputCapture()
    let console = Console(output: capture.descriptor, error: capture.descriptor)
    console.error.configure(Diagnostics(invocation))
    let session = try Session(
      console, SessionState(invocation, target: invocation.configuredTarget), isInteractive: false,
      schemaCommand: schemaCommand)
    defer { session.finish() }
    session.goldenFiles = SessionGoldenFiles(
      directory: SuitePath.resolve("", besides: path), isUpdating: options.updatesGoldenFiles)
    let recordings = options.recordings.map { SuiteRecordings(options, $0, of: path) }
    let chain = session.chain
    try recordings?.begin(session)
    session.chain.hideFromCommandLines(besides: chain)
    SuiteRunner(suite, session, options, capture, emit: emit).run()
    try recordings?.end(session)
  }
}
