import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Responds to one call from a cassette.
///
/// As request messages arrive, recorded calls that do not match are dropped. The first remaining one
/// determines the response: each response message is sent after as many request messages as in the recording.
/// So bidirectional streams alternate as recorded.
final class Replay: StagedInterceptor {
  /// The stages of a replay.
  ///
  /// - Parameter records: Whether calls that are not in the cassette are recorded.
  static func stages(records: Bool) -> Stages {
    records ? Record.stages : [.requestStart, .requestMessage, .requestEnd]
  }

  let stages: Stages
  let messages = MessageAccesses(.readTyped)
  let requirements: InterceptorRequirements
  private let factory: ReplayFactory
  private let call: CallFacts
  private let context: CallContext
  private let responder: LocalResponder
  /// Records a forwarded call, if requested.
  private let recording: CallRecording?
  private var candidates: [ReplayCandidate]
  /// The recorded call that determines the response.
  private var current: ReplayCandidate?
  private var start: RequestStart?
  private var sent: [Message] = []
  private var sentCount = 0
  private var isPassing = false

  init(
    _ factory: ReplayFactory, _ candidates: [ReplayCandidate], _ call: CallFacts, _ context: CallContext,
    _ recording: CallRecording?
  ) {
    self.factory = factory
    self.call = call
    self.context = context
    self.recording = recording
    self.candidates = candidates
    responder = LocalResponder(context, call.kind, keepsMessages: factory.miss != .error)
    stages = Self.stages(records: recording != nil)
    // A stream that may have to be forwarded is held until the decision.
    let collects = call.kind == .clientStreaming && factory.miss != .error
    requirements = InterceptorRequirements(collects: collects, windowBytes: collects ? 64 << 20 : 0)
  }

