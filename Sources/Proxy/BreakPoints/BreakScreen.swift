import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlTransport

/// The prompt of `--interactive`: reads commands while calls run, and shows what these print.
final class BreakScreen {
  private enum Arrival {
    /// A line; nil is the end of input.
    case line(InputLine?)
    /// Ctrl-C at the prompt.
    case interrupt(hadText: Bool)
  }

  private let controller: BreakController
  private let loop: EventLoop
  private let console: Console
  private let title: String
  private let environment = EnvironmentVariables.value
  private let isInteractive = isatty(0) == 1
  private let input: any LineInput
  private var arrivals: [Arrival] = []
  /// Whether the last input was a Ctrl-C with nothing to interrupt.
  private var isLeaving = false
  private var hasEnded = false

  init(_ controller: BreakController, _ loop: EventLoop, _ console: Console, _ options: Invocation) {
    (self.controller, self.loop, self.console) = (controller, loop, console)
    title = CommandTable[options.command].name
    input = LineInputs.make(
      loop, console, options, isInteractive: isInteractive, BreakAssistant(controller), environment,
      isSecret: nil, notice: { console.error.remark("* \($0)\n") })
  }

  /// Runs commands until the user ends them, or a signal arrives.
  ///
  /// - Parameter whenBehind: Called when the reader of standard output falls behind, and when it has caught up.
  func run(whenBehind: @escaping (_ isBehind: Bool) -> Void) throws(Failure) {
    let flusher = OutputFlusher(console.output, loop, whenBehind: whenBehind)
    console.output.interruptAtFailure()
    console.error.reserve { [mailbox = loop.mailbox, error = console.error] in
      mailbox.post { error.lookAfterOthers() }
    }
    console.terminal.aside = { [input] body in input.aside(body) }
    defer {
      console.terminal.aside = nil
      input.close()
      flusher.handOver()
      console.error.release()
    }
    input.onLine = { [weak self] in self?.take(.line($0)) }
    input.onInterrupt = { [weak self] in self?.take(.interrupt(hadText: $0)) }
    notice("TAB completes, and \"help\" lists the commands; Ctrl-D ends")
    while !hasEnded {
      let shown = prompt
      input.ask(shown)
      guard
        try CommandLoop(loop).wait(until: {
          !self.arrivals.isEmpty || self.isInteractive && shown != self.prompt
        })
      else { return }
      if !arrivals.isEmpty { handle(arrivals.removeFirst()) }
    }
  }

  /// The prompt, with the number of calls that are held.
  private var prompt: LinePrompt {
    let count = controller.points.held.count
    return LinePrompt("\(title)\(count == 0 ? "" : " (\(count) held)")> ")
  }

  private func take(_ arrival: Arrival) {
    arrivals.append(arrival)
    input.pause()
  }

  private func handle(_ arrival: Arrival) {
    let wasLeaving = isLeaving
    isLeaving = false
    do throws(Failure) {
      switch arrival {
      case .line(nil): hasEnded = true
      case .line(let line?):
        input.remember(line.text)
        if let failure = line.failure { throw failure }
        try perform(try controller.run { points throws(Failure) in try points.run(line.text) })
      case .interrupt(hadText: true): break
      case .interrupt(hadText: false):
        hasEnded = wasLeaving
        isLeaving = !wasLeaving
        if isLeaving { notice("press Ctrl-C again, or Ctrl-D, to end") }
      }
    } catch {
      guard let message = error.message else { return }
      console.output.report(ErrorReport(message, error.status))
    }
  }

  private func perform(_ actions: [BreakPoints.Action]) throws(Failure) {
    for action in actions {
      switch action {
      case .print(let lines): console.output.write(Array(lines.map { "\($0)\n" }.joined().utf8))
      case .edit(let call, let text):
        let written = try edit(text)
        try perform(try controller.run { points throws(Failure) in try points.edit(call, written) })
      case .end: hasEnded = true
      // The controller performs them.
      case .proceed, .fail, .respond: break
      }
    }
  }

  /// The text as the user's editor saves it. Calls go on meanwhile; what they print appears after the editor has ended.
  private func edit(_ text: String) throws(Failure) -> String {
    guard isInteractive else { return try edited(text) }
    return try console.terminal.lend(holding: console.output) { () throws(Failure) in try edited(text) }
  }

  private func edited(_ text: String) throws(Failure) -> String {
    try ExternalEditor.edit(text, environment, unchanged: "the call is still held") {
      descriptor throws(Failure) in
      var hasEnded = false
      loop.watch(descriptor) { hasEnded = true }
      defer { loop.unwatch(descriptor) }
      while !(try CommandLoop(loop).wait(until: { hasEnded })) {
        // The editor handles Ctrl-C.
        if Interrupt.isTermination, let failure = Interrupt.failure { throw failure }
        Interrupt.rearm()
      }
      return hasEnded
    }
  }

  private func notice(_ text: String) {
    if isInteractive, console.output.isTerminal { console.output.remark("* \(text)\n") }
  }
}
