import RPCurlCall
import RPCurlChain
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// A call of a session.
///
/// A call ends when its server, its deadline or a command ends it, and is concluded then: its result is printed. The commands of a
/// file do not depend on that time, and so not on how fast the server is. They see the end of a stream when they have waited
/// for it, or have canceled the stream; until then it is open for them, and only then does its failure count.
package final class SessionStream {
  /// How far the call is.
  private enum Phase {
    case running
    /// It has ended, and its result is printed.
    case concluded
    /// Commands see its end.
    case ended
  }

  /// The number of the stream; nil for a call that the prompt waits for.
  package let number: Int?
  package let plan: CallPlan
  /// How request data is read now.
  package private(set) var form: RequestForm
  package let printer: CallPrinter
  /// The file and line of the script that opened it.
  package let place: SessionPlace?
  package private(set) var call: Call?
  private var phase = Phase.running
  /// The exit status that the call causes; nil if it succeeded, or is not concluded.
  package private(set) var failure: ExitStatus?
  /// Whether the session canceled it.
  package private(set) var isCanceled = false
  /// Whether the request is closed.
  package private(set) var isHalfClosed = false
  /// The number of messages sent.
  package var sent = 0
  /// The number of responses received, and of those that `receive` waited for.
  package private(set) var received = 0
  package private(set) var awaited = 0
  /// Whether commands see the responses that `receive` waited for, and not those that have arrived since. What a script
  /// sees then does not depend on how fast the server is.
  private var isStepped = false
  /// The responses that checks look at: the first ones, and the last one.
  private var kept: [SessionMessage] = []
  private var keptBytes = 0
  private var last: SessionMessage?
  /// The record of the call.
  package var saved: SavedCall?

  /// Creates a stream.
  ///
  /// - Parameters:
  ///   - plan: The call.
  ///   - number: The number of the stream; nil for a call that the prompt waits for.
  ///   - place: The file and line of the script that opens it.
  ///   - printer: Prints the call.
  ///   - onResponse: Called with each response message.
  package init(
    _ plan: CallPlan, number: Int?, place: SessionPlace?, _ printer: CallPrinter,
    onResponse: @escaping (SessionStream, SessionMessage) -> Void
  ) {
    (self.plan, form) = (plan, plan.settings.requestForm)
    self.number = number
    self.place = place
    self.printer = printer
    printer.onResponse = { [weak self] message in
      guard let self else { return }
      received += 1
      let last: SessionMessage =
        switch message {
        case .bytes(let bytes): .bytes(bytes, plan.settings.wire.codec, plan.method.output)
        // Encoded, so that the limit of what is kept holds for it too.
        case .typed(let message): .bytes(message.serialized(), .proto, message.type)
        }
      keep(last)
      onResponse(self, last)
    }
  }

  /// The limits of the responses that checks can look at, besides the last one.
  private static let keptLimit = (count: 10_000, bytes: 16 << 20)

  private func keep(_ message: SessionMessage) {
    last = message
    // After one that is not kept, none is: they are found by their numbers.
    guard kept.count == received - 1, kept.count < Self.keptLimit.count,
      keptBytes + Self.size(of: message) <= Self.keptLimit.bytes
    else { return }
    kept.append(message)
    keptBytes += Self.size(of: message)
  }

  private static func size(of message: SessionMessage) -> Int {
    if case .bytes(let bytes, _, _) = message { bytes.count } else { 0 }
  }

  /// Keeps the last response only.
  fileprivate func releaseResponses() { (kept, keptBytes) = ([], 0) }

  /// The bytes of the responses that checks can look at.
  fileprivate var heldBytes: Int { keptBytes + (kept.count < received ? last.map(Self.size) ?? 0 : 0) }

  /// The number of responses that commands see.
  package var seen: Int { isStepped ? min(awaited, received) : received }

  /// Waits for more responses: commands see no others.
  package func step(over count: Int) {
    awaited += min(count, Int.max - awaited)
    isStepped = true
  }

  /// Waits no longer for responses that have not arrived.
  package func endStep() { awaited = min(awaited, received) }

  // MARK: Its end

  /// Whether the call has ended and its output is complete.
  package var isDone: Bool { call.map { $0.isFinished && !printer.isHolding } ?? true }
  /// Whether commands see its end.
  package var hasEnded: Bool { phase == .ended }
  /// The end that commands see; nil before.
  private var end: ResponseEnd? { hasEnded ? printer.end : nil }

  /// Prints the findings of interceptors about a call that has ended. Returns false if that is done.
  package func conclude() -> Bool {
    guard phase == .running, isDone else { return false }
    phase = .concluded
    failure = printer.conclude() ?? printer.failure?.status
    return true
  }

  /// Lets commands see the end of a call that is concluded, and all responses. Returns false if they see the end already.
  package func showEnd() -> Bool {
    isStepped = false
    guard phase == .concluded else { return false }
    phase = .ended
    saved?.hasFailed = failure != nil && (!isCanceled || number == nil)
    saved?.limit = isCanceled ? received : nil
    // The call retains its observer.
    call = nil
    return true
  }

  /// A response, counted from 0; nil if it is not kept.
  package func response(_ number: Int) -> SessionMessage? {
    kept.indices.contains(number) ? kept[number] : number == received - 1 ? last : nil
  }

  /// What checks look at: of a call that failed because a response is not a message of its type, the others.
  ///
  /// - Throws: `Failure` if such a response is not the reason of a failure.
  package func result() throws(Failure) -> CallResult {
    var result = CallResult(method: plan.name, type: plan.method.output, status: end?.code ?? .ok)
    result.error = end?.error?.message ?? ""
    result.details = end?.error?.details ?? []
    result.start = printer.start ?? ResponseStart()
    result.trailers = end?.trailers ?? Headers()
    result.latency = printer.elapsed ?? .zero
    result.redaction = printer.redaction
    for message in kept.prefix(seen) {
      do throws(Failure) {
        result.add(try message.message())
      } catch {
        guard end?.error != nil else { throw error }
      }
    }
    if seen > kept.count {
      result.last = seen == received ? try last?.message() : nil
      result.count = seen
    }
    return result
  }

  /// The name of the stream in prompts, errors and lists: `Chat[1]`.
  package var title: String { number.map { Self.title(plan.method.name, $0) } ?? plan.method.name }

  /// The name of a stream: `Chat[1]`.
  package static func title(_ method: String, _ number: Int) -> String { "\(method)[\(number)]" }

  /// The state of the stream for lists.
  package var summary: String {
    "\(plan.name) \(acceptsMessages ? "open" : "half-closed"), \(received) received"
  }
  /// The status of the call that has ended: `ok (0)`.
  package var status: String {
    let code = printer.end?.code ?? .ok
    return "\(code.name) (\(code.rawValue))"
  }

  /// The status with its message: `unavailable (14): try later`.
  package var statusAndMessage: String {
    let message = printer.end?.error?.message ?? ""
    return message.isEmpty ? status : "\(status): \(message)"
  }

  /// The number of responses, in words.
  package var count: String {
    received == 0 ? "no responses" : "\(received) response\(received == 1 ? "" : "s")"
  }

  /// Uses the settings of the output and of request data from now on, and which names are secret.
  package func show(as settings: CallSettings) {
    form = settings.requestForm
    call?.secrets.add(names: settings.secretNames, of: call?.httpRequest?.headers ?? Headers())
    printer.show(as: settings.output)
  }

  /// Whether messages can be sent. They are dropped if the server has ended the stream meanwhile.
  package var acceptsMessages: Bool { !isHalfClosed && !hasEnded }

  package func start(_ call: Call) {
    self.call = call
    printer.call = call
    call.start()
  }

  /// Sends an encoded message. Half-closes if the method accepts only one.
  package func send(_ payload: Payload) {
    call?.send(payload)
    if !plan.method.clientStreaming { halfClose() }
  }

  package func halfClose() {
    guard !isHalfClosed else { return }
    isHalfClosed = true
    call?.finishSending()
  }

  /// Cancels the call. Its end is no failure.
  package func cancel(_ reason: String) {
    printer.isGivenUp = true
    isCanceled = true
    isHalfClosed = true
    call?.cancel(reason)
  }
}

