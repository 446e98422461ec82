import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlScripts

/// Random calls through random chains, once with interceptors in this program and once with scripts that do the same: the wire
/// and the caller receive the same.
struct DifferentialTests {
  private static let runs = getenv("RPCURL_RANDOM_RUNS").flatMap { Int(String(cString: $0)) } ?? 2000

  @Test func scriptsDoWhatInterceptorsOfTheProgramDo() throws {
    let script = try FakeScript(seed: 7, hello: { Deed.hello($0) }) { line, name in
      Deed.replies(to: line, name)
    }
    defer { script.stop() }
    let loop = ScriptLoop()
    let factories = try (0..<3).map { index in
      try ScriptFactory(ScriptSettings(.socket(script.path), name: "I\(index)"))
    }
    for factory in factories { factory.attach(loop.network) }
    for seed in 1...max(Self.runs, 50) {
      let plan = CallPlan(UInt64(seed))
      let native = PlannedCall(plan, plan.order.map { NativeFactory(index: $0, seed: plan.seed) })
      native.perform { native.call.outcome != nil }
      let scripted = PlannedCall(plan, plan.order.map { factories[$0] })
      let isDone = loop.run {
        scripted.perform { false }
        return scripted.call.outcome != nil
      }
      #expect(isDone, "seed \(seed): the call did not end")
      // What an interceptor further in has sent when one ends the call depends on the time.
      if plan.hasEnder {
        #expect(scripted.lines(of: "caller") == native.lines(of: "caller"), "seed \(seed)")
        let (one, other) = (scripted.lines(of: "wire"), native.lines(of: "wire"))
        #expect(one.starts(with: other) || other.starts(with: one), "seed \(seed)")
      } else {
        #expect(scripted.lines(of: "caller") == native.lines(of: "caller"), "seed \(seed)")
        #expect(scripted.lines(of: "wire") == native.lines(of: "wire"), "seed \(seed)")
        #expect(scripted.metadata == native.metadata, "seed \(seed)")
        #expect(scripted.findings == native.findings, "seed \(seed)")
      }
      if !isDone { break }
    }
    for factory in factories { factory.conclude(loop.network) {} }
  }
}

/// A random call: its chain, and what both ends send.
struct CallPlan {
  let seed: UInt64
  let kind: CallKind
  let order: [Int]
  let requests: [String]
  let responses: [String]

  init(_ seed: UInt64) {
    self.seed = seed
    var generator = SeededGenerator(seed: seed)
    kind = CallKind.allCases[Int(generator.next() >> 33) % 4]
    order = Array([0, 1, 2].shuffled(using: &generator).prefix(1 + Int(generator.next() >> 33) % 3))
    let counts = [kind.clientStreams, kind.serverStreams].map { $0 ? Int(generator.next() >> 33) % 5 : 1 }
    requests = (0..<counts[0]).map { "q\($0)" }
    responses = (0..<counts[1]).map { "r\($0)" }
  }

  /// Whether an interceptor may end the call.
  var hasEnder: Bool { Deed.ender(seed).map { order.contains($0.index) } ?? false }
}

extension Stage {
  var isRequest: Bool { Stages.request.contains(self) }
}

/// What an interceptor does with a value: a function of the seed of the call, its number, the stage and the text of the message.
enum Deed: Equatable {
  case none, tag, change, drop, inject, fail, respond, attribute, finding

  /// The one interceptor that may end the call, and where.
  static func ender(_ seed: UInt64) -> (index: Int, stage: Stage)? {
    var generator = SeededGenerator(seed: seed &* 31 &+ 5)
    guard generator.next() >> 33 % 3 == 0 else { return nil }
    let stages: [Stage] = [
      .requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage, .responseEnd,
    ]
    return (Int(generator.next() >> 33) % 3, stages[Int(generator.next() >> 33) % 6])
  }

