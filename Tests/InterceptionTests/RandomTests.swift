import Glibc
import InterceptionSupport
import Protobuf
import RPCProtocols
import Synchronization
import Testing

@testable import Interception

/// Random chains with random behaviour: the rules of the chain hold whatever interceptors do.
@Suite struct RandomTests {
  /// How many calls are made; RPCURL_RANDOM_RUNS sets the number.
  private static let runs = getenv("RPCURL_RANDOM_RUNS").flatMap { Int(String(cString: $0)) } ?? 4000
  /// The seed of the one call to make and print, from RPCURL_RANDOM_SEED.
  fileprivate static let seed = getenv("RPCURL_RANDOM_SEED").flatMap { Int(String(cString: $0)) }

  @Test(arguments: 0..<40)
  func everyCallEndsOnceInOrderAndLeavesNothing(_ block: Int) {
    for seed in (block * Self.runs / 40)..<((block + 1) * Self.runs / 40) {
      if let only = Self.seed, seed != only { continue }
      let failures = RandomCall(seed: UInt64(seed)).run()
      guard failures.isEmpty else {
        Issue.record("seed \(seed): \(failures)")
        return
      }
    }
  }

  @Test(arguments: 0..<4)
  func stageOrderHoldsForVerdictsOnOtherThreads(_ block: Int) {
    let threads = HelperThread()
    defer { threads.stop() }
    for seed in (block * Self.runs / 16)..<((block + 1) * Self.runs / 16) {
      if let only = Self.seed, seed != only { continue }
      let failures = RandomCall(seed: UInt64(seed) + 1_000_000, threads).run()
      guard failures.isEmpty else {
        Issue.record("seed \(seed): \(failures)")
        return
      }
    }
  }
}

/// A generator whose numbers repeat for a seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// A thread that runs its work in order.
private final class HelperThread: @unchecked Sendable {
  private let lock = Lock()
  private var work: [@Sendable () -> Void] = []
  private var isStopped = false
  private let left = Atomic(0)
  private var thread = pthread_t()

  init() {
    let this = Unmanaged.passRetained(self)
    pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<HelperThread>.fromOpaque(argument).takeRetainedValue().loop() }
        return nil
      }, this.toOpaque())
  }

  /// Whether the work is done.
  var isIdle: Bool { left.load(ordering: .acquiring) == 0 }

  func run(_ body: @escaping @Sendable () -> Void) {
    left.add(1, ordering: .releasing)
    lock.holding { work.append(body) }
  }

  func stop() {
    lock.holding { isStopped = true }
    pthread_join(thread, nil)
  }

  private func loop() {
    while true {
      let (taken, isOver) = lock.holding {
        defer { work = [] }
        return (work, isStopped)
      }
      var batch = Array(taken.reversed())
      let isEmpty = batch.isEmpty
      while !batch.isEmpty {
        // Released before it counts as done: it may retain an interceptor.
        batch.removeLast()()
        left.subtract(1, ordering: .releasing)
      }
      if isEmpty {
        if isOver { return }
        sched_yield()
      }
    }
  }
}

