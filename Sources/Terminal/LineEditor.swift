import Glibc
import Output
import RPCProtocols
import System
import Transport

/// Lines that are typed on a terminal: edited, completed, and kept whole while responses come in between.
///
/// Keys are read when there are some, and nothing waits. What is drawn is drawn here, since libedit knows nothing of
/// what else the terminal shows.
package final class LineEditor: LineInput {
  /// Why lines cannot be edited.
  package enum Unavailable: Error {
    /// Standard input or output is no terminal that can be drawn on.
    case terminal
    /// There is no libedit, for this reason.
    case library(String)
  }

  package var onLine: ((String?) -> Void)?
  package var onInterrupt: ((_ hadText: Bool) -> Void)?

  private let loop: EventLoop
  private let assistant: any LineAssistant
  private let engine: EditingEngine
  private let isStyled: Bool
  private let signals: Int32?
  private let screen = OutputStream(1)
  private var keys = KeyReader()
  private var history: HistoryFile?
  /// The line as it stands. It is read when it is needed, not behind each character of what is pasted.
  private var line: EditingEngine.Line {
    get {
      if let known = knownLine { return known }
      let line = engine.line
      knownLine = line
      return line
    }
    set { knownLine = newValue }
  }
  private var knownLine: EditingEngine.Line? = EditingEngine.Line()
  private var prompt = ""
  /// Whether lines are taken.
  private var isAsking = false
  private var isClosed = false
  /// Whether keys are being worked off, which calls out.
  private var isWorking = false
  /// Whether the schema is asked for, to complete the line.
  private var isLearning = false
  /// Whether the shell has the terminal, and this runs in the background.
  private var isAway = false
  /// Where a line is drawn: the row of the cursor, from the first.
  private var drawnRow: Int?

  /// Prepares to ask on standard input and output.
  ///
  /// - Parameters:
  ///   - isStyled: Whether prompt and hints are shown in bold and dim.
  ///   - isSecret: Whether a line contains a credential, so that the history file must not contain it.
  package init(
    on loop: EventLoop, assistant: any LineAssistant, isStyled: Bool,
    isSecret: @escaping (_ line: String) -> Bool,
    environment: (String) -> String? = EnvironmentVariables.value
  ) throws(Unavailable) {
    guard isatty(0) == 1, isatty(1) == 1, !["", "dumb"].contains(environment("TERM") ?? "") else {
      throw .terminal
    }
    CharacterWidth.prepare()
    engine = try EditingEngine(historySize: HistoryFile.limit)
    guard engine.knowsTerminal else { throw .terminal }
    self.loop = loop
    self.assistant = assistant
    self.isStyled = isStyled
    history = HistoryFile(environment: environment, isSecret: isSecret)
    for line in history?.lines() ?? [] { engine.remember(line) }
    signals = WindowSignals.install()
    if let signals {
      loop.watch(signals) { [weak self] in self?.noticeSignals() }
    }
  }

  // MARK: For the session

  package func ask(_ prompt: String) {
    guard !isClosed else { return }
    self.prompt = prompt
    guard !isAsking else {
      if !isWorking { draw() }
      return
    }
    isAsking = true
    guard !isWorking else { return }
    begin()
    // What was typed ahead.
    if !keys.isEmpty { loop.schedule(at: .now) { [weak self] in self?.work() } }
  }

  package func pause() {
    guard isAsking else { return }
    isAsking = false
    if !isWorking { rest() }
  }

  package func aside(_ body: () throws -> Void) rethrows {
    guard drawnRow != nil else { return try body() }
    hide()
    defer {
      StandardOutput.flush()
      draw()
    }
    try body()
  }

  package func remember(_ line: String) {
    // What was typed on several lines comes back on one.
    let line = String(line.map { $0.isNewline ? " " : $0 })
    engine.remember(line)
    history?.add(line)
  }

  package func close() {
    guard !isClosed else { return }
    isClosed = true
    isAsking = false
    rest()
    if let signals { loop.unwatch(signals) }
    history?.close()
  }

  // MARK: Keys

  /// Takes the terminal and shows the line.
  private func begin() {
    guard TerminalModes.take() else { return end() }
    watchKeys()
    draw()
  }

  private func watchKeys() {
    loop.watch(0) { [weak self] in self?.read() }
  }

  /// Gives the terminal back.
  private func rest() {
    hide()
    loop.unwatch(0)
    TerminalModes.giveBack()
  }

  private func read() {
    guard TerminalModes.isForeground else { return waitForTerminal() }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(0, &buffer, buffer.count)
    if count > 0 {
      keys.add(buffer[..<count])
      work()
    } else if count == 0 || errno != EINTR && errno != EAGAIN {
      end()
    }
  }

  /// The terminal is gone.
  private func end() {
    loop.unwatch(0)
    drawnRow = nil
    onLine?(nil)
  }

  /// Works off what was typed, as long as lines are taken.
  private func work() {
    guard !isWorking else { return }
    isWorking = true
    while isAsking, let key = keys.next() { take(key) }
    isWorking = false
    guard !isAsking else {
      // Of what is pasted, not each piece.
      if !hasMoreKeys { draw() }
      return
    }
    readRestOfPaste()
    rest()
  }

  /// Whether more was typed that can be read.
  private var hasMoreKeys: Bool {
    var ready = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, 0) == 1
  }

  /// Takes what has come of a paste, before the terminal shows it by itself.
  private func readRestOfPaste() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while keys.isPasting, hasMoreKeys {
      let count = Glibc.read(0, &buffer, buffer.count)
      guard count > 0 else { return }
      keys.add(buffer[..<count])
    }
  }

  private func take(_ key: KeyReader.Key) {
    switch key {
    case .typed(let characters): for character in characters { feed(character) }
    case .pasted(let character): feed(character)
    case .suspend: suspend()
    case .quit:
      leaveLine()
      TerminalModes.giveBack()
      raise(SIGQUIT)
    }
  }

  private func feed(_ character: Unicode.Scalar) {
    let event = engine.feed(character)
    knownLine = nil
    switch event {
    case .edited: break
    case .line(let text):
      line = EditingEngine.Line(text: Array(text.unicodeScalars), cursor: text.unicodeScalars.count)
      finishLine()
      callOut { onLine?(text) }
    case .end:
      line = EditingEngine.Line()
      finishLine()
      callOut { onLine?(nil) }
    case .interrupt:
      let hadText = !line.isEmpty
      line.text += "^C".unicodeScalars
      finishLine()
      callOut { onInterrupt?(hadText) }
    case .complete: complete()
    case .clearScreen:
      drawnRow = nil
      write("\u{1B}[H\u{1B}[2J")
    }
  }

  /// Calls the session. What it shows then comes after the line, and before the next.
  private func callOut(_ body: () -> Void) {
    body()
    StandardOutput.flush()
  }

  private func suspend() {
    leaveLine()
    TerminalModes.giveBack()
    // As the terminal would: the whole job stops.
    kill(0, SIGTSTP)
    comeBack()
  }

  private func noticeSignals() {
    let events = WindowSignals.take()
    if events.contains(.continued) {
      TerminalModes.forget()
      drawnRow = nil
      comeBack()
    } else if events.contains(.resized), drawnRow != nil {
      draw()
    }
  }

  private func comeBack() {
    guard isAsking else { return }
    guard TerminalModes.isForeground else { return waitForTerminal() }
    if TerminalModes.take() { draw() }
  }

  /// Looks from time to time whether the shell has given the terminal back: it does not tell a job that runs. Who reads
  /// before is stopped, within the reading.
  private func waitForTerminal() {
    loop.unwatch(0)
    guard !isAway else { return }
    isAway = true
    loop.schedule(at: .now + .milliseconds(100)) { [weak self] in
      guard let self else { return }
      isAway = false
      guard isAsking else { return }
      if TerminalModes.isForeground { watchKeys() }
      comeBack()
    }
  }

  // MARK: Completion

  private func complete() {
    guard !line.isSearched else { return }
    if !isLearning, assistant.mustLearn(toComplete: line.head) { return learn() }
    let completion = assistant.complete(line.head)
    let typed = completion.replaced
    let inserted = completion.inserted
    if inserted != typed {
      engine.replace(typed.unicodeScalars.count, by: inserted)
      knownLine = nil
    } else if completion.candidates.count > 1 {
      draw()
      aside { list(completion) }
    }
  }

  /// Has the session learn the schema, and then completes. The line stays as it is meanwhile.
  private func learn() {
    isLearning = true
    isAsking = false
    assistant.learn { [weak self] in
      guard let self, !isClosed else { return }
      ask(prompt)
      complete()
      isLearning = false
      draw()
    }
  }

  private func list(_ completion: Completion) {
    let size = TerminalModes.size
    let rows = CandidateList.rows(
      completion.candidates, columns: size.columns, limit: max(size.rows / 2, 4),
      width: CharacterWidth.columns)
    write(rows.map { $0 + "\n" }.joined())
  }

  // MARK: Drawing

  /// Draws the line over itself.
  private func draw() {
    draw(hint: line.isSearched ? "" : assistant.hint(line.head))
  }

  private func draw(hint: String) {
    guard TerminalModes.isTaken else { return }
    let size = TerminalModes.size
    let content = LineLayout.Content(
      prompt: prompt, text: line.text, cursor: line.cursor, hint: hint, isStyled: isStyled)
    let layout = LineLayout(content, columns: size.columns, height: size.rows)
    var output = clearing + layout.rows.joined(separator: "\r\n") + "\r"
    let up = layout.rows.count - 1 - layout.cursorRow
    if up > 0 { output += "\u{1B}[\(up)A" }
    if layout.cursorColumn > 0 { output += "\u{1B}[\(layout.cursorColumn)C" }
    write(output)
    drawnRow = layout.cursorRow
  }

  /// Goes to where the line begins, and clears from there on.
  private var clearing: String {
    guard let drawnRow else { return "\r\u{1B}[J" }
    return (drawnRow > 0 ? "\u{1B}[\(drawnRow)A" : "") + "\r\u{1B}[J"
  }

  private func hide() {
    guard drawnRow != nil else { return }
    write(clearing)
    drawnRow = nil
  }

  /// Leaves the line on the screen as it is now, and goes on below it.
  private func finishLine() {
    line.cursor = line.text.count
    leaveLine()
    line = EditingEngine.Line()
  }

  private func leaveLine() {
    let cursor = line.cursor
    line.cursor = line.text.count
    draw(hint: "")
    line.cursor = cursor
    write("\n")
    drawnRow = nil
  }

  private func write(_ text: String) {
    var text = text
    // When the terminal is gone, reading tells.
    text.withUTF8 { FlushDeadline.write($0, to: screen) }
  }
}
