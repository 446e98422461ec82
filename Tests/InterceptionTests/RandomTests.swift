import InterceptionSupport
import Glibc
import Protobuf
import RPCProtocols
import Testing

@testable import Interception

/// Random chains under random treatment. Whatever interceptors do, the rules of the chain hold.
@Suite struct RandomTests {
  /// How many calls are tried; RPCURL_RANDOM_RUNS asks for more.
  private static let runs = getenv("RPCURL_RANDOM_RUNS").flatMap { Int(String(cString: $0)) } ?? 4000

  @Test(arguments: 0..<40)
  func everyCallEndsOnceInOrderAndLeavesNothing(_ block: Int) {
    for seed in (block * Self.runs / 40)..<((block + 1) * Self.runs / 40) {
      let failures = RandomCall(seed: UInt64(seed)).run()
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

/// One random call.
private final class RandomCall {
  final class Dice {
    var generator: SeededGenerator
    /// Once set, interceptors only pass things on, so that the call can end.
    var isCalm = false
    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }
    func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &generator) }
  }

  private let dice: Dice
  private let journal = Journal()
  private let call: TestCall
  private let kind: CallKind
  private var probes: [RandomInterceptor]
  private var failures: [String] = []

  init(seed: UInt64) {
    dice = Dice(seed: seed)
    kind = CallKind.allCases[dice.roll(4)]
    var probes: [RandomInterceptor] = []
    for index in 0..<(1 + dice.roll(6)) {
      let stages = Stages(rawValue: UInt32(dice.roll(512)))
      probes.append(RandomInterceptor("I\(index)", stages, journal, dice))
    }
    self.probes = probes
    call = TestCall(
      kind, journal, probes.map { probe in TestCall.registration(probe.name) { _, _ in probe } },
      windowBytes: 200)
    call.measuresAtOnce = dice.roll(2) == 0
  }