/// One random call.
private final class RandomCall {
  final class Dice {
    var generator: SeededGenerator
    /// Once set, interceptors only forward values, so that the call can end.
    var isCalm = false
    let helper: HelperThread?
    private let lock = Lock()
    private var taken: Set<String> = []
    /// The response messages that interceptors dropped.
    var dropped: Set<String> { lock.holding { taken } }
    func noteDropped(_ text: String) { lock.holding { _ = taken.insert(text) } }
    init(seed: UInt64, _ helper: HelperThread?) {
      generator = SeededGenerator(seed: seed)
      self.helper = helper
    }
    func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &generator) }
  }

  /// The interceptors made so far, of all attempts.
  private final class Made {
    var probes: [RandomInterceptor] = []
  }

  private let dice: Dice
  private let journal = Journal()
  private let call: TestCall
  private let kind: CallKind
  private let made = Made()
  private let hasRetriers: Bool
  private var failures: [String] = []

  init(seed: UInt64, _ helper: HelperThread? = nil) {
    dice = Dice(seed: seed, helper)
    kind = CallKind.allCases[dice.roll(4)]
    var registrations: [InterceptorRegistration] = []
    var hasRetriers = false
    for index in 0..<(1 + dice.roll(6)) {
      let stages = Stages(rawValue: UInt32(dice.roll(512)))
      let requirements = InterceptorRequirements(
        isSerial: dice.roll(4) == 0, replayLimitBytes: dice.roll(6) == 0 ? 20 + dice.roll(100) : 0)
      hasRetriers = hasRetriers || requirements.replayLimitBytes > 0
      let isDeclining = dice.roll(10) == 0
      registrations.append(
        TestCall.registration("I\(index)") { [journal, dice, made] facts, context in
          if isDeclining { return nil }
          let probe = RandomInterceptor(
            "I\(index).\(made.probes.count).", stages, requirements, context, journal, dice)
          made.probes.append(probe)
          return probe
        })
    }
    self.hasRetriers = hasRetriers
    call = TestCall(kind, journal, registrations, windowBytes: 2000)
    call.measuresAtOnce = dice.roll(2) == 0
  }

  func run() -> [String] {
    call.start()
    var toSend = kind.clientStreams ? dice.roll(5) : 1
    var (isClosed, sentCount, receivedCount) = (false, 0, 0)
    // What the server does, chosen for each attempt.
    var (attempt, toReceive, hasHeaders, hasEnded) = (0, 0, false, false)
    func meetAttempt() {
      guard attempt != call.wireStarts else { return }
      (attempt, hasHeaders, hasEnded) = (call.wireStarts, false, false)
      toReceive = kind.serverStreams ? dice.roll(5) : 1
    }
    for _ in 0..<80 {
      meetAttempt()
      switch dice.roll(8) {
      case 0 where toSend > 0:
        toSend -= 1
        let text = "out\(sentCount)"
        let isTyped = dice.roll(2) == 0
        call.chain.send(isTyped ? .typed(TestMessages.make(text)) : .bytes(TestMessages.bytes(text)))
        sentCount += 1
      case 1 where toSend == 0 && !isClosed:
        isClosed = true
        call.close()
      case 2 where attempt > 0 && !hasHeaders:
        hasHeaders = true
        call.receiveHeaders()
      case 3 where hasHeaders && toReceive > 0 && !hasEnded:
        toReceive -= 1
        call.receive("in\(receivedCount)")
        receivedCount += 1
      case 4 where attempt > 0 && !hasEnded && (toReceive == 0 || dice.roll(8) == 0):
        hasEnded = true
        call.receiveEnd(dice.roll(3) == 0 ? RPCError(.notFound, "gone", origin: .server) : nil)
      case 5 where dice.roll(30) == 0:
        call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
      case 5 where dice.roll(8) == 0:
        // Several request different endings before the chain performs the first.
        for _ in 0..<2 { made.probes.randomElement(using: &dice.generator)?.endWithHeld() }
        while dice.helper?.isIdle == false { sched_yield() }
        turn()
      case 6:
        call.clock.advance(by: .milliseconds(dice.roll(1000)))
      default:
        made.probes.randomElement(using: &dice.generator)?.resumeOne()
        turn()
      }
    }
    dice.isCalm = true
    for _ in 0..<400 where call.end == nil {
      settle()
      meetAttempt()
      if attempt > 0, !hasEnded, made.probes.allSatisfy({ $0.heldCount == 0 }) {
        hasEnded = true
        call.receiveEnd()
      }
    }
    for _ in 0..<100 where call.outcome == nil {
      if !call.measuresAtOnce { call.giveMetrics() }
      settle()
    }
    // Attempts that were given up are measured as well.
    call.giveMetrics()
    settle()
    check()
    if RandomTests.seed != nil { print(journal.lines.joined(separator: "\n")) }
    return failures
  }

  /// Forwards everything that is held.
  private func settle() {
    for probe in made.probes { probe.resumeOne() }
    while dice.helper?.isIdle == false { sched_yield() }
    call.clock.advance(by: .seconds(10))
    turn()
  }

  private func turn() {
    call.work()
    call.chain.processCommands()
  }

  private func check() {
    expect(call.end != nil, "the caller never heard the end")
    expect(call.outcome != nil, "the call never finished")
    expect(call.chain.isFinished, "the chain never finished")
    expect(count("caller end") == 1, "the caller heard \(count("caller end")) ends")
    expect(count("caller finished") == 1 && count("caller metrics") == 1, "reports")
    let attempts = call.wireLines.split(separator: "start", omittingEmptySubsequences: false)
    expect(attempts.first?.isEmpty ?? true, "the wire was not started first")
    expect(hasRetriers || attempts.count <= 2, "started more than once")
    for attempt in attempts.dropFirst() {
      expectRising(Array(attempt), "out", "sent out of order")
      expect(attempt.filter { $0 == "cancel" }.count <= 1, "cancelled twice")
      if let closed = attempt.firstIndex(of: "half-close") {
        let after = attempt[(closed + 1)...]
        expect(
          after.allSatisfy { ["cancel", "pause", "go on"].contains($0) }, "after the half-close: \(after)")
      }
    }
    expectRising(call.callerLines.map { $0.replacing("typed ", with: "") }, "in", "received out of order")
    let callerEnd = call.callerLines.firstIndex { $0.hasPrefix("end") } ?? 0
    expect(
      !call.callerLines[callerEnd...].contains { $0.hasPrefix("in") || $0 == "headers" },
      "received after the end")
    let isMessage = { (line: String) in
      ["in", "typed", "extra", "own", "local"].contains { line.hasPrefix($0) }
    }
    if let first = call.callerLines.firstIndex(where: isMessage) {
      expect(
        call.callerLines.firstIndex(of: "headers").map { $0 < first } ?? false, "messages before headers")
    }
    for probe in made.probes { check(probe) }
    checkPromises()
    if !hasRetriers {
      let finishes = journal.lines.filter { $0.contains(" finish ") }.map { $0.prefix { $0 != " " } }
      expect(finishes == made.probes.reversed().map { $0.name[...] }, "finished in the order \(finishes)")
    }
    expect(call.chain.outbound.waitingCount == 0 && call.chain.inbound.waitingCount == 0, "values wait")
    expect(call.chain.outbound.waitingBytes == 0 && call.chain.inbound.waitingBytes == 0, "bytes wait")
    expect(call.clock.timerCount == 0, "\(call.clock.timerCount) timers are left")
    // Nothing of the call retains an interceptor.
    let weak = made.probes.map(Weak.init)
    for probe in made.probes { probe.release() }
    made.probes = []
    expect(weak.allSatisfy { $0.probe == nil }, "interceptors leaked")
  }

  /// What an interceptor emitted before the end of its response arrives before the end, unless others dropped it.
  private func checkPromises() {
    guard let tag = call.end?.trailers.first("answered-by") else { return }
    let promised = made.probes.lazy.compactMap { $0.promised[tag] }.first ?? []
    let wanted = promised.filter { !dice.dropped.contains($0) }
    let came = call.callerLines.map { $0.replacing("typed ", with: "") }.filter {
      $0.hasPrefix("own-\(tag)-")
    }
    expect(came == wanted, "\(tag) gave \(wanted), and \(came) arrived")
  }

  /// An interceptor's stages come in the documented order, for any behaviour of other interceptors.
  private func checkOrder(_ probe: RandomInterceptor, _ lines: [String]) {
    func first(_ prefix: String) -> Int? { lines.firstIndex { $0.hasPrefix(prefix) } }
    func last(_ prefix: String) -> Int? { lines.lastIndex { $0.hasPrefix(prefix) } }
    func expectOrder(_ earlier: Int?, _ later: Int?, _ what: String) {
      guard let earlier, let later else { return }
      expect(earlier < later, "\(probe.name): \(what): \(lines)")
    }
    for word in ["message", "bytes", "half-close"] { expectOrder(first("start"), first(word), "start") }
    for word in ["message", "bytes"] { expectOrder(last(word), first("half-close"), "half-close") }
    for number in 0..<5 {
      expectOrder(first("message out\(number)"), first("bytes out\(number)"), "bytes before message")
    }
    if probe.requirements.replayLimitBytes > 0 { return }
    for word in ["got-message", "got-bytes", "end"] { expectOrder(first("headers"), first(word), "headers") }
    for word in ["got-message", "got-bytes"] { expectOrder(last(word), first("end"), "end") }
    for number in 0..<5 {
      expectOrder(first("got-bytes in\(number)"), first("got-message in\(number)"), "message before bytes")
    }
  }

  private func check(_ probe: RandomInterceptor) {
    let lines = journal.lines(of: probe.name)
    checkOrder(probe, lines)
    func count(_ word: String) -> Int { lines.filter { $0.hasPrefix(word) }.count }
    expect(count("finish") == 1, "\(probe.name) finished \(count("finish")) times")
    expect(lines.last?.hasPrefix("finish") == true, "\(probe.name) was called after finish")
    expect(count("start") <= 1 && count("half-close") <= 1, "\(probe.name): twice")
    expectRising(lines, "message out", "\(probe.name) \(lines)")
    expectRising(lines, "bytes out", "\(probe.name) \(lines)")
    expectRising(lines, "got-bytes in", "\(probe.name) \(lines)")
    expectRising(lines, "got-message in", "\(probe.name) \(lines)")
    // An interceptor that retries receives a response for each attempt.
    if probe.requirements.replayLimitBytes > 0 { return }
    expect(count("end") <= 1, "\(probe.name) heard \(count("end")) ends")
    expect(count("headers") <= 1, "\(probe.name): headers twice")
    if let end = lines.firstIndex(where: { $0.hasPrefix("end") }) {
      let after = lines[(end + 1)...]
      let isOver = after.allSatisfy { $0.hasPrefix("metrics") || $0.hasPrefix("finish") }
      expect(isOver, "\(probe.name) after its end: \(after)")
    } else if probe.stages.contains(.responseEnd), count("start") == 1, !probe.hasEndedTheCall {
      failures.append("\(probe.name) saw the start and never the end")
    }
    if probe.stages.contains(.requestStart), count("start") == 0 {
      expect(lines.count == 1, "\(probe.name) was called without a start: \(lines)")
    }
  }

  private func expectRising(_ lines: [String], _ prefix: String, _ what: String) {
    let numbers = lines.filter { $0.hasPrefix(prefix) }.compactMap { Int($0.dropFirst(prefix.count)) }
    expect(zip(numbers, numbers.dropFirst()).allSatisfy(<), "\(what): \(numbers)")
  }

  private func count(_ prefix: String) -> Int { journal.lines.filter { $0.hasPrefix(prefix) }.count }

  private func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds { failures.append(what()) }
  }

  private struct Weak {
    weak var probe: RandomInterceptor?
    init(_ probe: RandomInterceptor) { self.probe = probe }
  }
}

