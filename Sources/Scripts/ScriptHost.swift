import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProtocols
import Synchronization

/// A script and the calls that pass it: one process or connection for all of them.
///
/// Sendable because it belongs to the thread of the loop of the client that has attached it, which `make` checks.
final class ScriptHost: @unchecked Sendable {
  private enum State {
    case running(ScriptPeer)
    /// It was started again, maybe after a failure, and its first line is awaited. Until then, that of its last start applies,
    /// and lines to it wait.
    case starting(ScriptPeer, hasFailed: Bool)
    /// Its input is closed; what to do after its end.
    case ending(ScriptPeer, completion: @Sendable () -> Void)
    /// It has ended, and is started for the next call.
    case ended
    /// It has failed with this error, and is started again for the next call.
    case failed(LanguageError)
  }

  /// How long a script has for its first line.
  private static let startTime = Duration.seconds(10)
  /// How long a script has to end after its input was closed.
  private static let endTime = Duration.seconds(2)
  /// How many lines that no value asks for a script may write, at first and for each line that it receives.
  private static let (firstCredit, credit) = (10_000, 100)

  private let settings: ScriptSettings
  /// What the script has declared at its first start.
  let declaration: InterceptorDeclaration
  private var state: State
  /// The first line of the script, of its last start.
  private(set) var hello: ScriptHello
  /// The thread of the loop; 0 before there is one.
  private let thread = Atomic<UInt>(0)
  private var network: FactoryNetwork?
  private var calls: [Int: ScriptCall] = [:]
  private var facts = ScriptFacts()
  private var lastCall = 0
  /// The number of values that wait for a reply.
  private var awaitedCount = 0
  private var isFlushDue = false
  /// The lines that wait for the first line of the script.
  private var waiting: [UInt8] = []
  private var freeLines = firstCredit
  private let questions = TerminalQuestions()
  /// The call for which the script was started again, with its attempts.
  private weak var restarted: AnyObject?

  /// Starts the script, and waits for its first line.
  ///
  /// - Throws: ``LanguageError`` if it does not start, or its first line is invalid.
  init(_ settings: ScriptSettings) throws(LanguageError) {
    self.settings = settings
    let peer = try Self.start(settings)
    do throws(LanguageError) {
      hello = try ScriptHello(parsing: try Self.firstLine(peer, waitLimit: settings.waitLimit))
    } catch {
      throw Self.failure(error, peer, peer.end())
    }
    (state, declaration) = (.running(peer), hello.declaration)
  }

  /// A host of a script that has written its first line.
  init(_ settings: ScriptSettings, _ peer: ScriptPeer, _ hello: ScriptHello) {
    (self.settings, self.hello, state, declaration) = (settings, hello, .running(peer), hello.declaration)
  }

  deinit { unwatch() }

  // MARK: The start

  /// Starts the script, or connects with it, and greets it.
  private static func start(_ settings: ScriptSettings) throws(LanguageError) -> ScriptPeer {
    // Otherwise a signal would end this process, and not the script.
    _ = Interrupt.install()
    let peer: ScriptPeer
    do throws(SystemError) {
      peer = try ScriptPeer(settings.place)
    } catch {
      throw LanguageError("\(settings.place.path): \(error.reason)")
    }
    peer.append(ScriptValue.greeting(settings.name))
    peer.flush()
    return peer
  }

  private static func firstLine(
    _ peer: ScriptPeer, waitLimit: Duration?
  ) throws(LanguageError) -> [UInt8] {
    let deadline = MonotonicClock.now + min(startTime, waitLimit ?? startTime)
    while peer.wait(until: deadline) {
      let isOpen = peer.read()
      if let line = try line(of: peer) { return line }
      if !isOpen { throw endedEarly }
    }
    if Interrupt.isPending { throw LanguageError(Interrupt.reason) }
    throw waitLimit.map { $0 < startTime } == true
      ? LanguageError("the script wrote no first line within --max-time") : isLate
  }

  private static let endedEarly = LanguageError("the script ended before its first line")
  private static let isLate = LanguageError(
    "the script wrote no first line within \(startTime.components.seconds) s")

  private static func line(of peer: ScriptPeer) throws(LanguageError) -> [UInt8]? {
    do throws(SystemError) {
      return try peer.nextLine()
    } catch {
      throw LanguageError(error.reason)
    }
  }

  /// An error with how the script ended and the last lines of its standard error.
  private static func failure(_ error: LanguageError, _ peer: ScriptPeer, _ ending: String?) -> LanguageError
  {
    var reason = error.reason
    if let ending, ending != "signal 15", ending != "exit code 0" { reason += " (\(ending))" }
    let errors = peer.lastErrors.last { $0.contains("Error") }.map { [$0] } ?? peer.lastErrors.suffix(3)
    if !errors.isEmpty { reason += "; its standard error: \(errors.joined(separator: " / "))" }
    return LanguageError(reason, hint: error.hint)
  }

