import RPCurlBase
import RPCurlPlatform
import RPCurlProtocols
import RPCurlTransport

/// Reads lines from a terminal: editing, history, completion, and output above the line being edited.
///
/// Driven by the event loop; never blocks. Drawing happens here rather than in libedit, which is not informed of
/// what else the terminal shows.
package final class LineEditor: LineInput {
  package var onLine: ((InputLine?) -> Void)?
  package var onInterrupt: ((_ hadText: Bool) -> Void)?
  package var onEdit: ((_ text: String) -> Void)?

  /// The prompt of the lines of a statement after its first one.
  package static let continuation = "... "

  private enum State {
    /// No line is read; the terminal has its original modes.
    case paused
    /// Lines are read.
    case asking
    /// As `paused`, until the assistant can complete the line.
    case learning
    case closed
  }

  private let loop: EventLoop
  private let console: Console
  private let assistant: any LineAssistant
  private let engine: EditingEngine
  private let isStyled: Bool
  private let signals: Int32?
  private let screen = OutputStream(1)
  private var keys = KeyReader()
  private var historyFile: HistoryFile?
  package private(set) var history: [String] = []
  /// Why the history file is not used; nil if it is used, or does not exist.
  package private(set) var historyProblem: String?
  /// The current line. Reading it for each pasted character would take quadratic time.
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
  /// What was pasted and is not in the line yet: a thread of libedit reads each character that it is fed.
  private var pasted = String.UnicodeScalarView()
  /// The last line of a paste whose statement needed more lines at its start; nil if no line feed was pasted.
  private var pastedLine: String.UnicodeScalarView?
  /// When keys were read last.
  private var silentSince: MonotonicClock.Instant?
  private var prompt = LinePrompt("")
  /// The candidates below the line; nil if none are shown.
  private var menu: CompletionMenu?
  /// The search of the history that is shown in place of the line; nil if there is none.
  private var search: HistorySearch?
  /// What was searched for last.
  private var lastPattern: [Unicode.Scalar] = []
  private var undoSteps = UndoSteps()
  /// The line before the keys that are being handled.
  private var lineBefore = EditingEngine.Line()
  /// How many keys were typed.
  private var typedKeys = 0
  /// The word that the last Alt-. inserted, with the index of its line, and the number of that key.
  private var recalled: (word: String, index: Int, key: Int)?
  private var state = State.paused
  /// The rows of the line as it is drawn.
  private var lineRows = 1
  /// Whether `work` is running; it calls closures that may call it.
  private var isWorking = false
  /// The next check whether this process is in the foreground of its shell; nil unless it is in the background.
  private var foregroundCheck: EventLoop.TimerID?
  /// The row of the cursor within the drawn line; nil if nothing is drawn.
  private var drawnRow: Int? {
    didSet { console.terminal.note(showsLine: drawnRow != nil) }
  }

  /// Prepares to read from standard input and draw on standard output.
  ///
  /// - Parameters:
  ///   - loop: The event loop that watches the terminal.
  ///   - console: What else writes to the terminal.
  ///   - assistant: Completes lines and provides hints.
  ///   - isStyled: Whether the prompt is bold and hints are dim.
  ///   - environment: Returns the value of an environment variable.
  ///   - isSecret: Whether a line contains a credential; the history file must not contain it. Nil for no history file.
  /// - Returns: Nil if standard input or output is not a terminal with cursor control.
  /// - Throws: `SystemError` if libedit cannot be loaded.
  package init?(
    on loop: EventLoop, _ console: Console, assistant: any LineAssistant, isStyled: Bool,
    isSecret: ((_ line: String) -> Bool)?,
    environment: (String) -> String? = EnvironmentVariables.value
  ) throws(SystemError) {
    guard isatty(0) == 1, isatty(1) == 1, !["", "dumb"].contains(environment("TERM") ?? "") else {
      return nil
    }
    CharacterWidth.prepare()
    engine = try EditingEngine(historySize: HistoryFile.limit)
    guard engine.supportsTerminal else { return nil }
    self.loop = loop
    self.console = console
    self.assistant = assistant
    self.isStyled = isStyled
    historyFile = isSecret.flatMap { HistoryFile(environment: environment, isSecret: $0) }
    do { history = try historyFile?.lines() ?? [] } catch {
      historyProblem = "\(historyFile?.path ?? ""): \(error.reason)"
    }
    for line in history { engine.remember(line) }
    signals = WindowSignals.install()
    if let signals {
      loop.watch(signals) { [weak self] in self?.noticeSignals() }
    }
  }

  private var isAsking: Bool { if case .asking = state { true } else { false } }

  // MARK: For the session

  package func ask(_ prompt: LinePrompt) {
    switch state {
    case .closed: break
    case .asking:
      self.prompt = prompt
      if !isWorking { draw() }
    case .paused, .learning:
      self.prompt = prompt
      state = .asking
      guard !isWorking else { return }
      begin()
      // Handle input that was typed before.
      if !keys.isEmpty { loop.schedule(at: .now) { [weak self] in self?.work() } }
    }
  }

  package var failure: Failure? { nil }

  package func pause() {
    guard isAsking else { return }
    state = .paused
    if !isWorking { rest() }
  }

  package func aside(_ body: () throws -> Void) rethrows {
    guard drawnRow != nil else { return try body() }
    hide()
    defer {
      console.output.flush()
      draw()
    }
    try body()
  }

  package func dropPaste() -> Bool {
    defer { pasted.removeAll() }
    return keys.dropPaste()
  }

  package func remember(_ line: String) {
    engine.remember(line)
    // The file is written once for a paste of many lines.
    historyFile?.add(line, isLast: !keys.isPasting)
    if history.last != line { history.append(line) }
    if history.count > 2 * HistoryFile.limit { history.removeFirst(HistoryFile.limit) }
  }

  package func replace(by text: String) {
    undoSteps.add(line, .other)
    set(EditingEngine.Line(text))
  }

  package func close() {
    if case .closed = state { return }
    state = .closed
    rest()
    if let signals { loop.unwatch(signals) }
    do { try historyFile?.close() } catch {
      let path = TerminalText.escape(historyFile?.path ?? "")
      console.error.remark("* the last lines are not in the history: \(path): \(error.reason)\n")
    }
  }

  // MARK: Keys

  /// Switches the terminal to key-by-key input and shows the line, after the output of the line before it.
  private func begin() {
    console.output.flush()
    guard TerminalModes.enter() else { return end() }
    watchKeys()
    guard !keys.isPasting || keys.isEmpty else { return }
    historyFile?.flush()
    draw()
  }

  private func watchKeys() {
    loop.watch(0) { [weak self] in self?.read() }
  }

  /// Restores the terminal.
  private func rest() {
    hide()
    loop.unwatch(0)
    TerminalModes.restore()
  }

  private func read() {
    guard TerminalModes.isForeground else { return waitForTerminal() }
    // The end of a paste may be lost with what the terminal held when Ctrl-C was typed.
    let isLate = silentSince.map { $0 + .seconds(1) < .now } ?? false
    silentSince = .now
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = RPCurlPlatform.read(0, &buffer, buffer.count)
    if count > 0 {
      keys.add(buffer[..<count], afterSilence: isLate)
      work()
    } else if count == 0 || errno != EINTR && errno != EAGAIN {
      end()
    }
  }

  /// Handles the loss of the terminal.
  private func end() {
    loop.unwatch(0)
    drawnRow = nil
    onLine?(nil)
  }

  /// Handles typed keys while lines are read.
  private func work() {
    guard !isWorking else { return }
    isWorking = true
    lineBefore = line
    var change: UndoSteps.Change?
    while isAsking, let key = keys.next() {
      handle(key)
      let next = self.change(by: key)
      change = change ?? next == next ? next : .other
    }
    insertPasted()
    noteChange(change ?? .other)
    isWorking = false
    guard !isAsking else {
      // A paste is drawn when it has ended.
      if !hasMoreKeys, !keys.isPasting { draw() }
      return awaitEscape()
    }
    readRestOfPaste()
    rest()
  }

  /// Whether more input can be read now.
  private var hasMoreKeys: Bool {
    var ready = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, 0) == 1
  }

  /// Reads the rest of a paste, before the terminal echoes it.
  private func readRestOfPaste() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while keys.isPasting, hasMoreKeys {
      let count = RPCurlPlatform.read(0, &buffer, buffer.count)
      guard count > 0 else { return }
      keys.add(buffer[..<count])
    }
  }

  private func handle(_ key: KeyReader.Key) {
    if case .pasted(let character) = key { return paste(character) }
    insertPasted()
    pastedLine = nil
    if case .typed = key {} else { menu = nil }
    switch key {
    case .typed(let characters): type(characters)
    case .quoted(let character): feed(character)
    case .pasted: break
    case .suspend: suspend()
    case .quit:
      leaveLine()
      TerminalModes.restore()
      raise(SIGQUIT)
    }
  }

  private func feed(_ character: Unicode.Scalar) {
    let event = engine.feed(character)
    knownLine = nil
    switch event {
    case .edited: break
    case .line(let text): finishLine(text)
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
    case .clearScreen: clearScreen()
    case .undo: undo()
    case .lastWord: insertLastWord()
    case .edit: callOut { onEdit?(line.string) }
    case .search: search = HistorySearch(history, from: line, earlier: lastPattern)
    }
  }

  package func clearScreen() {
    drawnRow = nil
    write("\u{1B}[H\u{1B}[2J")
  }

  /// Handles a pasted character. A line feed ends a statement that is complete, and is a part of any other text.
  private func paste(_ character: Unicode.Scalar) {
    guard character == "\n" else {
      pasted.append(character)
      pastedLine?.append(character)
      return
    }
    let isAtEnd = line.cursor == line.text.count && !line.isSearched && search == nil
    if isAtEnd {
      let lines = pastedLine.map { String($0) } ?? line.string + String(pasted)
      let isWithin = assistant.needsMore(after: lines, isNew: pastedLine == nil)
      pastedLine = isWithin ? String.UnicodeScalarView() : nil
      if isWithin { return pasted.append("\n") }
      if line.isEmpty { return finishLine(String(pasted)) }
    } else if !line.isSearched, search == nil {
      return pasted.append("\n")
    }
    insertPasted()
    endSearch(isKept: true)
    feed("\n")
  }

  /// Inserts what was pasted.
  private func insertPasted() {
    guard !pasted.isEmpty else { return }
    menu = nil
    var text = pasted
    pasted.removeAll()
    if search != nil { return search?.add(Array(text)) ?? () }
    if line.isSearched { return text.forEach(feed) }
    // The editor begins a line with its first character.
    if line.isEmpty { feed(text.removeFirst()) }
    engine.replace(0, by: String(text))
    knownLine = nil
  }

  /// Takes a complete line.
  private func finishLine(_ text: String) {
    pasted.removeAll()
    pastedLine = nil
    line = EditingEngine.Line(text: Array(text.unicodeScalars), cursor: text.unicodeScalars.count)
    finishLine()
    callOut { onLine?(InputLine(text)) }
  }

  /// Calls the session. Its output appears between this line and the next.
  private func callOut(_ body: () -> Void) {
    body()
    console.output.flush()
  }

  // MARK: Changes

  private func set(_ line: EditingEngine.Line) {
    engine.set(line)
    knownLine = nil
  }

  private func change(by key: KeyReader.Key) -> UndoSteps.Change {
    switch key {
    case .pasted: .paste
    case .quoted: .letter
    case .typed([" "]): .blank
    case .typed(let key) where key.count == 1 && key[0].value > 0x20 && key[0] != "\u{7F}": .letter
    default: menu != nil ? .candidate : .other
    }
  }

  private func noteChange(_ change: UndoSteps.Change) {
    if line.text != lineBefore.text { undoSteps.add(lineBefore, change) }
  }

  private func undo() {
    noteChange(.other)
    if let earlier = undoSteps.undo() { set(earlier) }
    lineBefore = line
  }

  /// Inserts the last word of the line before in the history; if the last key did that, replaces it by that of an older line.
  private func insertLastWord() {
    let last = recalled.flatMap { $0.key == typedKeys - 1 ? $0 : nil }
    let words = history[..<(last?.index ?? history.count)]
    let found = words.indices.lazy.reversed().compactMap { index in
      LastWord.of(words[index]).map { (word: $0, index: index) }
    }
    guard let found = found.first(where: { $0.word != last?.word }) else {
      recalled?.key = typedKeys
      return
    }
    replace(last?.word ?? "", by: found.word)
    recalled = (found.word, found.index, typedKeys)
  }

  /// Ends the search of the history.
  ///
  /// - Parameter isKept: Whether the line that was found becomes the line.
  private func endSearch(isKept: Bool) {
    guard let ended = search else { return }
    search = nil
    if !ended.pattern.isEmpty { lastPattern = ended.pattern }
    guard isKept else { return }
    set(ended.found)
    noteChange(.other)
    lineBefore = line
  }

  private func suspend() {
    leaveLine()
    TerminalModes.restore()
    // As the terminal does: stop the whole job.
    kill(0, SIGTSTP)
    comeBack()
  }

  private func noticeSignals() {
    let events = WindowSignals.removeAll()
    if events.contains(.continued) {
      TerminalModes.reset()
      drawnRow = nil
      comeBack()
    } else if events.contains(.resized), drawnRow != nil {
      draw()
    }
  }

  private func comeBack() {
    guard isAsking else { return }
    guard TerminalModes.isForeground else { return waitForTerminal() }
    if TerminalModes.enter() { draw() }
  }

  /// Checks periodically whether the shell has brought this job to the foreground. The shell does not notify a
  /// running job; reading earlier would stop the process (SIGTTIN) inside the read.
  private func waitForTerminal() {
    loop.unwatch(0)
    guard foregroundCheck == nil else { return }
    foregroundCheck = loop.schedule(at: .now + .milliseconds(100)) { [weak self] in
      guard let self else { return }
      foregroundCheck = nil
      guard isAsking else { return }
      if TerminalModes.isForeground { watchKeys() }
      comeBack()
    }
  }

  // MARK: Completion

  /// Completes the line, and shows the candidates if there are several.
  ///
  /// - Parameter hasLearned: Whether the assistant was asked to learn what completion needs.
  private func complete(hasLearned: Bool = false) {
    guard !line.isSearched else { return }
    if !hasLearned, assistant.mustLearn(toComplete: line.head) { return learn() }
    let completion = assistant.complete(line.head)
    let inserted = completion.inserted
    replace(completion.replaced, by: inserted)
    guard completion.candidates.count > 1 else { return }
    showMenu(inserted == completion.replaced ? completion : assistant.complete(line.head))
  }

  private func showMenu(_ completion: Completion) {
    menu = completion.candidates.count > 1 ? CompletionMenu(completion) : nil
  }

  private func replace(_ typed: String, by text: String) {
    guard text != typed else { return }
    engine.replace(typed.unicodeScalars.count, by: text)
    knownLine = nil
  }

  /// Handles a typed key: of the search or the menu, if one is shown, or of the line.
  private func type(_ key: [Unicode.Scalar]) {
    typedKeys += 1
    if search != nil {
      if search?.handle(key) == true { return }
      let isCanceled = key == ["\u{7}"]
      endSearch(isKept: !isCanceled)
      if isCanceled { return }
    }
    guard let shown = menu else { return press(key) }
    if let action = CompletionMenu.Action(key, isSelected: shown.isSelected) { return perform(action, shown) }
    menu = nil
    press(key)
    // Further letters of a name leave fewer candidates.
    let isName =
      key.count == 1
      && key.allSatisfy { $0.properties.isAlphabetic || "0123456789_./".unicodeScalars.contains($0) }
    if isName, !shown.isSelected, isAsking { showMenu(assistant.complete(line.head)) }
  }

  /// Handles a key of the line.
  private func press(_ key: [Unicode.Scalar]) {
    if let motion = TextMotion(key), !line.isSearched, let cursor = motion.cursor(in: line) {
      engine.move(by: cursor - line.cursor)
      return knownLine = nil
    }
    let isEnter = key == ["\r"] || key == ["\n"]
    let isForced = key == ["\u{1B}", "\r"] || key == ["\u{1B}", "\n"]
    guard isEnter || isForced, !line.isEmpty, !line.isSearched,
      isForced || assistant.needsMore(after: line.string, isNew: true)
    else { return key.forEach(feed) }
    replace("", by: "\n")
  }

  private func perform(_ action: CompletionMenu.Action, _ shown: CompletionMenu) {
    var menu = shown
    menu.perform(action, in: menuWindow)
    replace(shown.inserted, by: menu.inserted)
    self.menu = [.accept, .cancel].contains(action) ? nil : menu
  }

  /// Ends the menu or the search if Escape was typed: what begins with that character is not complete for a moment.
  private func awaitEscape() {
    guard menu != nil || search != nil, keys.hasEscape else { return }
    loop.schedule(at: .now + .milliseconds(50)) { [weak self] in
      guard let self, isAsking, menu != nil || search != nil, keys.takeEscape() else { return }
      endSearch(isKept: false)
      if let menu { perform(.cancel, menu) }
      draw()
    }
  }

  /// Lets the session fetch the schema, then completes. The line does not change meanwhile.
  private func learn() {
    state = .learning
    assistant.learn { [weak self] in
      guard let self else { return }
      if case .closed = state { return }
      ask(prompt)
      complete(hasLearned: true)
      draw()
    }
  }

  // MARK: Drawing

  /// Redraws the line.
  private func draw() {
    draw(hint: line.isSearched || search != nil ? "" : assistant.hint(line.head))
  }

  /// Half of the window, if the line leaves that.
  private var menuWindow: CompletionMenu.Window {
    let size = TerminalModes.size
    return CompletionMenu.Window(
      columns: size.columns, rows: min(max(size.rows / 2, 4), size.rows - lineRows))
  }

  private func draw(hint: String) {
    guard TerminalModes.isKeyByKey else { return }
    let size = TerminalModes.size
    let shown = search?.found ?? line
    let content = LineLayout.Content(
      prompt: search.map { LinePrompt($0.prompt) } ?? prompt, text: shown.text, cursor: shown.cursor,
      continuation: Self.continuation, hint: hint, isStyled: isStyled)
    let layout = LineLayout(content, columns: size.columns, height: size.rows)
    lineRows = layout.rows.count
    let below = menu?.rows(in: menuWindow, isStyled: isStyled) ?? []
    let rows = layout.rows + below
    var output = clearing + rows.joined(separator: "\r\n") + "\r"
    let up = rows.count - 1 - layout.cursorRow
    if up > 0 { output += "\u{1B}[\(up)A" }
    if layout.cursorColumn > 0 { output += "\u{1B}[\(layout.cursorColumn)C" }
    write(output)
    drawnRow = layout.cursorRow
  }

  /// The control sequence that moves to the start of the line and clears to the end of the screen.
  private var clearing: String {
    let isDisplaced = console.terminal.takeDisplacement()
    guard let drawnRow, !isDisplaced else { return "\r\u{1B}[J" }
    return (drawnRow > 0 ? "\u{1B}[\(drawnRow)A" : "") + "\r\u{1B}[J"
  }

  private func hide() {
    guard drawnRow != nil else { return }
    write(clearing)
    drawnRow = nil
  }

  /// Leaves the line on the screen and moves below it.
  private func finishLine() {
    line.cursor = line.text.count
    leaveLine()
    line = EditingEngine.Line()
    (lineBefore, undoSteps) = (line, UndoSteps())
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
    // Loss of the terminal is detected when reading.
    _ = text.withUTF8 { console.deadline.write($0, to: screen) }
  }
}
