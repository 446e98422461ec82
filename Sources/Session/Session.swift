import Calls
import CommandLine
import Glibc
import Interception
import Interceptors
import Output
import Protobuf
import RPCClient
import RPCProtocols
import System
import Terminal
import Transport

/// A session on a server: what its calls are made by, the streams that are open, and the loop around both.
///
/// Commands run one after the other; while one waits for a call, everything that is open goes on.
package final class Session {
  /// Runs a command that prints a part of the schema, as on the command line.
  package typealias SchemaCommand = (_ invocation: Invocation, _ query: () throws -> SchemaQuery) throws ->
    Void

  package let clients: ClientSource
  package let client: RPCClient
  /// Whether somebody types.
  package let isInteractive: Bool
  package let environment: (String) -> String? = EnvironmentVariables.value

  /// What calls are made by; `setState` changes it.
  package private(set) var state: SessionState
  package private(set) var options: SessionOptions
  package let schema = SessionSchema()
  /// Runs `list`, `describe`, `template` or `export`.
  package let schemaCommand: SchemaCommand
  package var chain: SessionChain
  package var streams = SessionStreams()
  /// The call that the prompt waits for.
  package var foreground: SessionStream?
  package var bindings: SessionVariables
  package var record: SessionRecord
  package var transcript: SessionTranscript?
  /// The text that was edited last, for each method.
  package var edited: [String: String] = [:]
  /// The script that is run, and the line of it.
  package var place: String?
  package var scriptDepth = 0
  /// Calls that were opened by a script and have failed since.
  private var failures: [(place: String?, status: ExitStatus)] = []
  /// How the session ends, once it is to.
  package private(set) var end: ExitStatus?

  private var input: (any LineInput)?
  private var reader = SessionStatementReader()
  private var lines: [String?] = []
  private var interrupts: [Bool] = []
  /// Who waits for the schema; called when it is known, or cannot be had.
  package var learners: [() -> Void] = []
  /// Whether Ctrl-C was typed last, when there was nothing to interrupt.
  private var isLeaving = false
  private var pump: OutputFlusher?

  /// Starts a session, without a word to the server.
  package init(_ state: SessionState, isInteractive: Bool, schemaCommand: @escaping SchemaCommand) throws {
    self.schemaCommand = schemaCommand
    self.isInteractive = isInteractive
    self.state = state
    options = state.options
    clients = ClientSource(verbosity: options.output.verbose, showsSecrets: options.output.showSecrets)
    client = try clients.client()
    bindings = SessionVariables(environment: environment)
    chain = try SessionChain(state.chain, verbosity: options.output.verbose)
    record = SessionRecord(state)
    _ = try settings(options, state.target ?? Self.noTarget, MethodName(service: "", method: ""))
    listen()
    pump = OutputFlusher(client.loop) { [weak self] isBehind in
      guard let self else { return }
      for stream in streams.open { stream.screen.setOutputBehind(isBehind) }
      foreground?.screen.setOutputBehind(isBehind)
    }
  }

  /// Hears what interceptors have to say, which may be on any thread; the terminal belongs to this one.
  private func listen() {
    let mailbox = client.loop.mailbox
    let log = ChainSource.log(showingDebug: options.output.verbose > 1)
    client.log = { record in mailbox.post { log(record) } }
  }

  // MARK: Running

  /// Takes lines until there are no more; gives how the session ends.
  package func run(_ input: any LineInput) throws -> ExitStatus {
    self.input = input
    defer { finish() }
    TerminalMultiplexer.aside = { body in input.aside(body) }
    input.onLine = { [weak self] line in
      self?.lines.append(line)
      self?.input?.pause()
    }
    input.onInterrupt = { [weak self] hadText in self?.interrupts.append(hadText) }
    var shown = prompt
    input.ask(shown)
    while end == nil {
      let isIdle = try wait {
        !self.lines.isEmpty || !self.interrupts.isEmpty || !self.learners.isEmpty
          || self.isInteractive && shown != self.prompt
      }
      if !isIdle {
        interrupted(hadText: false)
      } else if !interrupts.isEmpty {
        interrupted(hadText: interrupts.removeFirst())
      } else if !learners.isEmpty {
        learn()
      } else if !lines.isEmpty {
        take(lines.removeFirst())
      }
      guard end == nil, lines.isEmpty else { continue }
      shown = prompt
      input.ask(shown)
    }
    return end ?? .success
  }

  /// Runs a script to its end, or to the first command that fails.
  package func run(script path: String) throws {
    defer { finish() }
    do {
      try runScript(path)
      if end == nil { try finishStreams() }
    } catch {
      cancelAll("the script failed")
      throw error
    }
    if let end, end != .success { throw Failure(reported: end) }
    try throwFailureOfStream()
  }

  private func finish() {
    cancelAll("the session ends")
    TerminalMultiplexer.aside = nil
    input?.close()
    chain.unload()
    pump?.finish()
    transcript = nil
  }

  /// One line, or the end of input.
  private func take(_ line: String?) {
    isLeaving = false
    do {
      guard let line else { return try endOfInput() }
      transcript?.typed(prompt, line)
      guard let statement = try reader.add(line) else { return }
      input?.remember(statement.text)
      try execute(statement)
    } catch {
      tell(error)
    }
  }

  /// Ctrl-D half-closes the current stream; where there is none, and at the end of a pipe, the session ends.
  private func endOfInput() throws {
    if reader.isWithin {
      reader.reset()
      tell(Failure(.input, "standard input", "the JSON ends too early"))
      guard isInteractive else {
        try finishStreams()
        return leave(.input)
      }
      return
    }
    if isInteractive, let stream = streams.current {
      halfClose(stream)
      record.add("close \(stream.number ?? 0)")
      return
    }
    try finishStreams()
    leave(.success)
  }

  /// Ends the session after the command that runs.
  package func leave(_ status: ExitStatus) {
    if end == nil { end = status }
  }

  /// Tells what is wrong; the session goes on.
  package func tell(_ error: any Error) {
    let failure = error as? Failure ?? Failure(.internalError, "internal error", "\(error)")
    guard let words = failure.words else { return }
    StandardOutput.remark(ErrorReport(words, failure.status).rendered)
  }

  /// What was typed of a statement that goes on.
  package var begun: String { reader.begun }

  /// What to type next to.
  package var prompt: String {
    if reader.isWithin { return "... " }
    return streams.current.map { "\($0.title)> " } ?? "rpcurl> "
  }

  // MARK: Waiting

  /// Runs the loop until `isDone` holds; `false` when a signal came before.
  package func wait(until isDone: () -> Bool) throws(Failure) -> Bool {
    _ = try CommandLoop(client.loop).run {
      settle()
      return Interrupt.isPending || isDone()
    }
    return !Interrupt.isPending
  }

  /// Lets go of streams that are over.
  private func settle() {
    for stream in streams.takeDone() {
      if let status = conclude(stream) {
        if stream.place != nil { failures.append((stream.place, status)) }
      } else {
        notice("\(stream.title) ended")
      }
    }
    if streams.open.isEmpty, foreground == nil { chain.settle() }
  }

  /// Tells what there is to tell about a call that is over; gives how it failed, if it has.
  package func conclude(_ stream: SessionStream) -> ExitStatus? {
    defer { stream.forget() }
    let status = stream.screen.printer.conclude()
    if let failure = stream.screen.printer.failure { tell(failure) }
    return status ?? stream.screen.printer.failure?.status
  }

  /// Says something that is for people only.
  package func notice(_ text: String) {
    guard isInteractive, StandardError.showsRemarks else { return }
    StandardOutput.remark("* \(TerminalText.escape(text))\n")
  }

  /// Waits for streams to end; Ctrl-C cancels them.
  package func finishStreams() throws(Failure) {
    for stream in streams.open { stream.halfClose() }
    try waitForEnd(of: streams.open)
  }

  /// Waits until all of `awaited` are over; Ctrl-C cancels them.
  package func waitForEnd(of awaited: [SessionStream]) throws(Failure) {
    while !(try wait { awaited.allSatisfy(\.isDone) }) {
      for stream in awaited { stream.cancel(Interrupt.reason) }
      noteSignal()
    }
  }

  package func cancelAll(_ reason: String) {
    for stream in streams.open { stream.cancel(reason) }
    if let foreground { foreground.cancel(reason) }
    let all = streams.open
    _ = try? wait { all.allSatisfy(\.isDone) }
    // A round more, so that what was canceled is reset on the wire.
    try? client.loop.run { true }
  }

  /// Forgets what earlier scripts have opened.
  package func forgetFailuresOfStreams() {
    failures.removeAll()
  }

  /// What a script has opened and failed since ends it.
  package func throwFailureOfStream() throws(Failure) {
    guard scriptDepth > 0 || input == nil, let failure = failures.first else { return }
    failures.removeAll()
    throw Failure(failure.status, failure.place ?? "", "the stream that was opened here failed")
  }

  // MARK: Ctrl-C

  /// Ctrl-C at the prompt: drops what was typed, or cancels the current stream, or leaves.
  private func interrupted(hadText: Bool) {
    noteSignal()
    guard end == nil else { return }
    if reader.isWithin {
      reader.reset()
      return
    }
    if hadText { return }
    if let stream = streams.current ?? streams.open.last {
      stream.cancel("interrupted")
      notice("\(stream.title) canceled")
      record.add("cancel \(stream.number ?? 0)")
      try? waitForEnd(of: [stream])
      return
    }
    guard isInteractive, !isLeaving else { return leave(.interrupted) }
    isLeaving = true
    notice("Ctrl-C again, or Ctrl-D, ends the session")
  }

  /// Takes note of a signal, if one came, and waits for the next one. SIGTERM ends the session, and any ends a script.
  package func noteSignal() {
    guard Interrupt.isPending else { return }
    if input == nil || Interrupt.status != .interrupted { leave(Interrupt.status) }
    Interrupt.rearm()
    FlushDeadline.calm()
  }

  // MARK: Settings

  /// Changes what calls are made by; wrong options leave it as it was.
  package func setState(_ change: (inout SessionState) throws -> Void) throws {
    var changed = state
    try change(&changed)
    let parsed = changed.options
    _ = try settings(parsed, changed.target ?? Self.noTarget, MethodName(service: "", method: ""))
    if changed.target != state.target || parsed.server.plaintext != options.server.plaintext {
      schema.forgetServer()
    }
    state = changed
    options = parsed
    StandardError.configure(Diagnostics(changed.invocation))
    clients.show(verbosity: options.output.verbose, showsSecrets: options.output.showSecrets)
    listen()
  }

  /// For a session that names no server yet.
  private static let noTarget = Positional("http://localhost", .session)

  private func settings(
    _ options: SessionOptions, _ argument: Positional, _ name: MethodName
  ) throws -> CallSettings {
    guard options.output.format != .binary else {
      throw Failure(
        .usage, "binary", "messages of a session stand between other text", hint: "use text, or json")
    }
    let target: Target
    do throws(Failure) {
      target = try Target.parse(server: argument.text, isPlaintext: options.server.plaintext)
    } catch {
      throw error.at(argument.origin)
    }
    return try CallSettings(
      options, target, name,
      isTerminal: StandardOutput.isTerminal && isInteractive, environment)
  }

  /// The settings for calls of a method.
  package func settings(for name: MethodName) throws -> CallSettings {
    guard let target = state.target else {
      throw Failure(.usage, "target", "no server is named", hint: "target URL")
    }
    return try settings(options, target, name)
  }

  /// The server as a source of the schema, if it is to be asked.
  package func server() throws -> ReflectionSource? {
    guard options.reflection.reflect ?? !options.schema.hasSources else { return nil }
    return try settings(for: MethodName(service: "", method: "")).reflection(options, clients, environment)
  }

  /// All that is known of the schema.
  package func knownSchema() throws -> DescriptorPool {
    try schema.pool(options, server: server())
  }

  /// Everything that a call of the method needs.
  package func plan(_ text: String) throws -> CallPlan {
    guard
      let written = MethodName(text)
        ?? MethodName("Service/\(text)").map({ MethodName(service: "", method: $0.method) })
    else {
      throw Failure(.usage, text, "not a method name", hint: "a method's own name, or pkg.Service/Method")
    }
    let server = try server()
    let found = try schema.method(written, options, server: server)
    let name = MethodName(service: found.1.service, method: found.1.name)
    var plan = try CallPlan(
      options, settings(for: name), found, reflection: server, sharesConnection: true, idles: true)
    plan.chain = chain.source
    return plan
  }

  /// Whether output cannot be written now.
  package var isOutputBehind: Bool { pump?.isBehind ?? false }

  /// Takes no lines for a while: something else reads from the terminal.
  package func pauseInput() { input?.pause() }
}