  /// Why the script has failed; nil if it runs or has ended.
  var failure: LanguageError? { if case .failed(let error) = state { error } else { nil } }

  // MARK: Calls

  func attach(_ network: FactoryNetwork) {
    let current = currentThreadIdentity()
    guard thread.compareExchange(expected: 0, desired: current, ordering: .relaxed).exchanged || isOnItsThread
    else { return }
    unwatch()
    (self.network, isFlushDue) = (network, false)
    watch()
    flush()
  }

  private var isOnItsThread: Bool { thread.load(ordering: .relaxed) == currentThreadIdentity() }

  /// Makes the interceptor of a call; nil if the script does not want its method.
  func make(_ facts: CallFacts, _ context: CallContext) throws -> ScriptCall? {
    guard isOnItsThread else {
      throw error("a script serves the calls of one client: give each client one of its own")
    }
    guard hello.methods.contains(where: { $0.matches(facts.method) }) else { return nil }
    try startAgain(for: context)
    let masksBytes = hello.messages.request.isBytes || hello.messages.response.isBytes
    guard !redactsFields || !masksBytes else {
      throw ConfigurationError(
        interceptor: settings.name, key: "redact-field", reason: "the script receives messages as bytes")
    }
    settings.redaction.reportMissingFields(facts, context)
    lastCall += 1
    let call = ScriptCall(self, lastCall, facts, self.facts.members(of: facts), context, hello)
    calls[lastCall] = call
    return call
  }

  /// Starts the script again if it has ended, at most once for each call. Its first line is awaited while the call begins.
  private func startAgain(for context: CallContext) throws {
    switch state {
    case .running, .starting: return
    case .ending: throw error("the script ends")
    case .failed(let error) where restarted != nil && restarted === context.family:
      throw self.error(error.reason)
    case .ended, .failed: break
    }
    let hasFailed = if case .failed = state { true } else { false }
    restarted = context.family
    do throws(LanguageError) {
      let peer = try Self.start(settings)
      state = .starting(peer, hasFailed: hasFailed)
      (freeLines, awaitedCount, waiting) = (Self.firstCredit, 0, [])
      watch()
      flush()
      network?.after(Self.startTime) { [weak self, weak peer] in
        guard let self, case .starting(let starting, _) = state, starting === peer else { return }
        fail(Self.isLate)
      }
    } catch {
      state = .failed(error)
      throw self.error(error.reason)
    }
  }

  /// Takes the first line of the script that was started again.
  private func begin(_ peer: ScriptPeer, _ line: [UInt8], hasFailed: Bool) throws(LanguageError) {
    let hello = try ScriptHello(parsing: line)
    state = .running(peer)
    if hasFailed { log(.warning, "the script was started again: what it had stored is gone") }
    if hello == self.hello {
      peer.append(waiting)
    } else {
      // The calls that have begun were made as the first line of its last start says.
      self.hello = hello
      awaitedCount = 0
      failCalls(error("the first line of the script has changed; it applies to the next call"))
    }
    waiting = []
    flush()
  }

  /// A call is over.
  func finished(_ number: Int) {
    calls[number] = nil
    questions.cancel(of: number)
  }

  /// What is masked in what the script receives of a call.
  func redaction(of context: CallContext) -> Redaction { settings.redaction.of(context.secrets) }
  /// Whether secrets are masked.
  var masks: Bool { !settings.redaction.showsSecrets }
  /// Whether fields of messages are masked.
  var redactsFields: Bool { settings.redaction.redactsFields }

  /// Asks a person a question of a call.
  func ask(_ text: String, of call: Int, _ completion: @escaping (String?) -> Void) {
    if let reply = settings.reply { return completion(reply(text)) }
    guard let network else { return completion(nil) }
    questions.add(text, of: call, watch: { network.watch($0, .reading, $1) }, completion)
  }

  // MARK: Lines to the script

  /// Sends a line: at once if the script has nothing else to do, and otherwise with the other lines of this round of the loop.
  func send(_ line: [UInt8], awaitsReply: Bool = false) {
    let isIdle = awaitedCount == 0
    switch state {
    case .running(let peer): peer.append(line)
    case .starting: waiting += line
    case .ending, .ended, .failed: return
    }
    freeLines = min(freeLines + Self.credit, Self.firstCredit)
    if awaitsReply { awaitedCount += 1 }
    guard !isIdle, let network else { return flush() }
    guard !isFlushDue else { return }
    isFlushDue = true
    network.post { [weak self] in
      self?.isFlushDue = false
      self?.flush()
    }
  }

  /// Values wait no longer.
  func replied(to count: Int) { awaitedCount -= count }

  private func flush() {
    guard let peer else { return }
    peer.flush()
    guard let network, peer.input >= 0 else { return }
    if peer.isWriting {
      network.watch(peer.input, .writing) { [weak self] in self?.flush() }
    } else {
      network.watch(peer.input, .writing, nil)
      if case .ending = state { peer.closeInput() }
    }
  }

