import Calls
import Interception
import Output
import Protobuf
import RPCClient
import RPCProtocols

/// One call of a session, while it is open: observes it, and passes on what happens to what shows it.
package final class SessionStream: CallObserver {
  /// Its place among the streams of the session; `nil` for a call that the prompt waits for.
  package let number: Int?
  package let plan: CallPlan
  package let screen: CallScreen
  /// Where it was opened, in a script.
  package let place: String?
  private let tell: (SessionVariables.LastMessage) -> Void
  package private(set) var call: Call?
  /// Whether it takes more messages now.
  package private(set) var wantsInput = true
  /// Whether no more messages may follow.
  package private(set) var isHalfClosed = false
  /// How many responses have come, and how many of them were waited for.
  package private(set) var received = 0
  package var awaited = 0
  /// The call as it is saved.
  package var saved: SavedCall?

  /// Makes a stream. `tell` hears of each response.
  package init(
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
  package var title: String { number.map { "\(plan.method.name)[\($0)]" } ?? plan.method.name }
  /// What it is and how it stands, for lists.
  package var summary: String {
    "\(plan.name) \(takesMessages ? "open" : "half-closed"), \(received) received"
  }
  /// Whether it is over, and all of it was shown.
  package var isDone: Bool { call.map { $0.isFinished && !screen.isHolding } ?? true }
  /// Whether messages can be sent.
  package var takesMessages: Bool { !isHalfClosed && call?.isFinished == false }

  package func start(_ call: Call) {
    self.call = call
    screen.call = call
    call.start()
  }

  /// Sends a message that was encoded; the only one of a method that takes one half-closes.
  package func send(_ payload: Payload) {
    call?.send(payload)
    if !plan.method.clientStreaming { halfClose() }
  }

  package func halfClose() {
    guard !isHalfClosed else { return }
    isHalfClosed = true
    call?.finishSending()
  }

  /// Ends it, without a word from the server.
  package func cancel(_ reason: String) {
    screen.printer.isGivenUp = true
    isHalfClosed = true
    call?.cancel(reason)
  }

  /// Lets go of the call, which keeps its observer.
  package func forget() {
    call = nil
  }

  // MARK: From the call

  package func callStarted(_ start: RequestStart, request: HTTPRequest?) {
    screen.callStarted(start, request: request)
  }

  package func callSent(_ size: MessageSize) { screen.callSent(size) }

  package func callReceived(_ size: MessageSize) { screen.callReceived(size) }

  package func callReceived(_ start: ResponseStart) { screen.callReceived(start) }

  package func callReceived(_ message: RawSpan) throws(RPCError) {
    received += 1
    tell(.bytes(message.copyBytes(), plan.codec, plan.method.output))
    try screen.callReceived(message)
  }

  package func callReceived(_ message: Message) throws(RPCError) {
    received += 1
    tell(.typed(message))
    try screen.callReceived(message)
  }

  package func callWantsInput(_ isWanted: Bool) { wantsInput = isWanted }

  package func callEnded(_ end: ResponseEnd) { screen.callEnded(end) }

  package func callMeasured(_ metrics: CallMetrics) { screen.callMeasured(metrics) }
}

/// The streams of a session.
package struct SessionStreams {
  /// Those that are open, in the order of their numbers.
  package private(set) var open: [SessionStream] = []
  /// The one that messages go to.
  package private(set) var current: SessionStream?
  /// The one that was opened last, which may be over.
  package private(set) var latest: SessionStream?
  private var lastNumber = 0

  /// The number of the next stream that is added.
  package var nextNumber: Int { lastNumber + 1 }

  /// Adds a stream, which becomes the current one.
  package mutating func add(_ stream: SessionStream) {
    lastNumber += 1
    open.append(stream)
    current = stream
    latest = stream
  }

  /// Whether the stream with this number is over, which it may be before its user knows.
  package func hasEnded(_ text: String?) -> Bool {
    guard let number = text.flatMap({ Int($0) }) else { return false }
    return (1..<nextNumber).contains(number) && !open.contains { $0.number == number }
  }

  /// Takes out those that are over.
  package mutating func takeDone() -> [SessionStream] {
    guard open.contains(where: \.isDone) else { return [] }
    let done = open.filter(\.isDone)
    open.removeAll(where: \.isDone)
    if let current, done.contains(where: { $0 === current }) { switchOn() }
    return done
  }

  /// Goes on with another stream that takes messages, if there is one.
  package mutating func switchOn() {
    current = open.last { $0.takesMessages }
  }

  /// Makes a stream the current one.
  package mutating func makeCurrent(_ stream: SessionStream) {
    current = stream
  }

  /// The stream with this number, or the current one without.
  package func find(_ text: String?) throws(Failure) -> SessionStream {
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