extension SessionStream: LastCall {
  package var responseType: MessageType { plan.method.output }
  package var endStatus: StatusCode? { end.map(\.code) }
  package var details: [StatusDetail] { end?.error?.details ?? [] }
  package var headers: Headers? { printer.start?.headers ?? trailers.map { _ in Headers() } }
  package var trailers: Headers? { end?.trailers }
}

/// The streams of a session.
package struct SessionStreams {
  /// The limits of the streams that have ended and can be named.
  private static let endedLimit = (count: 100, bytes: 64 << 20)

  /// The streams whose end commands have not seen, by number.
  package private(set) var open: [SessionStream] = []
  /// The streams that have ended, as many as are kept.
  private var ended: [SessionStream] = []
  /// The stream that was opened, switched to, sent on or received from last: `receive` waits for its responses. It may
  /// have ended.
  package var selected: SessionStream?
  private var lastNumber = 0

  /// The stream that messages are sent to.
  package var current: SessionStream? {
    if let selected, selected.acceptsMessages { return selected }
    return open.last(where: \.acceptsMessages)
  }

  /// The open streams, and those that have ended, as many as are kept.
  package var all: [SessionStream] { open + ended }

  /// The number of the next stream.
  package var nextNumber: Int { lastNumber + 1 }

  /// Adds a stream.
  package mutating func add(_ stream: SessionStream) {
    lastNumber += 1
    open.append(stream)
  }

  /// Whether the stream with this number has ended.
  package func hasEnded(_ text: String?) -> Bool {
    guard let number = text.flatMap({ Int($0) }) else { return false }
    return (1..<nextNumber).contains(number) && !open.contains { $0.number == number }
  }

  /// Makes a stream one that has ended.
  package mutating func end(_ stream: SessionStream) {
    guard let index = open.firstIndex(where: { $0 === stream }) else { return }
    ended.append(open.remove(at: index))
    limit()
  }

  /// Keeps the limits: releases streams that have ended, the first ones first, and then all but the last response of streams
  /// whose end no command has seen.
  package mutating func limit() {
    let unseen = open.filter(\.isDone)
    var bytes = (unseen + ended).reduce(0) { $0 + $1.heldBytes }
    while ended.count > Self.endedLimit.count || ended.count > 1 && bytes > Self.endedLimit.bytes {
      bytes -= ended.removeFirst().heldBytes
    }
    for stream in unseen where bytes > Self.endedLimit.bytes {
      bytes -= stream.heldBytes
      stream.releaseResponses()
      bytes += stream.heldBytes
    }
  }

  /// Returns to the streams of an earlier time. Those that have ended since then remain so.
  package mutating func restore(_ earlier: SessionStreams) {
    func isEarlier(_ stream: SessionStream) -> Bool { (stream.number ?? 0) < earlier.nextNumber }
    let (open, ended) = (open.filter(isEarlier), ended.filter(isEarlier))
    self = earlier
    (self.open, self.ended) = (open, ended)
  }

  /// The stream with this number or name, such as `Chat[1]`. For nil, the current stream, or else the selected one unless the
  /// session has canceled it, or else the last open one.
  ///
  /// - Throws: `Failure` if there is none, or if it has ended and is not kept.
  package func find(_ text: String?) throws(Failure) -> SessionStream {
    guard let text else {
      let selected = selected.flatMap { $0.isCanceled ? nil : $0 }
      guard let stream = current ?? selected ?? open.last else {
        throw Failure(.usage, "", "no stream is open", hint: "open METHOD")
      }
      return stream
    }
    let number = Int(text)
    guard let stream = all.first(where: { number != nil && $0.number == number || $0.title == text }) else {
      let names = open.map(\.title).joined(separator: ", ")
      let hint = names.isEmpty ? nil : "open streams: \(names)"
      guard !text.isEmpty else { throw Failure(.usage, "stream", "missing number", hint: hint) }
      throw Failure(
        .usage, text, hasEnded(text) ? "the stream has ended, and is not kept" : "no such stream is open",
        hint: hint)
    }
    return stream
  }
}
