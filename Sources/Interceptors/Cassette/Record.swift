import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that write calls to a cassette.
struct RecordFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "record", summary: "record calls to a cassette, for replay",
    keys: [
      BuiltIns.Key("file=FILE", "cassette file", isOutput: true),
      BuiltIns.Key(
        "append=true|false", "append to an existing cassette instead of replacing it", default: "false"),
    ] + SettingsReader.redactionKeys,
    isHarmless: true,
    make: { settings, services throws(ConfigurationError) in try RecordFactory(settings, services) })

  private let writer: CassetteWriter

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    guard let path = settings.text("file"), !path.isEmpty else {
      throw settings.error("file", "missing value")
    }
    let isAppending = try settings.flag("append") ?? false
    writer = try CassetteWriter(path, isAppending: isAppending, settings, services)
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: Record.stages, messages: MessageAccesses(.readTyped), effects: [.exports, .readsMessages]
    ).keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    writer.redaction.reportMissingFields(call, context)
    return Record(writer.makeRecording(of: call, context), context)
  }
}

/// Records one call to a cassette, and forwards everything.
final class Record: StagedInterceptor {
  static let stages: Stages = [
    .requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage, .responseEnd,
  ]
  var stages: Stages { Self.stages }
  let messages = MessageAccesses(.readTyped)
  private let recording: CallRecording
  private let context: CallContext

  init(_ recording: CallRecording, _ context: CallContext) {
    self.recording = recording
    self.context = context
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
    try recording.write(.requestStart(start))
    token.proceed(start)
  }

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    try recording.write(.requestMessage(message.typed))
    token.proceed(message)
  }

  func requestEnd(_ token: consuming RequestToken<Void>) throws {
    try recording.write(.requestEnd)
    token.proceed()
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws {
    try recording.write(.responseStart(start))
    token.proceed(start)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    try recording.write(.responseMessage(message.typed))
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws {
    try recording.write(end, isGivenUp: token.isVoid)
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) {
    guard recording.isOpen else { return }
    do {
      try recording.write(.responseEnd(outcome.end))
    } catch {
      context.log(.error, error.message)
    }
  }
}
