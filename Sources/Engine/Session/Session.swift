import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// A session: the settings of its calls, its open streams, and the loop that runs both.
///
/// Commands run one after the other. Open streams continue while a command waits.
package final class Session {
  /// Runs a command that prints a part of the schema.
  package typealias SchemaCommand = (
    _ invocation: Invocation, _ console: Console, _ query: () throws -> SchemaQuery
  ) throws -> Void

  /// Where the session prints.
  package let console: Console
  package let clients: ClientSource
  package let client: LoopClient
  /// Whether lines are typed on a terminal.
  package let isInteractive: Bool
  package let environment: (String) -> String?
  /// The credentials that are known, which transcripts and reports do not contain.
  package let secrets: SessionSecrets

  /// The settings of calls; changed by `setState`.
  package internal(set) var state: SessionState
  package internal(set) var options: Invocation
  package let schema: SessionSchema
  /// Runs `list`, `describe`, `template` or `export`.
  package let schemaCommand: SchemaCommand
  package var chain: SessionChain
  package var streams = SessionStreams()
  /// The call that the prompt waits for.
  package var foreground: SessionStream?
  /// The call that `last` and checks are about: that of the last command about a call.
  package internal(set) var lastCall: SessionStream? { didSet { bindings.last = lastCall } }
  /// Follows the commands and calls; nil if what fails ends the script.
  package weak var observer: (any SessionObserver)?
  /// The files that checks compare responses with.
  package var goldenFiles = SessionGoldenFiles()
  package var bindings: SessionVariables
  package var record: SessionRecord
  package var transcript: SessionTranscript?
  /// The fields that the schema lacks and that were reported: a type and numbers.
  var reportedFields: Set<String> = []
  /// The last edited text of each method.
  package var edited: [String: String] = [:]
  /// The file and line of the running script.
  package var place: SessionPlace?
  package var scriptDepth = 0
  /// The calls and streams that failed, until a check of their status follows.
  package var failures: [FailedCall] = []
  /// The exit status, once the session is to end.
  package private(set) var end: ExitStatus?
  /// The error of the signal that has ended the session.
  package private(set) var interruption: Failure?

  private(set) var input: (any LineInput)?
  /// Whether lines are edited on a terminal that can draw.
  var editsLines: Bool { input is LineEditor }
  private var reader: SessionStatementReader
  private var arrivals: [Arrival] = []
  /// How many signals were handled.
  private(set) var signals = 0
  private var interrupts: [Bool] = []
  /// Called when the schema is fetched, or cannot be.
  package var learners: [() -> Void] = []
  /// Whether the last input was a Ctrl-C with nothing to interrupt.
  private var isLeaving = false
  private var pump: OutputFlusher?

  /// What has arrived from the input.
  private enum Arrival {
    /// A line, or the lines of a text that was edited as one; nil is the end of input.
    case line(InputLine?)
    /// The lines of such a text after its first statement.
    case rest(String)
    /// A statement whose lines were read.
    case statement(Result<SessionStatement, any Error>)
    /// The text of the line, which the user wants to edit in an editor.
    case edit(String)
  }

  /// Starts a session. Does not connect to the server.
  ///
  /// - Parameters:
  ///   - console: Where the session prints.
  ///   - state: The settings of its calls.
  ///   - isInteractive: Whether lines are typed on a terminal.
  ///   - schemaCommand: Runs `list`, `describe`, `template` or `export`.
  ///   - secrets: Receives the credentials of the session.
  ///   - environment: Returns the value of an environment variable.
  /// - Throws: `Failure` if the settings are invalid.
  package init(
    _ console: Console, _ state: SessionState, isInteractive: Bool, schemaCommand: @escaping SchemaCommand,
    secrets: SessionSecrets = SessionSecrets(),
    environment: @escaping (String) -> String? = EnvironmentVariables.value
  ) throws {
    self.console = console
    self.secrets = secrets
    self.environment = secrets.noting(environment)
    schema = SessionSchema(console.error)
    self.schemaCommand = schemaCommand
    self.isInteractive = isInteractive
    reader = SessionStatementReader(endsStrings: isInteractive)
    self.state = state
    options = state.invocation
    console.error.configure(Diagnostics(options))
    secrets.add(of: state)
    clients = ClientSource(console, options)
    client = try clients.client()
    let functions = TemplateFunctions(
      SystemValues(waitLimit: options.duration(.maxTime)), seed: options.seed)
    bindings = SessionVariables(functions, environment: self.environment)
    console.error.reserve { [mailbox = client.loop.mailbox, error = console.error] in
      mailbox.post { error.lookAfterOthers() }
    }
    console.output.interruptAtFailure()
    chain = try SessionChain(state.chain, ChainSetup(console, options))
    record = SessionRecord(state)
    secrets.use(try settings(of: state, options).secretNames, in: state)
    pump = OutputFlusher(console.output, client.loop) { [weak self] isBehind in
      guard let self else { return }
      for stream in streams.open { stream.printer.setOutputBehind(isBehind) }
      foreground?.printer.setOutputBehind(isBehind)
    }
    bindings.schema = { [weak self] () throws(LanguageError) in try self?.schemaOfValues() }
  }

  /// Prints log records of interceptors. They log from any thread; the terminal belongs to this one.
  package var log: LogSink {
    let mailbox = client.loop.mailbox
    let log = console.log(showingDebug: options.verbosity > 1)
    return { record in mailbox.post { log(record) } }
  }

  // MARK: Running

  /// Runs lines until the input or the session ends. Returns the exit status.
  package func run(_ input: any LineInput) throws -> ExitStatus {
    self.input = input
    defer { finish() }
    console.terminal.aside = { body in input.aside(body) }
    input.onLine = { [weak self] line in self?.take(line) }
    input.onInterrupt = { [weak self] hadText in self?.interrupts.append(hadText) }
    input.onEdit = { [weak self] text in
      self?.arrivals.append(.edit(text))
      self?.input?.pause()
    }
    greet()
    do {
      try waitForServer()
    } catch {
      report(error)
      leave((error as? Failure)?.status ?? .internalError)
    }
    var shown = prompt
    if end == nil { input.ask(shown) }
    while end == nil {
      let isIdle = try wait {
        !self.arrivals.isEmpty || !self.interrupts.isEmpty || !self.learners.isEmpty
          || self.isInteractive && shown != self.prompt
      }
      if !isIdle {
        interrupted(hadText: false)
      } else if !interrupts.isEmpty {
        interrupted(hadText: interrupts.removeFirst())
      } else if !learners.isEmpty {
        learn()
      } else if !arrivals.isEmpty {
        handle(arrivals.removeFirst())
      }
      guard end == nil, arrivals.isEmpty else { continue }
      shown = prompt
      input.ask(shown)
    }
    return end ?? .success
  }

  /// Ends the session: cancels its calls, and lets its interceptors write what they have collected.
  package func finish() {
    cancelAll("the session ends")
    if (try? wait { !self.client.hasLingeringCalls }) != true {
      client.cancelLingeringCalls(Interrupt.reason)
    }
    console.terminal.aside = nil
    input?.close()
    chain.conclude(client, log: console.log(showingDebug: options.verbosity > 1))
    chain.unload()
    pump?.finish()
    console.error.lookAfterOthers()
    transcript = nil
    console.error.release()
  }

  /// Takes a line. One within a statement is read at once: a paste may have many, and a pause costs more than a line.
  private func take(_ line: InputLine?) {
    guard let line, arrivals.isEmpty, interrupts.isEmpty, reader.isWithin else {
      arrivals.append(.line(line))
      input?.pause()
      return
    }
    do {
      guard let statement = try read(line) else {
        input?.ask(prompt)
        return
      }
      arrivals.append(.statement(.success(statement)))
    } catch {
      arrivals.append(.statement(.failure(error)))
    }
    input?.pause()
  }

  /// Handles what has arrived.
  private func handle(_ arrival: Arrival) {
    isLeaving = false
    do {
      let read: SessionStatement?
      switch arrival {
      case .line(nil): return try endOfInput()
      case .line(let line?): read = try readText(line)
      case .rest(let text): read = try readText(InputLine(text))
      case .statement(let result): read = try result.get()
      case .edit(let text): return try editLine(text)
      }
      guard let statement = read else { return }
      input?.remember(statement.text)
      try execute(statement)
    } catch {
      // One that has ended the command.
      handleSignal()
      report(error)
    }
  }

  /// Reads a line, or the first statement of a text of several lines; the others are handled after it. A text that is invalid can
  /// be recalled as a whole.
  private func readText(_ text: InputLine) throws -> SessionStatement? {
    let lines = text.text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count > 1 else { return try read(text) }
    do {
      for (index, line) in lines.enumerated() {
        guard let statement = try read(InputLine(String(line))) else { continue }
        let rest = lines[(index + 1)...].joined(separator: "\n")
        if !rest[...].withoutOuterSpace.isEmpty { arrivals.insert(.rest(rest), at: 0) }
        return statement
      }
    } catch {
      input?.remember(text.text)
      throw error
    }
    return nil
  }

  /// Adds a line to the statement. An invalid statement can be recalled from the history, too.
  private func read(_ line: InputLine) throws -> SessionStatement? {
    transcript?.typed(prompt.text, line.text, within: reader.begun)
    do {
      return try reader.add(line)
    } catch {
      input?.remember(reader.rejected)
      throw error
    }
  }

  /// Handles Ctrl-D and the end of a pipe: half-closes the current stream of a prompt, otherwise ends the session.
  private func endOfInput() throws {
    var failure = input?.failure
    let isLost = failure != nil || !isInteractive
    if reader.isWithin {
      failure = failure ?? reader.failure ?? Failure(.input, "standard input", "unexpected end of the JSON")
      reader.reset()
    }
    if let failure {
      report(failure)
      guard isLost else { return }
      try finishStreams()
      return leave(.input)
    }
    if isInteractive, let stream = streams.current {
      halfClose(stream)
      record.add("close \(stream.number ?? 0)", of: stream.saved, isNumbered: true)
      return
    }
    try finishStreams()
    leave(.success)
  }

  /// Ends the session after the current command.
  package func leave(_ status: ExitStatus) {
    if end == nil { end = status }
  }

  /// Prints an error; the session continues.
  package func report(_ error: any Error) {
    let failure = error as? Failure ?? Failure(.internalError, "internal error", "\(error)")
    guard let message = failure.message else { return }
    console.output.report(ErrorReport(message, failure.status))
  }

  /// The prompt of the next line.
  package var prompt: LinePrompt {
    if reader.isWithin { return LinePrompt(LineEditor.continuation) }
    guard let stream = streams.current else { return LinePrompt("rpcurl> ") }
    return LinePrompt("\(markedTitle(of: stream))> ", color: isColored ? mark(of: stream)?.color : nil)
  }

  // MARK: Waiting

  /// Runs the loop until `isDone` returns true. Returns false if a signal arrived first.
  ///
  /// - Parameters:
  ///   - purpose: Returns what is awaited, which is printed on a terminal after a second; nil to print nothing.
  ///   - isDone: Whether the wait is over.
  package func wait(
    for purpose: (() -> String?)? = nil, until isDone: () -> Bool
  ) throws(Failure) -> Bool {
    try CommandLoop(client.loop).wait(for: purpose, console) {
      settle()
      return isDone()
    }
  }

  /// Prints the results of calls that have ended. At a prompt, commands see what is printed.
  private func settle() {
    let isShown = mode == .prompt
    for stream in streams.open where stream.isDone {
      conclude(stream)
      if isShown { showEnd(of: stream) }
    }
    if foreground == nil, streams.open.allSatisfy(\.isDone) { chain.settle() }
  }

  /// Prints the result of a call that has ended.
  private func conclude(_ stream: SessionStream) {
    guard stream.conclude() else { return }
    streams.limit()
    if let call = stream.call { secrets.keep(call.secrets) }
    if let failure = stream.printer.failure { report(failure) }
    guard stream.number != nil, stream.failure == nil || !stream.isCanceled else { return }
    notice("ended: \(stream.status), \(stream.count)", of: stream)
  }

  /// Lets commands see the end of a call that has ended. The failure of a stream of a file counts from now on.
  package func showEnd(of stream: SessionStream) {
    conclude(stream)
    guard stream.showEnd() else { return }
    streams.end(stream)
    observer?.ended(stream)
    guard let status = stream.failure, stream.number != nil, stream.place != nil else { return }
    // Its end is no failure of a stream that is canceled. What interceptors have found about it is one.
    if !stream.isCanceled || status == .assertion { failures.append(FailedCall(stream, status)) }
  }

  /// Prints a notice, if the session is interactive.
  package func notice(_ text: String, colored mark: StreamMark? = nil) {
    guard isInteractive, console.error.diagnostics.showsRemarks else { return }
    let lines = TextLayout.wrapped(
      "* \(TerminalText.escape(text))", columns: console.error.noticeColumns, indent: 2)
    for line in lines {
      let shown = mark.map { line.replacing($0.character, with: $0.colored) } ?? line
      console.output.remark("\(shown)\n")
    }
  }

  /// Half-closes all streams and waits for their end; Ctrl-C cancels them.
  package func finishStreams() throws(Failure) {
    for stream in streams.open { stream.halfClose() }
    try waitForEnd(of: streams.open)
  }

  /// Waits until all of `awaited` have ended, and lets commands see that; Ctrl-C cancels them.
  package func waitForEnd(of awaited: [SessionStream]) throws(Failure) {
    let names = {
      let titles = awaited.filter { !$0.isDone && $0.number != nil }.map(\.title)
      return titles.isEmpty ? nil : "the end of \(titles.joined(separator: ", ")); Ctrl-C cancels it"
    }
    while !(try wait(for: names) { awaited.allSatisfy(\.isDone) }) {
      console.error.endEchoedLine()
      for stream in awaited where !stream.isDone {
        cancel(stream, Interrupt.reason)
        if let number = stream.number { record.add("cancel \(number)", of: stream.saved, isNumbered: true) }
      }
      handleSignal()
    }
    for stream in awaited { showEnd(of: stream) }
  }

  /// Cancels a stream or a call, and reports that.
  package func cancel(_ stream: SessionStream, _ reason: String) {
    stream.cancel(reason)
    notice("canceled", of: stream)
  }

  package func cancelAll(_ reason: String, except kept: [SessionStream] = []) {
    if let foreground { foreground.cancel(reason) }
    let all = streams.open.filter { stream in !kept.contains { $0 === stream } }
    for stream in all { stream.cancel(reason) }
    _ = try? wait { all.allSatisfy(\.isDone) }
    for stream in all { showEnd(of: stream) }
    // Run the loop once more to send the resets of canceled streams.
    try? client.loop.run { true }
  }

  // MARK: Ctrl-C

  /// Handles Ctrl-C at the prompt: drops an incomplete statement, cancels the current stream, or ends the session.
  private func interrupted(hadText: Bool) {
    let hasDropped = handleSignal()
    guard end == nil else { return }
    if reader.isWithin {
      reader.reset()
      return
    }
    if hadText || hasDropped { return }
    if let stream = streams.current ?? streams.open.last {
      cancel(stream, "interrupted")
      record.add("cancel \(stream.number ?? 0)", of: stream.saved, isNumbered: true)
      try? waitForEnd(of: [stream])
      return
    }
    guard isInteractive, !isLeaving else { return leave(.interrupted) }
    isLeaving = true
    notice("press Ctrl-C again, or Ctrl-D, to end the session")
  }

  /// Handles a pending signal and waits for the next one. A file that is sourced at the prompt ends by its call, and so
  /// does what was pasted at it.
  ///
  /// - Returns: Whether the rest of a paste was dropped.
  @discardableResult
  package func handleSignal() -> Bool {
    guard Interrupt.isPending else { return false }
    if (input == nil ? mode : .prompt).effect(of: .ofSignal) == .endsRun {
      interruption = interruption ?? Interrupt.failure
      leave(Interrupt.status)
    }
    Interrupt.rearm()
    signals += 1
    console.deadline.lift()
    let count = arrivals.count
    arrivals.removeAll { if case .rest = $0 { true } else { false } }
    guard input?.dropPaste() == true || arrivals.count < count else { return false }
    notice("the rest of what was \(arrivals.count < count ? "typed" : "pasted") is dropped")
    return true
  }

  /// Lets commands run after the end, such as those of a teardown. The next signal counts as the first.
  package func resume() {
    (end, interruption) = (nil, nil)
    Interrupt.rearm()
  }

  /// Whether output waits for its reader.
  package var isOutputBehind: Bool { pump?.isBehind ?? false }

  /// Adds a line to the history.
  package func remember(_ line: String) { input?.remember(line) }
}
