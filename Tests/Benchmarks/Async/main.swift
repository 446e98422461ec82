// What a call costs more through the asynchronous client than through the loop, without a network.
import RPCurlCall
import RPCurlClient
import RPCurlPlatform

/// Makes the file of the benchmark: `b.S` with the unary `U` and the server-streaming `T`, of one message.
func benchmarkSchema() throws -> DescriptorPool {
  func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    [number << 3 | 2, UInt8(content.count)] + content
  }
  func text(_ number: UInt8, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }
  func method(_ name: String, _ streams: Bool) -> [UInt8] {
    text(1, name) + text(2, ".b.Item") + text(3, ".b.Item") + (streams ? [48, 1] : [])
  }
  let item = text(1, "Item") + field(2, text(1, "text") + [24, 1, 32, 1, 40, 9])
  let service = text(1, "S") + field(2, method("U", false)) + field(2, method("T", true))
  let file =
    text(1, "b.proto") + text(2, "b") + field(4, item) + field(6, service) + text(12, "proto3")
  let pool = DescriptorPool()
  try pool.add(SchemaBytes(field(1, file)), source: "benchmark")
  return pool
}

/// Responds on the loop's thread, in place of a server.
final class Responder: StagedInterceptor {
  let stages: Stages = [.requestStart, .requestMessage, .requestEnd]
  private let context: CallContext
  private let count: Int
  private var left: Int
  private var start: HeldToken<RequestStart, Outbound>?
  private var message: HeldToken<Message, Outbound>?
  private var end: HeldToken<Void, Outbound>?

  init(_ context: CallContext, _ count: Int) {
    self.context = context
    self.count = count
    left = count
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    self.start = HeldToken(token)
  }

  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) {
    self.message = HeldToken(token)
  }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    end = HeldToken(token)
    context.start(response: ResponseStart())
    respond()
  }

  private func respond() {
    for _ in 0..<min(left, 200) { context.inject(response: .bytes(Self.item)) }
    left -= min(left, 200)
    guard left == 0 else { return context.whenResponseWanted { [weak self] in self?.respond() } }
    start?.use { $0.respond(LocalResponse()) }
  }

  static let item: [UInt8] = [10, 40] + Array(repeating: 120, count: 40)
}

func responder(_ count: Int) -> InterceptorRegistration {
  InterceptorRegistration(name: "server", factory: ClosureFactory { _, context in Responder(context, count) })
}

/// Parses the messages of a call, as the asynchronous client does.
final class Counter: CallObserver {
  let type: MessageType
  var count = 0

  init(_ type: MessageType) { self.type = type }

  func receive(_ event: CallEvent<Payload>) {
    guard case .responseMessage(let payload) = event else { return }
    if (try? Message(type, serialized: payload.serialized)) != nil { count += 1 }
  }
}

let clock = ContinuousClock()
let pool = try benchmarkSchema()
guard let unary = try pool.method(service: "b.S", method: "U"),
  let stream = try pool.method(service: "b.S", method: "T")
else { throw RPCError(.internal, "no methods", origin: .client) }
let request = Message(unary.input)

/// Runs calls through the loop; returns the time of each call.
func loopCalls(_ method: MethodDescriptor, _ calls: Int, messages: Int) throws -> Duration {
  let client = try LoopClient()
  var parameters = CallRequest(method: method, target: "http://test.invalid", userAgent: "benchmark")
  parameters.interceptors = [responder(messages)]
  return try clock.measure {
    for _ in 0..<calls {
      let counter = Counter(method.output)
      let call = client.makeCall(parameters, observer: counter)
      call.start()
      call.send(.typed(request))
      call.finishSending()
      try client.loop.run { call.isFinished }
      precondition(counter.count == messages)
    }
  } / calls
}

func unaryCalls(_ calls: Int) async throws -> Duration {
  try await withRPCClient("http://test.invalid", schema: Schema(pool), interceptors: [responder(1)]) {
    client in
    try await clock.measure {
      for _ in 0..<calls { _ = try await client.unary("b.S/U", request) }
    } / calls
  }
}

func streamedMessages(_ messages: Int) async throws -> Duration {
  try await withRPCClient("http://test.invalid", schema: Schema(pool), interceptors: [responder(messages)]) {
    client in
    try await clock.measure {
      var count = 0
      for try await _ in try await client.serverStreaming("b.S/T", request) { count += 1 }
      precondition(count == messages)
    }
  }
}

/// The time in which two threads wake each other once, and nothing else: a unary call of a task wakes the loop's thread,
/// which wakes the task's. Most of the call's time on processors that are idle, above all virtual ones.
func wakeUps(_ rounds: Int) -> Duration {
  let semaphores = UnsafeMutablePointer<sem_t>.allocate(capacity: 2)
  for index in 0..<2 { sem_init(semaphores + index, 0, 0) }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { semaphores in
      guard let semaphores = semaphores?.assumingMemoryBound(to: sem_t.self) else { return nil }
      while sem_wait(semaphores) == 0 { sem_post(semaphores + 1) }
      return nil
    }, semaphores)
  return clock.measure {
    for _ in 0..<rounds {
      sem_post(semaphores)
      sem_wait(semaphores + 1)
    }
  } / rounds
}

func median(_ values: [Duration]) -> Duration { values.sorted()[values.count / 2] }
func microseconds(_ duration: Duration) -> Double { duration / .microseconds(1) }

// The numbers of unary calls, of messages of a stream, and of rounds.
let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let (calls, messages, rounds) =
  numbers.count == 3 ? (numbers[0], numbers[1], numbers[2]) : (2_000, 1_000_000, 5)
var (wakes, loopUnary, asyncUnary): ([Duration], [Duration], [Duration]) = ([], [], [])
var (loopStream, asyncStream): ([Duration], [Duration]) = ([], [])
for _ in 0..<rounds {
  wakes.append(wakeUps(calls))
  loopUnary.append(try loopCalls(unary, calls, messages: 1))
  asyncUnary.append(try await unaryCalls(calls))
  loopStream.append(try loopCalls(stream, 1, messages: messages) / messages)
  asyncStream.append(try await streamedMessages(messages) / messages)
}
print(
  "unary call: loop \(microseconds(median(loopUnary))) µs, async \(microseconds(median(asyncUnary))) µs, "
    + "of which two threads need \(microseconds(median(wakes))) µs to wake each other")
print(
  "message:    loop \(microseconds(median(loopStream))) µs, async \(microseconds(median(asyncStream))) µs")