  init(_ seed: UInt64, _ index: Int, _ stage: Stage, _ text: String, isStream: Bool) {
    var hash = seed
    for byte in "\(index) \(stage) \(text)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    var generator = SeededGenerator(seed: hash)
    let roll = Int(generator.next() >> 33) % 10
    if let ender = Self.ender(seed), ender.index == index, ender.stage == stage, roll < 5 {
      self = stage.isRequest && roll < 2 ? .respond : .fail
      return
    }
    let isMessage = Stages.messages.contains(stage)
    switch roll {
    case 0: self = isMessage ? .change : .tag
    case 1: self = isMessage ? .change : .attribute
    case 2: self = isMessage && isStream ? .drop : .finding
    case 3 where isStream && (isMessage || stage == .requestEnd || stage == .responseEnd): self = .inject
    case 4: self = .finding
    default: self = .none
    }
    if self == .tag, stage == .requestEnd || stage == .metrics { self = .none }
    if stage == .metrics, self != .finding { self = .none }
  }

  /// Interceptor 1 receives bytes, 2 only reads the response.
  static func hello(_ name: String) -> String {
    let forms = [
      "I0": "", "I1": #","request":"bytes","response":"bytes""#,
      "I2": #","request":"json","response":"json""#,
    ]
    let stages = Stage.allCases.filter { $0 != .attemptEnd }.map { "\"\($0)\"" }.joined(separator: ",")
    return "{\"rpcurl\":1,\"stages\":[\(stages)]\(forms[name] ?? "")}"
  }

  /// The seeds of the calls by connection and call.
  private static let seeds = Locked<[String: (UInt64, String)]>([:])

  static func replies(to line: JSONValue, _ name: String) -> [String] {
    let key = "\(name) \(line.number("call"))"
    if line.string("stage") == "request_start" {
      let seed = line.seed
      let kind = line.string("kind")
      seeds.withLock { $0[key] = (seed, kind) }
    }
    let (seed, kind) = seeds.withLock { $0[key] } ?? (0, "")
    guard let stage = Stage.allCases.first(where: { $0.description == line.string("stage") }) else {
      return []
    }
    let index = Int(name.dropFirst()) ?? 0
    let isBytes = index == 1
    let text = line.messageText
    let isStream =
      CallKind(rawValue: kind).map { stage.isRequest ? $0.clientStreams : $0.serverStreams } ?? false
    func body(_ text: String) -> String {
      isBytes ? "\"bytes\":\"\(Base64.encode(TestMessages.bytes(text)))\"" : "\"message\":\"\(text)\""
    }
    func reply(_ members: String) -> [String] { ["\(line.reply)\(members)}"] }
    switch Deed(seed, index, stage, text, isStream: isStream) {
    case .none:
      return index == 2 ? ["{\"call\":\(line.number("call")),\"upto\":\(line.number("value"))}"] : reply("")
    case .tag: return reply(",\"headers\":{\"add\":{\"tag\":\"\(name)\"}}")
    case .change: return reply(",\(body(text + "\(index)"))")
    case .drop: return reply(",\"drop\":true")
    case .inject: return reply(",\"inject\":[{\(body("i\(index)\(text)"))}]")
    case .fail: return reply(#","fail":{"code":"aborted","message":"ended"}"#)
    case .respond: return reply(",\"respond\":{\(body("L")),\"trailers\":[[\"tag\",\"\(name)\"]]}")
    case .attribute: return reply(",\"attributes\":{\"a\(index)\":\"1\"}")
    case .finding: return reply(",\"finding\":{\"kind\":\"note\",\"text\":\"\(name) \(stage)\"}")
    }
  }
}

extension JSONValue {
  fileprivate var seed: UInt64 {
    guard case .array(let fields)? = self["headers"] else { return 0 }
    for case .array(let field) in fields {
      if field.first == .string("seed"), case .string(let text) = field[1] { return UInt64(text) ?? 0 }
    }
    return 0
  }

  fileprivate var messageText: String {
    if Stages.messages.contains(Stage.allCases.first { $0.description == string("stage") } ?? .metrics) {
      if self["bytes"] != nil { return TestMessages.text(Base64.decode(string("bytes")) ?? []) }
      return string("message")
    }
    return ""
  }
}

/// Does the same as the script, in this program.
struct NativeFactory: InterceptorFactory {
  let index: Int
  let seed: UInt64

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    NativeInterceptor(index, seed, call.kind, context)
  }
}

private final class NativeInterceptor: AnyStageInterceptor {
  let stages = Stages.all.subtracting(.attemptEnd)
  let messages: MessageAccesses
  private let (index, seed, kind, context): (Int, UInt64, CallKind, CallContext)