/// An interceptor with random behaviour.
private final class RandomInterceptor: StagedInterceptor {
  let name: String
  let stages: Stages
  let requirements: InterceptorRequirements
  private(set) var hasEndedTheCall = false
  private let context: CallContext
  private let journal: Journal
  private let dice: RandomCall.Dice
  private let retriesLeft = Atomic(3)
  /// The actions for the tokens that are held.
  private var held: [Held] = []
  /// How many responses it gave in place of the server.
  private var answerCount = 0
  /// The messages of each response that it gave, by the tag in its trailers.
  private(set) var promised: [String: [String]] = [:]
  var heldCount: Int { held.count }

  /// A token that is held.
  private struct Held {
    let goOn: () -> Void
    /// Ends the call with it.
    let end: () -> Void
    /// Whether the token is of a request, and so allows `respond` as well.
    let answer: (() -> Void)?
  }

  private struct Broken: Error {}

  init(
    _ name: String, _ stages: Stages, _ requirements: InterceptorRequirements, _ context: CallContext,
    _ journal: Journal,
    _ dice: RandomCall.Dice
  ) {
    self.name = name
    self.stages = stages
    self.requirements = requirements
    self.context = context
    self.journal = journal
    self.dice = dice
  }

  func resumeOne() {
    guard !held.isEmpty else { return }
    held.remove(at: dice.isCalm ? 0 : dice.roll(held.count)).goOn()
  }