  // MARK: The request

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    self.start = start
    responder.take(start, token)
    // A server that sends first cannot be distinguished yet.
    guard call.kind == .bidiStreaming, factory.miss == .error || factory.match == .order,
      let first = factory.choose(among: candidates, for: call), first.beginsWithAnswer
    else { return }
    begin(first)
  }

  func requestMessage(_ value: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    let message = try value.typed
    guard !isPassing else {
      try recording?.write(.requestMessage(message))
      return token.proceed(value)
    }
    let number = sentCount
    sentCount += 1
    if factory.miss == .record, responder.isUndecided { sent.append(message) }
    responder.take(value, token)
    let compared = factory.redaction.message(message)
    let bytes = factory.match == .exact ? compared.canonicalBytes() : []
    let before = candidates
    candidates.removeAll { !$0.fits(compared, bytes, number: number) }
    guard !candidates.isEmpty else {
      return try miss(nearest(before) { $0.differences(of: compared, number: number) }, shown: compared)
    }
    if call.kind == .clientStreaming { return }
    try goOn()
    responder.countRequest()
  }

  func requestEnd(_ token: consuming RequestToken<Void>) throws {
    if isPassing { try recording?.write(.requestEnd) }
    responder.takeEnd(token)
    guard !isPassing else { return }
    if factory.match != .order, call.kind.clientStreams {
      let before = candidates
      let count = sentCount
      candidates.removeAll { $0.sent.count != count }
      guard !candidates.isEmpty else {
        return try miss(
          nearest(before) { ["it has \($0.sent.count) request messages, this call has \(count)"] },
          shown: nil,
          isHalfClosed: true)
      }
    }
    try goOn()
    if call.kind == .clientStreaming { for _ in 0..<sentCount { responder.countRequest() } }
    responder.noteHalfClose()
  }

  // MARK: Selecting the recorded call

  /// Starts with the first matching call, or changes to another when the current one no longer matches.
  private func goOn() throws {
    if let current, candidates.contains(where: { $0.index == current.index }) { return }
    let fitting = current.map { current in
      candidates.filter { answersAlike($0, current, upTo: responder.messageCount) }
    }
    guard let next = factory.choose(among: fitting ?? candidates, for: call) else {
      let why =
        fitting == nil
        ? "all matching calls were used already" : "no other recorded call has the responses sent so far"
      return try miss(why, shown: nil)
    }
    begin(next)
  }

  private func begin(_ candidate: ReplayCandidate) {
    let isFirst = current == nil
    if let current { factory.giveBack(current) }
    current = candidate
    factory.use(candidate)
    if isFirst { responder.answer() }
    do {
      let steps = try steps(of: candidate.call, skipping: isFirst ? 0 : responder.messageCount)
      if isFirst { responder.run(steps) } else { responder.runInstead(steps) }
    } catch {
      responder.fail(RPCError(.internal, error.reason, origin: .interceptor(context.name)))
    }
  }

  /// Whether two recorded calls begin with the same responses.
  private func answersAlike(_ one: ReplayCandidate, _ other: ReplayCandidate, upTo count: Int) -> Bool {
    guard count > 0, let type = call.responseType else { return count == 0 }
    let first = Self.answers(one.call, count).map { try? $0.message(type) }
    let second = Self.answers(other.call, count).map { try? $0.message(type) }
    return first == second
  }

  private static func answers(_ call: RecordedCall, _ count: Int) -> ArraySlice<RecordedMessage> {
    call.events.compactMap { if case .responseMessage(let message) = $0.event { message } else { nil } }
      .prefix(count)
  }

  private func steps(of recorded: RecordedCall, skipping skipped: Int) throws(LanguageError)
    -> [ResponseScript.Step]
  {
    var steps: [ResponseScript.Step] = []
    var received = 0
    var last = Duration.zero
    var isWhole = recorded.isWhole
    for recorded in recorded.events {
      let delay = recorded.time - last
      last = recorded.time
      let event: CallEvent<Payload?>
      switch recorded.event {
      case .requestMessage: event = .requestMessage(nil)
      // Recorded before responses that do not depend on it, when all messages are sent at once.
      case .requestEnd where call.kind != .bidiStreaming: continue
      case .requestEnd: event = .requestEnd
      case .responseStart(let start): event = .responseStart(start)
      case .responseMessage(let message):
        event = .responseMessage(received < skipped ? nil : try payload(message))
      // The caller has ended the call: the caller of this one does so too, or it is a recording without an end.
      case .responseEnd(let end) where end.isOfCaller:
        isWhole = call.lifetime == .untilCanceled
        continue
      case .responseEnd(let end): event = .responseEnd(end)
      case .requestStart, .metrics: continue
      }
      if !event.isRequest, factory.timing == .original, received >= skipped { steps.append(.wait(delay)) }
      if case .responseMessage(let message) = event {
        received += 1
        if message == nil { continue }
      }
      steps.append(.event(event))
    }
    if !isWhole {
      let why = "\(recorded.place): the recorded call was interrupted and has no end"
      let error = RPCError(.unavailable, why, origin: .interceptor(context.name))
      steps.append(.event(.responseEnd(ResponseEnd(error: error))))
    }
    return steps
  }

  private func payload(_ message: RecordedMessage) throws(LanguageError) -> Payload {
    if let type = call.responseType { return .typed(try message.message(type)) }
    guard case .bytes(let bytes) = message.content else {
      throw message.place.error(
        "the schema of \(call.method) is unknown; a message without bytes requires it")
    }
    return .bytes(bytes)
  }

  // MARK: A miss

  /// The recorded call with the fewest differences, and these differences.
  private func nearest(_ candidates: [ReplayCandidate], _ differences: (ReplayCandidate) -> [String])
    -> String
  {
    let all = candidates.map { ($0.call.place, differences($0)) }
    guard let (place, found) = all.min(by: { $0.1.count < $1.1.count }) else {
      return "no call of \(call.method) was recorded"
    }
    return "the closest is \(place): \(found.joined(separator: "; "))"
  }

  private func miss(_ why: String, shown message: Message?, isHalfClosed: Bool = false) throws {
    if factory.miss == .error || !responder.isUndecided {
      let json = message.flatMap { try? $0.json() }.map {
        " \(String(decoding: $0, as: UTF8.self).shortened)"
      }
      let what = "\(factory.path) has no response to \(call.method)\(json ?? "")"
      return responder.fail(RPCError(.unimplemented, "\(what); \(why)", origin: .interceptor(context.name)))
    }
    isPassing = true
    if let recording, let start {
      try recording.write(.requestStart(start))
      for message in sent { try recording.write(.requestMessage(message)) }
      if isHalfClosed { try recording.write(.requestEnd) }
      sent = []
    }
    responder.pass()
  }

  // MARK: The response of a forwarded call

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws {
    if isPassing { try recording?.write(.responseStart(start)) }
    token.proceed(start)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    if isPassing { try recording?.write(.responseMessage(message.typed)) }
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws {
    if isPassing { try recording?.write(end, isGivenUp: token.isVoid) }
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) {
    guard let recording, recording.isOpen else { return }
    do {
      try recording.write(.responseEnd(outcome.end))
    } catch {
      context.log(.error, error.message)
    }
  }
}