  func run() -> [String] {
    call.start()
    var toSend = kind.clientStreams ? dice.roll(5) : 1
    var toReceive = kind.serverStreams ? dice.roll(5) : 1
    var (isClosed, hasHeaders, hasEnded, sentCount, receivedCount) = (false, false, false, 0, 0)
    for _ in 0..<60 {
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
      case 2 where call.sentStart != nil && !hasHeaders:
        hasHeaders = true
        call.receiveHeaders()
      case 3 where hasHeaders && toReceive > 0:
        toReceive -= 1
        call.receive("in\(receivedCount)")
        receivedCount += 1
      case 4 where call.sentStart != nil && !hasEnded && (toReceive == 0 || dice.roll(8) == 0):
        hasEnded = true
        call.receiveEnd(dice.roll(3) == 0 ? RPCError(.notFound, "gone", origin: .server) : nil)
      case 5 where dice.roll(30) == 0:
        call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
      default:
        probes.randomElement(using: &dice.generator)?.resumeOne()
        call.chain.processMail()
      }
    }
    dice.isCalm = true
    for _ in 0..<200 where call.end == nil {
      for probe in probes { probe.resumeOne() }
      call.chain.processMail()
      if call.sentStart != nil, !hasEnded, probes.allSatisfy({ $0.heldCount == 0 }) {
        hasEnded = true
        call.receiveEnd()
      }
    }
    if !call.measuresAtOnce { call.giveMetrics() }
    for _ in 0..<50 where call.outcome == nil {
      for probe in probes { probe.resumeOne() }
      call.chain.processMail()
    }
    check(sentCount, receivedCount)
    return failures
  }

  private func check(_ sentCount: Int, _ receivedCount: Int) {
    expect(call.end != nil, "the caller never heard the end")
    expect(call.outcome != nil, "the call never finished")
    expect(call.chain.isFinished, "the chain never finished")
    expect(count("caller end") == 1, "the caller heard \(count("caller end")) ends")
    expect(count("caller finished") == 1 && count("caller metrics") == 1, "reports")
    expectRising(call.wireLines, "out", "sent out of order")
    expectRising(call.callerLines.map { $0.replacing("typed ", with: "") }, "in", "received out of order")
    expect(call.wireLines.first.map { $0 == "start" } ?? true, "the wire was not started first")
    expect(count("wire start") <= 1 && count("wire cancel") <= 1 && count("wire half-close") <= 1, "wire")
    if let closed = call.wireLines.firstIndex(of: "half-close") {
      expect(!call.wireLines[closed...].contains { $0.hasPrefix("out") }, "sent after the half-close")
    }
    let callerEnd = call.callerLines.firstIndex { $0.hasPrefix("end") } ?? 0
    expect(
      !call.callerLines[callerEnd...].contains { $0.hasPrefix("in") || $0 == "headers" },
      "received after the end")
    let madeCount = call.chain.links.count
    for probe in probes.prefix(madeCount) { check(probe) }
    expect(probes.dropFirst(madeCount).allSatisfy { journal.lines(of: $0.name).isEmpty }, "called unmade")
    let finishes = journal.lines.filter { $0.contains(" finish ") }.map { $0.prefix(2) }
    let expected = probes.prefix(madeCount).reversed().map { $0.name.prefix(2) }
    expect(finishes == expected, "finished in the order \(finishes)")
    expect(call.chain.outbound.waitingCount == 0 && call.chain.inbound.waitingCount == 0, "values wait")
    expect(call.chain.outbound.waitingBytes == 0 && call.chain.inbound.waitingBytes == 0, "bytes wait")
    // Nothing of the call keeps an interceptor alive.
    let weak = probes.map(Weak.init)
    for probe in probes { probe.letGo() }
    probes = []
    expect(weak.allSatisfy { $0.probe == nil }, "interceptors leaked")
  }

  private func check(_ probe: RandomInterceptor) {
    let lines = journal.lines(of: probe.name)
    func count(_ word: String) -> Int { lines.filter { $0.hasPrefix(word) }.count }
    expect(count("finish") == 1, "\(probe.name) finished \(count("finish")) times")
    expect(lines.last?.hasPrefix("finish") == true, "\(probe.name) was called after finish")
    expect(count("end") <= 1, "\(probe.name) heard \(count("end")) ends")
    expect(count("start") <= 1 && count("headers") <= 1 && count("half-close") <= 1, "\(probe.name): twice")
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
    expectRising(lines, "message out", "\(probe.name)")
    expectRising(lines, "bytes out", "\(probe.name)")
    expectRising(lines, "got-bytes in", "\(probe.name)")
    expectRising(lines, "got-message in", "\(probe.name)")
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

/// An interceptor that does anything.
private final class RandomInterceptor: Interceptor {
  let name: String
  let stages: Stages
  private(set) var hasEndedTheCall = false
  private let journal: Journal
  private let dice: RandomCall.Dice
  /// What to do, later, with the tokens that are held.
  private var held: [() -> Void] = []
  var heldCount: Int { held.count }

  init(_ name: String, _ stages: Stages, _ journal: Journal, _ dice: RandomCall.Dice) {
    self.name = name
    self.stages = stages
    self.journal = journal
    self.dice = dice
  }

  func resumeOne() {
    guard !held.isEmpty else { return }
    held.remove(at: dice.isCalm ? 0 : dice.roll(held.count))()
  }

  func letGo() { held = [] }

  private var error: RPCError { RPCError(.aborted, "failed by \(name)", origin: .interceptor(name)) }

  private func treat<Value, Direction>(
    _ token: consuming Token<Value, Direction>,
    proceed: @escaping (consuming Token<Value, Direction>) -> Void,
    other: @escaping (Int, consuming Token<Value, Direction>) -> Void
  ) {
    let box = Held(token)
    switch dice.isCalm ? 0 : dice.roll(12) {
    case 0..<6: box.use(proceed)
    case 6..<11:
      held.append { box.use(proceed) }
      if dice.roll(3) == 0 { resumeOne() }
    default:
      let choice = dice.roll(8)
      let act = { [unowned self] in
        if !box.isVoid { hasEndedTheCall = true }
        box.use { other(choice, $0) }
      }
      if dice.roll(2) == 0 { act() } else { held.append(act) }
    }
  }

  private func failOrRespond<Value>(_ choice: Int, _ token: consuming RequestToken<Value>) {
    switch choice {
    case 0...2: token.fail(error)
    case 3: break  // let go
    default:
      token.respond(
        LocalResponse(messages: [.bytes(TestMessages.bytes("local"))], error: choice == 4 ? error : nil))
    }
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    journal.note("\(name) start")
    treat(token, proceed: { $0.proceed(start) }, other: { self.failOrRespond($0, $1) })
  }
  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) {
    journal.note("\(name) message \(TestMessages.text(message))")
    treat(
      token, proceed: { $0.proceed(message) },
      other: { choice, token in if choice > 5 { token.drop() } else { self.failOrRespond(choice, token) } })
  }
  func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) {
    journal.note("\(name) bytes \(TestMessages.text(bytes))")
    treat(
      token, proceed: { $0.proceed(bytes) },
      other: { choice, token in if choice > 5 { token.drop() } else { self.failOrRespond(choice, token) } })
  }
  func requestEnd(_ token: consuming RequestToken<Void>) {
    journal.note("\(name) half-close")
    treat(token, proceed: { $0.proceed() }, other: { self.failOrRespond($0, $1) })
  }
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    journal.note("\(name) headers")
    treat(token, proceed: { $0.proceed(start) }, other: { [error] in if $0 != 3 { $1.fail(error) } })
  }
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    journal.note("\(name) got-bytes \(TestMessages.text(bytes))")
    treat(
      token, proceed: { $0.proceed(bytes) },
      other: { [error] in if $0 > 4 { $1.drop() } else { $1.fail(error) } })
  }
  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) {
    journal.note("\(name) got-message \(TestMessages.text(message))")
    treat(
      token, proceed: { $0.proceed(message) },
      other: { [error] in if $0 > 4 { $1.drop() } else { $1.fail(error) } })
  }
  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    journal.note("\(name) end \(end.code.name)")
    treat(token, proceed: { $0.proceed(end) }, other: { [error] in if $0 != 3 { $1.fail(error) } })
  }
  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
    journal.note("\(name) metrics")
    treat(token, proceed: { $0.proceed(metrics) }, other: { _, _ in })
  }
  func finish(_ outcome: Outcome) { journal.note("\(name) finish \(outcome.end.code.name)") }
}