  /// Ends the call with a token that is held, on this thread or the helper's.
  func endWithHeld() {
    guard !held.isEmpty else { return }
    let chosen = held.remove(at: dice.roll(held.count))
    let end = chosen.answer.map { dice.roll(2) == 0 ? $0 : chosen.end } ?? chosen.end
    hasEndedTheCall = true
    guard let helper = dice.helper, dice.roll(2) == 0 else { return end() }
    nonisolated(unsafe) let work = end
    helper.run { work() }
  }

  func release() { held = [] }

  private var error: RPCError { RPCError(.aborted, "failed by \(name)", origin: .interceptor(name)) }

  private func treat<Value, Direction>(
    _ token: consuming Token<Value, Direction>,
    proceed: @escaping (consuming Token<Value, Direction>) -> Void,
    other: @escaping (Int, consuming Token<Value, Direction>) -> Void,
    respond: ((LocalResponse, consuming Token<Value, Direction>) -> Void)? = nil
  ) throws {
    let box = HeldToken(token)
    // Other threads must not use the dice, which belong to this thread.
    let (choice, endChoice) = (dice.roll(8), dice.roll(8))
    let end = { box.use { other(endChoice, $0) } }
    let answer = respond.map { respond in
      let (response, messages, isStarting) = prepareAnswer()
      return { [context] in
        if isStarting { context.start(response: ResponseStart()) }
        for message in messages { context.inject(response: .bytes(TestMessages.bytes(message))) }
        box.use { respond(response, $0) }
      }
    }
    func keep() { held.append(Held(goOn: { box.use(proceed) }, end: end, answer: answer)) }
    if !dice.isCalm, dice.roll(40) == 0 { injectSomewhere() }
    if !dice.isCalm, dice.roll(60) == 0 { endWithHeld() }
    if !dice.isCalm, dice.roll(150) == 0 {
      context.cancel("a random reason")
      hasEndedTheCall = true
    }
    if !dice.isCalm, let answer, dice.roll(40) == 0 {
      hasEndedTheCall = true
      return answer()
    }
    if !dice.isCalm, dice.roll(80) == 0 {
      hasEndedTheCall = true
      throw Broken()
    }
    switch dice.isCalm ? 0 : dice.roll(12) {
    case 0..<6: box.use(proceed)
    case 6..<11:
      if dice.roll(6) == 0 {
        context.after(.milliseconds(dice.roll(500))) { box.use(proceed) }
      } else if let helper = dice.helper, dice.roll(2) == 0 {
        nonisolated(unsafe) let proceed = proceed
        nonisolated(unsafe) let box = box
        helper.run { box.use(proceed) }
      } else {
        keep()
        if dice.roll(3) == 0 { resumeOne() }
      }
    default:
      let act = { [unowned self] in
        if !box.isVoid { hasEndedTheCall = true }
        box.use { other(choice, $0) }
      }
      if dice.roll(2) == 0 { act() } else { held.append(Held(goOn: act, end: end, answer: answer)) }
    }
  }

