import Interception
import Protobuf
import RPCProtocols

/// Something that happens in a call, and when.
struct LogEvent {
  enum Kind {
    case start(RequestStart)
    case sent(LoggedMessage)
    case halfClose
    case headers(ResponseStart)
    case received(LoggedMessage)
    case end(ResponseEnd)
    /// The last, also of a call that has no end of its own.
    case finish(Outcome)
  }

  /// In nanoseconds since 1970.
  let time: Int64
  /// Since the call started.
  let elapsed: Duration
  let kind: Kind
}

/// A message as it is written down.
struct LoggedMessage {
  /// Counted from 0 on in its direction.
  let index: Int
  /// Of protobuf's binary form.
  let sizeBytes: Int
  /// As JSON, when messages are asked for.
  let body: LoggedBody?
}

/// The JSON of a message, cut at a size.
struct LoggedBody {
  let text: String
  let isCut: Bool

  /// - Parameters:
  ///   - json: The whole text.
  ///   - limit: How many bytes of it are kept; fewer where a character would be cut.
  init(_ json: [UInt8], limit: Int) {
    isCut = json.count > limit
    var end = min(json.count, limit)
    while isCut, end > 0, json[end] & 0xC0 == 0x80 { end -= 1 }
    text = String(decoding: json[..<end], as: UTF8.self)
  }
}

/// A form in which calls are written down.
protocol LogWriter: AnyObject {
  /// Writes what has happened, at once.
  func write(_ event: LogEvent) throws(ServiceFailure)
}

/// Writes one call down, and lets everything pass. That it cannot write is told, and does not end the call.
final class Log: Interceptor {
  let stages: Stages
  private let writer: any LogWriter
  private let options: LogOptions
  private let context: CallContext
  private let services: any InterceptorServices
  private var startedAt: Int64?
  private var lastTime: Int64 = 0
  private var sentCount = 0
  private var receivedCount = 0
  private var hasFailed = false

  init(
    _ writer: any LogWriter, _ options: LogOptions, _ context: CallContext,
    _ services: any InterceptorServices
  ) {
    self.writer = writer
    self.options = options
    self.context = context
    self.services = services
    stages = [.requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage, .responseEnd]
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    startedAt = services.nanosecondsSince1970
    note(.start(start))
    token.proceed(start)
  }

  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) {
    note(.sent(logged(message, index: sentCount)))
    sentCount += 1
    token.proceed(message)
  }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    note(.halfClose)
    token.proceed()
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    note(.headers(start))
    token.proceed(start)
  }

  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) {
    note(.received(logged(message, index: receivedCount)))
    receivedCount += 1
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    note(.end(end))
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) {
    // A call that did not come as far as this interceptor is none to write down.
    if startedAt != nil { note(.finish(outcome)) }
  }

  private func logged(_ message: Message, index: Int) -> LoggedMessage {
    let sizeBytes = message.serialized().count
    guard options.bodies else { return LoggedMessage(index: index, sizeBytes: sizeBytes, body: nil) }
    let json = (try? options.redaction.redacted(message).json()) ?? []
    return LoggedMessage(
      index: index, sizeBytes: sizeBytes, body: LoggedBody(json, limit: options.maxBodyBytes))
  }

  private func note(_ kind: LogEvent.Kind) {
    let now = services.nanosecondsSince1970
    // The time of day may be set back.
    lastTime = max(lastTime, now - (startedAt ?? now))
    do {
      try writer.write(LogEvent(time: now, elapsed: .nanoseconds(lastTime), kind: kind))
    } catch {
      if !hasFailed { context.log(.error, "cannot be written: \(error.reason)") }
      hasFailed = true
    }
  }
}
