import RPCurlBase
import RPCurlLanguage
// What a chain of interceptors that pass everything on costs for each message of a stream, without a network.
//
// usage: ChainBenchmark MESSAGES PLUGINS [CHAIN]
//   PLUGINS the directory with passing.so, built from passing.c, and the sample redact.so
//   CHAIN   the number of the one chain to run, for counting instructions

import RPCurlChain
import RPCurlInterceptors
import RPCurlPlatform
import RPCurlPluginHost
import RPCurlProtobuf
import RPCurlProtocols

/// Passes everything on.
final class Passing: StagedInterceptor {
  let stages: Stages
  let messages: MessageAccesses
  init(_ stages: Stages, _ messages: MessageAccess) {
    self.stages = stages
    self.messages = MessageAccesses(messages)
  }
  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
    token.proceed(message)
  }
  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    token.proceed(message)
  }
}

/// Both ends of a call, which only count.
final class Ends: ChainCaller, ChainTransport {
  var count = 0
  func start(_ start: RequestStart) {}
  func send(_ bytes: [UInt8]) { count += 1 }
  func closeRequest() {}
  func cancel(_ error: RPCError) {}
  func responseWanted(_ isWanted: Bool) {}
  func measure() {}
  func receive(_ event: CallEvent<Payload>) {
    if case .responseMessage = event { count += 1 }
  }
  func receive(message: RawSpan) { count += 1 }
  func finished(_ outcome: Outcome) {}
  func inputWanted(_ isWanted: Bool) {}
}

/// A clock whose timers never fire.
final class StillClock: ChainClock {
  var now: MonotonicClock.Instant { .now }
  var coarseNanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  func preemption(since begin: Int64) -> Int64 { 0 }
  func schedule(after delay: Duration, _ body: @escaping () -> Void) -> Int { 1 }
  func cancel(_ timer: Int) {}
}

struct Usage: Error {}

func messageType() throws -> MessageType {
  let pool = DescriptorPool()
  try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
  guard let type = try pool.messageType(named: "google.protobuf.StringValue") else { throw Usage() }
  return type
}

guard CommandLine.arguments.count >= 3, let messages = Int(CommandLine.arguments[1]) else { throw Usage() }
let type = try messageType()
let sources = ValueSources(
  file: { _ throws(LanguageError) in throw LanguageError("no files") },
  environment: { _ in nil },
  command: { _ throws(LanguageError) in throw LanguageError("no commands") })
let bytes = [0x0a, 47] + [UInt8](repeating: UInt8(ascii: "x"), count: 47)

/// The time that one message takes, in nanoseconds: the best of some rounds.
func measure(_ registrations: [InterceptorRegistration], isOutbound: Bool) -> Double {
  var best = Double.infinity
  for _ in 0..<5 {
    let ends = Ends()
    let chain = ChainBuilder(registrations).makeChain(
      for: CallFacts(
        method: MethodName(service: "test.Echo", method: "Say"), kind: .bidiStreaming, protocolName: .grpc,
        target: "http://server", requestType: type, responseType: type),
      codec: MessageCodec(
        serialize: { $0.serialized() }, parseRequest: { try Message(type, serialized: $0) },
        parseResponse: { try Message(type, serialized: $0) }),
      environment: ChainEnvironment(clock: StillClock(), post: { _ in }))
    chain.start(
      RequestStart(method: chain.facts.method, target: "http://server"), caller: ends,
      transport: { _ in ends })
    chain.receive(.responseStart(ResponseStart()))
    let begin = MonotonicClock.now
    if isOutbound {
      for _ in 0..<messages { chain.send(.bytes(bytes)) }
    } else {
      for _ in 0..<messages { chain.receive(message: bytes.span.bytes) }
    }
    let spent = (MonotonicClock.now - begin).components
    precondition(ends.count == messages)
    best = min(best, (Double(spent.seconds) * 1e9 + Double(spent.attoseconds) / 1e9) / Double(messages))
    chain.cancel(RPCError(.canceled, "", origin: .client))
  }
  return best
}

func swift(_ count: Int, _ stages: Stages, _ messages: MessageAccess) -> [InterceptorRegistration] {
  (0..<count).map { number in
    InterceptorRegistration(
      name: "passing\(number)", factory: ClosureFactory { _, _ in Passing(stages, messages) })
  }
}

func plugin(_ text: String) throws -> InterceptorRegistration {
  let loader = PluginLoader(
    searchPath: PluginSearchPath([CommandLine.arguments[2]]), hostVersion: "0", log: { _ in })
  return try loader.load(InterceptorSpec(parsing: text, sources: sources)).registration
}

func builtIn(_ text: String) throws -> InterceptorRegistration {
  try BuiltIns.registration(
    InterceptorSpec(parsing: text, sources: sources), services: SystemServices(waitLimit: nil))
}

func plugins(_ count: Int, _ stages: String) throws -> [InterceptorRegistration] {
  try (0..<count).map { _ in try plugin("passing,stages=\(stages)") }
}

let chains: [(String, [InterceptorRegistration])] = [
  ("no interceptor", []),
  ("1 in Swift, bytes", swift(1, .messages, .readBytes)),
  ("4 in Swift, bytes", swift(4, .messages, .readBytes)),
  ("8 in Swift, bytes", swift(8, .messages, .readBytes)),
  ("10 in Swift, headers only", swift(10, [.requestStart, .responseStart, .responseEnd], .none)),
  ("10 in Swift, bytes", swift(10, .messages, .readBytes)),
  ("10 in Swift, every stage", swift(10, .all, .readTyped)),
  ("10 in C, headers only", try plugins(10, "headers")),
  ("10 in C, bytes", try plugins(10, "bytes")),
  ("10 in C, every stage", try plugins(10, "all")),
  ("edit", [try builtIn("edit,set=value=y,response-set=value=y")]),
  ("redact", [try plugin("redact,field=value")]),
]

func column(_ nanoseconds: Double) -> String {
  let text = "\(Int(nanoseconds.rounded()))"
  return String(repeating: " ", count: max(0, 10 - text.count)) + text
}
print("nanoseconds for each message of 49 bytes      out        in")
let only = CommandLine.arguments.dropFirst(3).first.flatMap { Int($0) }
for (number, (name, registrations)) in chains.enumerated() where only == nil || only == number {
  let label = name + String(repeating: " ", count: max(0, 36 - name.count))
  print(
    label, column(measure(registrations, isOutbound: true)), column(measure(registrations, isOutbound: false))
  )
}