  /// Makes a response whose messages are injected before its end.
  private func prepareAnswer() -> (response: LocalResponse, messages: [String], isStarting: Bool) {
    answerCount += 1
    let tag = "\(name)\(answerCount)"
    let messages = (0..<dice.roll(4)).map { "own-\(tag)-\($0)" }
    promised[tag] = messages
    let response = LocalResponse(
      headers: Headers(), messages: [], error: nil, trailers: Headers([("answered-by", tag)]))
    return (response, messages, dice.roll(2) == 0)
  }

  private func injectSomewhere() {
    let text = Payload.bytes(TestMessages.bytes("extra"))
    if dice.roll(2) == 0 { context.inject(request: text) } else { context.inject(response: text) }
  }

  private func failOrRespond<Value>(_ choice: Int, _ token: consuming RequestToken<Value>) {
    switch choice {
    case 0...2: token.fail(error)
    case 3: break  // released
    default:
      token.respond(
        LocalResponse(messages: [.bytes(TestMessages.bytes("local"))], error: choice == 4 ? error : nil))
    }
  }

  private func failOrRetry<Value>(_ choice: Int, _ token: consuming ResponseToken<Value>) {
    switch choice {
    case 0...2: token.fail(error)
    case 3: break  // released
    default:
      if retriesLeft.subtract(1, ordering: .relaxed).newValue >= 0 {
        token.retry(after: .milliseconds(choice * 100))
      } else {
        token.fail(error)
      }
    }
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
    journal.note("\(name) start")
    try treat(
      token, proceed: { $0.proceed(start) }, other: { self.failOrRespond($0, $1) },
      respond: { $1.respond($0) })
  }
  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) throws {
    journal.note("\(name) message \(TestMessages.text(message))")
    if !dice.isCalm, dice.roll(20) == 0 { token.inject(.typed(TestMessages.make("extra"))) }
    try treat(
      token, proceed: { $0.proceed(message) },
      other: { choice, token in
        if choice > 5 { token.drop() } else { self.failOrRespond(choice, token) }
      }, respond: { $1.respond($0) })
  }
  func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) throws {
    journal.note("\(name) bytes \(TestMessages.text(bytes))")
    if !dice.isCalm, dice.roll(20) == 0 { token.inject(.typed(TestMessages.make("extra"))) }
    try treat(
      token, proceed: { $0.proceed(bytes) },
      other: { choice, token in
        if choice > 5 { token.drop() } else { self.failOrRespond(choice, token) }
      }, respond: { $1.respond($0) })
  }
  func requestEnd(_ token: consuming RequestToken<Void>) throws {
    journal.note("\(name) half-close")
    if !dice.isCalm, dice.roll(20) == 0 { token.inject(.typed(TestMessages.make("extra"))) }
    try treat(
      token, proceed: { $0.proceed() }, other: { self.failOrRespond($0, $1) }, respond: { $1.respond($0) })
  }
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws {
    journal.note("\(name) headers")
    try treat(token, proceed: { $0.proceed(start) }, other: { self.failOrRetry($0, $1) })
  }
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) throws {
    journal.note("\(name) got-bytes \(TestMessages.text(bytes))")
    try treat(
      token, proceed: { $0.proceed(bytes) },
      other: { choice, token in
        guard choice > 5 else { return self.failOrRetry(choice, token) }
        self.dice.noteDropped(TestMessages.text(bytes))
        token.drop()
      })
  }
  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) throws {
    journal.note("\(name) got-message \(TestMessages.text(message))")
    try treat(
      token, proceed: { $0.proceed(message) },
      other: { choice, token in
        guard choice > 5 else { return self.failOrRetry(choice, token) }
        self.dice.noteDropped(TestMessages.text(message))
        token.drop()
      })
  }
  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws {
    journal.note("\(name) end \(end.code.name)")
    try treat(token, proceed: { $0.proceed(end) }, other: { self.failOrRetry($0, $1) })
  }
  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) throws {
    journal.note("\(name) metrics")
    try treat(token, proceed: { $0.proceed(metrics) }, other: { _, _ in })
  }
  func finish(_ outcome: Outcome) { journal.note("\(name) finish \(outcome.end.code.name)") }
}