  init(_ index: Int, _ seed: UInt64, _ kind: CallKind, _ context: CallContext) {
    (self.index, self.seed, self.kind, self.context) = (index, seed, kind, context)
    messages = MessageAccesses(index == 1 ? .changeBytes : .changeTyped)
  }

  private func payload(_ text: String) -> Payload {
    index == 1 ? .bytes(TestMessages.bytes(text)) : .typed(TestMessages.make(text))
  }

  func receive(_ value: CallEvent<MessageValue>, _ token: consuming AnyToken) throws {
    let stage = token.stage
    let isStream = stage.isRequest ? kind.clientStreams : kind.serverStreams
    var text = ""
    switch value {
    case .requestMessage(let message), .responseMessage(let message):
      text = try index == 1 ? TestMessages.text(message.bytes) : TestMessages.text(message.typed)
    default: break
    }
    let name = "I\(index)"
    switch Deed(seed, index, stage, text, isStream: isStream) {
    case .none: token.proceed(value)
    case .tag: token.proceed(tagged(value, name))
    case .change: token.proceed(try changed(value, text + "\(index)"))
    case .drop: token.drop()
    case .inject:
      token.inject(payload("i\(index)\(text)"))
      token.proceed(value)
    case .fail: token.fail(RPCError(.aborted, "ended", origin: .interceptor(name)), trailers: Headers())
    case .respond: token.respond(LocalResponse(messages: [payload("L")], trailers: Headers([("tag", name)])))
    case .attribute:
      try context.setAttribute("a\(index)", "1")
      token.proceed(value)
    case .finding:
      context.report(.note, "\(name) \(stage)")
      token.proceed(value)
    }
  }

  private func tagged(_ value: CallEvent<MessageValue>, _ name: String) -> CallEvent<MessageValue> {
    switch value {
    case .requestStart(var start):
      start.headers.add("tag", name)
      return .requestStart(start)
    case .responseStart(var start):
      start.headers.add("tag", name)
      return .responseStart(start)
    case .responseEnd(var end):
      end.trailers.add("tag", name)
      return .responseEnd(end)
    default: return value
    }
  }

  private func changed(_ value: CallEvent<MessageValue>, _ text: String) throws -> CallEvent<MessageValue> {
    func change(_ message: MessageValue) throws -> MessageValue {
      var message = message
      if index == 1 {
        try message.setBytes(TestMessages.bytes(text))
      } else {
        try message.setTyped(TestMessages.make(text))
      }
      return message
    }
    switch value {
    case .requestMessage(let message): return .requestMessage(try change(message))
    case .responseMessage(let message): return .responseMessage(try change(message))
    default: return value
    }
  }
}

/// A call of a plan through interceptors.
final class PlannedCall {
  let plan: CallPlan
  let call: TestCall
  private var hasStarted = false
  private var hasResponded = false

  init(_ plan: CallPlan, _ factories: [any InterceptorFactory]) {
    self.plan = plan
    call = TestCall(
      plan.kind, Journal(),
      zip(plan.order, factories).map { InterceptorRegistration(name: "I\($0)", factory: $1) }, typed: true)
    call.request.headers.add("seed", "\(plan.seed)")
  }

  /// Does what can be done now, until a condition holds.
  func perform(until isDone: () -> Bool) {
    call.work()
    if !hasStarted {
      hasStarted = true
      call.start()
      for text in plan.requests { call.send(text) }
      call.close()
    }
    if !hasResponded, lines(of: "wire").last == "half-close" {
      hasResponded = true
      call.receiveHeaders()
      for text in plan.responses { call.receive(text) }
      call.receiveEnd()
    }
    call.work()
  }

  /// What reached an end of the chain, without measurements and cancellations.
  func lines(of end: String) -> [String] {
    call.journal.lines(of: end).filter { $0 != "cancel" && !$0.hasPrefix("metrics") }
  }

  /// The headers, trailers and the text of the status that reached both ends.
  var metadata: [String] {
    (call.sentStart?.headers.values("tag") ?? []) + ["|"] + (call.receivedStart?.headers.values("tag") ?? [])
      + ["|"] + (call.end?.trailers.values("tag") ?? []) + [call.end?.error?.message ?? ""]
  }

  var findings: [String] { call.found.map { "\($0.interceptor) \($0.text)" }.sorted() }
}