  private var peer: ScriptPeer? {
    switch state {
    case .running(let peer), .starting(let peer, _), .ending(let peer, _): peer
    case .ended, .failed: nil
    }
  }

  private func watch() {
    guard let peer, let network else { return }
    peer.log = { [weak self] in self?.note($0) }
    network.watch(peer.output, .reading) { [weak self] in self?.read() }
    if peer.errors >= 0 { network.watch(peer.errors, .reading) { [weak self] in self?.readErrors() } }
  }

  private func unwatch() {
    guard let peer, let network else { return }
    for descriptor in [peer.output, peer.errors] where descriptor >= 0 {
      network.watch(descriptor, .reading, nil)
    }
    if peer.input >= 0 { network.watch(peer.input, .writing, nil) }
  }

  // MARK: Lines of the script

  private func readErrors() {
    guard let peer else { return }
    let descriptor = peer.errors
    peer.readErrors { network?.watch(descriptor, .reading, nil) }
  }

  private func read() {
    guard let peer else { return }
    let isOpen = peer.read()
    do throws(LanguageError) {
      while self.peer === peer, let line = try Self.line(of: peer) {
        if case .starting(_, let hasFailed) = state {
          try begin(peer, line, hasFailed: hasFailed)
        } else {
          try take(line)
        }
      }
    } catch {
      return fail(error)
    }
    guard !isOpen, self.peer === peer else { return }
    switch state {
    case .ending: endNow()
    case .starting: fail(Self.endedEarly)
    case .running, .ended, .failed: fail(LanguageError("the script ended"))
    }
  }

  private func take(_ line: [UInt8]) throws(LanguageError) {
    let reply = try ScriptReply(parsing: line)
    if reply.subject == .call {
      freeLines -= 1
      guard freeLines >= 0 else {
        throw LanguageError("too many lines of the script that no value asks for")
      }
    }
    guard let number = reply.call else {
      for entry in reply.logs { log(entry.level, entry.text) }
      return
    }
    guard number > 0, number <= lastCall else {
      throw LanguageError("a reply for call \(number), which the script has not received")
    }
    // The script may not have received the end of a call yet.
    try calls[number]?.take(reply)
  }

  private func note(_ errorLine: String) {
    log(.info, errorLine)
    freeLines -= 1
    if freeLines < 0 { fail(LanguageError("too many lines on its standard error")) }
  }

  private func log(_ level: LogLevel, _ text: String) {
    network?.log(LogRecord(level: level, source: settings.name, text: text))
  }

  // MARK: The end

  private func error(_ reason: String) -> RPCError {
    RPCError(.internal, reason, origin: .configuration(settings.name))
  }

  /// The script has failed: so do its calls.
  private func fail(_ error: LanguageError) {
    guard let peer else { return }
    unwatch()
    let ending = peer.end()
    let completion: (@Sendable () -> Void)? =
      if case .ending(_, let completion) = state { completion } else { nil }
    let failure = Self.failure(error, peer, ending)
    state = .failed(failure)
    failCalls(self.error("\(failure.reason)\(failure.hint.map { "; \($0)" } ?? "")"))
    if completion != nil || calls.isEmpty { log(.error, failure.reason) }
    if let completion {
      thread.store(0, ordering: .relaxed)
      completion()
    }
  }

  private func failCalls(_ error: RPCError) {
    for (_, call) in calls.sorted(by: { $0.key < $1.key }) { call.fail(error) }
  }

  /// No call follows: closes the script's input, and waits until it has ended.
  func conclude(_ completion: @escaping @Sendable () -> Void) {
    guard isOnItsThread else { return completion() }
    if case .starting(let peer, _) = state {
      unwatch()
      state = .ended
      peer.end(grace: .zero)
    }
    guard case .running(let peer) = state, network != nil else {
      thread.store(0, ordering: .relaxed)
      return completion()
    }
    state = .ending(peer, completion: completion)
    flush()
    awaitEnd(of: peer, until: .now + Self.endTime)
  }

  /// Ends a script whose process has ended but not its output, which another may keep open, and one that does not end.
  private func awaitEnd(of peer: ScriptPeer, until deadline: MonotonicClock.Instant) {
    guard self.peer === peer else { return }
    let isLate = MonotonicClock.now >= deadline
    if isLate || peer.isOver { return endNow(grace: isLate ? .zero : .seconds(1)) }
    network?.after(.milliseconds(20)) { [weak self] in self?.awaitEnd(of: peer, until: deadline) }
  }

  private func endNow(grace: Duration = .seconds(1)) {
    guard case .ending(let peer, let completion) = state else { return }
    unwatch()
    state = .ended
    thread.store(0, ordering: .relaxed)
    let ending = peer.end(grace: grace, patience: .seconds(1))
    if let ending, ending != "exit code 0", ending != "signal 15" {
      log(.warning, Self.failure(LanguageError("the script ended"), peer, ending).reason)
    }
    completion()
  }
}
