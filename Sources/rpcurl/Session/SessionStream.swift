import Calls
import Interception
import Output
import Protobuf
import RPCClient
import RPCProtocols

/// One call of a session, while it is open: observes it, and passes on what happens to what shows it.
final class SessionStream: CallObserver {
  /// Its place among the streams of the session; `nil` for a call that the prompt waits for.
  let number: Int?
  let plan: CallPlan
  let screen: CallScreen
  /// Where it was opened, in a script.
  let place: String?
  private let tell: (SessionVariables.LastMessage) -> Void
  private(set) var call: Call?
  /// Whether it takes more messages now.
  private(set) var wantsInput = true
  /// Whether no more messages may follow.
  private(set) var isHalfClosed = false
  /// How many responses have come, and how many of them were waited for.
  private(set) var received = 0
  var awaited = 0
  /// The call as it is saved.
  var saved: SavedCall?

  /// Makes a stream. `tell` hears of each response.
  init(
    _ plan: CallPlan, number: Int?, place: String?, _ screen: CallScreen,
    tell: @escaping (SessionVariables.LastMessage) -> Void
  ) {
    self.plan = plan
    self.number = number
    self.place = place
    self.screen = screen
    self.tell = tell
  }

  /// What it is called in prompts and lists.
  var title: String { number.map { "\(plan.method.name)[\($0)]" } ?? plan.method.name }
  /// What it is and how it stands, for lists.
  var summary: String { "\(plan.name) \(takesMessages ? "open" : "half-closed"), \(received) received" }
  /// Whether it is over, and all of it was shown.
  var isDone: Bool { call.map { $0.isFinished && !screen.isHolding } ?? true }
  /// Whether messages can be sent.
  var takesMessages: Bool { !isHalfClosed && call?.isFinished == false }

  func start(_ call: Call) {
    self.call = call
    screen.call = call
    call.start()
  }

  /// Sends a message that was encoded; the only one of a method that takes one half-closes.
  func send(_ payload: Payload) {
    call?.send(payload)
    if !plan.method.clientStreaming { halfClose() }
  }

  func halfClose() {
    guard !isHalfClosed else { return }
    isHalfClosed = true
    call?.finishSending()
  }

  /// Ends it, without a word from the server.
  func cancel(_ reason: String) {
    screen.printer.isGivenUp = true
    isHalfClosed = true
    call?.cancel(reason)
  }

  /// Lets go of the call, which keeps its observer.
  func forget() {
    call = nil
  }

  // MARK: From the call

  func callStarted(_ start: RequestStart, request: HTTPRequest?) {
    screen.callStarted(start, request: request)
  }

  func callSent(_ size: MessageSize) { screen.callSent(size) }

  func callReceived(_ size: MessageSize) { screen.callReceived(size) }

  func callReceived(_ start: ResponseStart) { screen.callReceived(start) }

  func callReceived(_ message: RawSpan) throws(RPCError) {
    received += 1
    tell(.bytes(message.copyBytes(), plan.codec, plan.method.output))
    try screen.callReceived(message)
  }

  func callReceived(_ message: Message) throws(RPCError) {
    received += 1
    tell(.typed(message))
    try screen.callReceived(message)
  }

  func callWantsInput(_ isWanted: Bool) { wantsInput = isWanted }

  func callEnded(_ end: ResponseEnd) { screen.callEnded(end) }

  func callMeasured(_ metrics: CallMetrics) { screen.callMeasured(metrics) }
}

/// The streams of a session.
struct SessionStreams {
  /// Those that are open, in the order of their numbers.
  private(set) var open: [SessionStream] = []
  /// The one that messages go to.
  private(set) var current: SessionStream?
  /// The one that was opened last, which may be over.
  private(set) var latest: SessionStream?
  private var lastNumber = 0

  /// The number of the next stream that is added.
  var nextNumber: Int { lastNumber + 1 }

  /// Adds a stream, which becomes the current one.
  mutating func add(_ stream: SessionStream) {
    lastNumber += 1
    open.append(stream)
    current = stream
    latest = stream
  }

  /// Whether the stream with this number is over, which it may be before its user knows.
  func hasEnded(_ text: String?) -> Bool {
    guard let number = text.flatMap({ Int($0) }) else { return false }
    return (1..<nextNumber).contains(number) && !open.contains { $0.number == number }
  }

  /// Takes out those that are over.
  mutating func takeDone() -> [SessionStream] {
    guard open.contains(where: \.isDone) else { return [] }
    let done = open.filter(\.isDone)
    open.removeAll(where: \.isDone)
    if let current, done.contains(where: { $0 === current }) { switchOn() }
    return done
  }

  /// Goes on with another stream that takes messages, if there is one.
  mutating func switchOn() {
    current = open.last { $0.takesMessages }
  }

  /// Makes a stream the current one.
  mutating func makeCurrent(_ stream: SessionStream) {
    current = stream
  }

  /// The stream with this number, or the current one without.
  func find(_ text: String?) throws(Failure) -> SessionStream {
    guard let text else {
      guard let stream = current ?? open.last else {
        throw Failure(.usage, "", "no stream is open", hint: "open METHOD")
      }
      return stream
    }
    guard let stream = open.first(where: { $0.number.map(String.init) == text }) else {
      let names = open.compactMap(\.number).map(String.init).joined(separator: ", ")
      throw Failure(
        .usage, text, "no such stream is open", hint: names.isEmpty ? nil : "open are \(names)")
    }
    return stream
  }
}
