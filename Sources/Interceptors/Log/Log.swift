import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// An event of a call without credentials, and its time. The metrics are the last event, also of a call without an end.
struct LogEvent {
  /// The time in nanoseconds since 1970.
  let time: Int64
  /// The time since the call's start.
  let elapsed: Duration
  let event: CallEvent<LoggedMessage>
  /// The attributes of the call at its start; none later.
  let attributes: [(key: String, value: String)]
}

/// A logged message.
struct LoggedMessage {
  /// Its index in its direction, from 0.
  let index: Int
  /// Its size in protobuf's binary format.
  let sizeBytes: Int
  /// Its JSON, if messages are requested.
  let body: LoggedBody?
}

/// The JSON of a message, cut at a limit.
struct LoggedBody {
  let text: String
  let isCut: Bool

  /// Cuts the text.
  ///
  /// - Parameters:
  ///   - json: The whole text.
  ///   - limit: The maximum number of bytes to keep; fewer where a character would be cut.
  init(_ json: [UInt8], limit: Int) {
    isCut = json.count > limit
    var end = min(json.count, limit)
    while isCut, end > 0, json[end] & 0xC0 == 0x80 { end -= 1 }
    text = String(decoding: json[..<end], as: UTF8.self)
  }
}

/// Writes events in one format.
protocol LogWriter: AnyObject {
  /// Writes an event immediately.
  func write(_ event: LogEvent) throws(SystemError)
}

/// Logs one call, and forwards everything. A write error is reported, and does not end the call.
final class Log: StagedInterceptor {
  static let stages: Stages = [
    .requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage, .responseEnd,
  ]

  var stages: Stages { Self.stages }
  let messages = MessageAccesses(.readTyped)
  private let writer: any LogWriter
  private let options: LogOptions
  private var redaction: Redaction
  private let context: CallContext
  private let services: any InterceptorServices
  private var startedAt: Int64?
  private var lastTime: Int64 = 0
  private var sentCount = 0
  private var receivedCount = 0

  init(
    _ writer: any LogWriter, _ options: LogOptions, _ context: CallContext,
    _ services: any InterceptorServices
  ) {
    self.writer = writer
    self.options = options
    redaction = options.redaction.of(context.secrets)
    self.context = context
    self.services = services
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    startedAt = services.nanosecondsSince1970
    note(.requestStart(start), context.attributes)
    token.proceed(start)
  }

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    note(.requestMessage(logged(try message.typed, index: sentCount)))
    sentCount += 1
    token.proceed(message)
  }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    note(.requestEnd)
    token.proceed()
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    note(.responseStart(start))
    token.proceed(start)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    note(.responseMessage(logged(try message.typed, index: receivedCount)))
    receivedCount += 1
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    note(.responseEnd(end))
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) {
    // A call that ended before it reached this interceptor is not logged.
    if startedAt != nil { note(.metrics(outcome.metrics)) }
  }

  private func logged(_ message: Message, index: Int) -> LoggedMessage {
    let sizeBytes = message.serialized().count
    guard options.bodies else { return LoggedMessage(index: index, sizeBytes: sizeBytes, body: nil) }
    let json = (try? redaction.message(message).json()) ?? []
    return LoggedMessage(
      index: index, sizeBytes: sizeBytes, body: LoggedBody(json, limit: options.maxBodyBytes))
  }

  private func note(_ event: CallEvent<LoggedMessage>, _ attributes: CallAttributes = CallAttributes()) {
    let now = services.nanosecondsSince1970
    // The time of day may be set back.
    lastTime = max(lastTime, now - (startedAt ?? now))
    do {
      try writer.write(
        LogEvent(
          time: now, elapsed: .nanoseconds(lastTime), event: redaction.event(event),
          attributes: redaction.attributes(attributes)))
    } catch {
      options.failure.report { context.log(.error, "cannot write \(options.destination): \(error.reason)") }
    }
  }
}
