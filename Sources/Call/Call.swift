import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// One call, from its start to its end.
///
/// It is the caller above the chain: it reports what leaves the chain to its observer, enforces the deadline, and
/// measures time.
package final class Call {
  /// The maximum time that interceptors may hold the metrics after the end.
  private static let reportTime = Duration.seconds(5)
  /// The error of a call whose deadline passed before it was sent.
  static let late = RPCError(
    .deadlineExceeded, "the deadline had passed before the call was sent", origin: .client)
  /// The memory of an encoded message that is kept for the next, at most, in bytes.
  private static let keptBytes = 1 << 16

  private let prepared: PreparedRequest
  private let own: OwnParameters
  private let chain: Chain
  /// The network for the interceptors' own calls; nil without interceptors.
  private let subrequests: ClientSubrequestTransport?
  private let loop: EventLoop
  /// The credentials of the call.
  package let secrets: CallSecrets
  private let observer: any CallObserver
  private let liveCalls: LiveCalls
  private var begin = MonotonicClock.now
  private var timer: EventLoop.TimerID?
  private var deadline: MonotonicClock.Instant?
  /// The start from the caller, before interceptors.
  private var given: RequestStart?
  private var hasReportedStart = false
  /// The number of sent messages that were reported; later attempts send them again.
  private var sent = 0
  private var received = 0
  /// The attempt that responded last, or the latest; nil at the end.
  private var exchange: Exchange?
  /// The last request message that was encoded; its memory serves the next.
  private var encoded = OutputBuffer()
  /// Whether an interceptor may make several attempts.
  private var hasAttempts = false
  /// The end that waits for more of its cause, and what finds it.
  private var diagnosed: (end: ResponseEnd, diagnosis: ConnectionDiagnosis)?
  /// The metrics, which follow an end that waits.
  private var lastMetrics: CallMetrics?

  init(
    _ prepared: PreparedRequest, _ own: OwnParameters, environment: ChainEnvironment,
    subrequests: ClientSubrequestTransport?,
    loop: EventLoop, liveCalls: LiveCalls, observer: any CallObserver
  ) {
    self.prepared = prepared
    self.own = own
    chain = prepared.builder.makeChain(
      for: prepared.facts, headers: own.headers, attributes: prepared.request.attributes,
      codec: prepared.messageCodec, environment: environment)
    self.subrequests = subrequests
    self.loop = loop
    secrets = environment.secrets
    self.liveCalls = liveCalls
    self.observer = observer
  }

  private var request: CallRequest { _read { yield prepared.request } }

  /// Whether the call is over and reported, and every interceptor has finished.
  package var isFinished: Bool { chain.isFinished && diagnosed == nil }

  /// The bytes of request and response bodies so far, in the attempt that responded last, or the latest.
  package var traffic: (sent: Int, received: Int) { exchange?.traffic ?? (0, 0) }

  /// The HTTP request of the first attempt; nil until it is made, and for a call that an interceptor ends before.
  package private(set) var httpRequest: HTTPRequest?

  /// The attributes of the call, which its caller and its interceptors have set.
  package var attributes: CallAttributes { chain.attributes }

  /// The type of the request messages.
  package var inputType: MessageType { request.method.input }

  /// Encodes a request message from JSON in the form that the chain and the codec need. If no interceptor
  /// needs a message, JSON is converted to the wire format without building one.
  package func encode(json: [UInt8], options: JSONDecodingOptions) throws(MessageParseError) -> Payload {
    let type = request.method.input
    guard !chain.wantsRequestMessages, request.wire.codec == .proto else {
      return .typed(try Message(type, json: json, options: options))
    }
    defer { encoded.removeAll(keepingBytes: Self.keptBytes) }
    try JSONTranscoder(type, decoding: options).transcode(json: json.span.bytes, into: &encoded)
    return .bytes(encoded.copyBytes())
  }

  /// Encodes a request message from text format.
  package func encode(text: [UInt8], options: TextDecodingOptions) throws(MessageParseError) -> Payload {
    .typed(try Message(request.method.input, text: text, options: options))
  }

  /// Validates a serialized request message. If no interceptor needs a message, its bytes are sent unchanged.
  package func encode(serialized: [UInt8]) throws(DecodeError) -> Payload {
    let message = try Message(request.method.input, serialized: serialized)
    guard !chain.wantsRequestMessages, request.wire.codec == .proto else { return .typed(message) }
    return .bytes(serialized)
  }

  /// A request message in the form that is sent, unless an interceptor needs it typed.
  ///
  /// - Throws: Why the codec cannot express the message: JSON has no form for some values of other formats.
  package func serialized(_ message: Payload) throws -> Payload {
    guard request.wire.codec == .json, case .typed(let typed) = message else { return message }
    let bytes = try prepared.messageCodec.serialize(typed)
    return chain.wantsRequestMessages ? message : .bytes(bytes)
  }

  /// Starts the call, which retains itself until it has finished. Must be called once.
  package func start() {
    guard given == nil, !chain.isFinished else { return }
    liveCalls.add(self)
    begin = .now
    let start = RequestStart(
      method: prepared.facts.method, target: request.target, headers: own.headers,
      deadline: own.timeout.map { begin + $0 }, codec: request.wire.codec)
    given = start
    if let limit = own.timeout { keep(deadline: start.deadline, limit) }
    chain.start(start, caller: self) { [self] chain in
      let exchange = Exchange(prepared, loop: loop, chain: chain, call: self)
      self.exchange = exchange
      return exchange
    }
    if let limit = own.timeout, limit <= .zero { chain.cancel(Self.late) }
  }

  /// Sends a message. A message sent before `start` is queued.
  package func send(_ message: Payload) {
    chain.send(message)
  }

  /// Half-closes the call: no more messages follow. Only the first time has an effect.
  package func finishSending() {
    chain.closeRequest()
  }

  /// Pauses or resumes the response. A few messages that were received together may still be delivered; then
  /// flow control slows the server down.
  package func wantResponse(_ isWanted: Bool) {
    chain.callerWants(response: isWanted)
  }

  /// Ends the call immediately with the status `canceled`. `start` does nothing afterwards.
  package func cancel(_ reason: String) {
    let error = RPCError(.canceled, reason, origin: .client)
    endDiagnosis()
    let isFirst = given == nil && !chain.isFinished
    chain.cancel(error)
    guard isFirst else { return }
    report(.responseEnd(ResponseEnd(error: error)))
    report(.metrics(CallMetrics()))
  }

  /// Ends the call, without waiting for anything that follows its end.
  func end(_ error: RPCError) {
    endDiagnosis()
    chain.cancel(error)
    // The first cancellation may have been the call's end, and an interceptor holds the metrics.
    if !chain.isFinished { chain.cancel(error) }
  }

  // MARK: From the exchange

  /// The request of an attempt is sent.
  func isSent(_ start: RequestStart, _ request: HTTPRequest) {
    guard !hasReportedStart else { return }
    hasReportedStart = true
    httpRequest = request
    report(.requestStart(start))
  }

  /// The message with this index, from 0 on, is sent.
  func isSent(message index: Int, _ size: MessageSize, _ message: [UInt8]?) {
    if let message { observer.receive(sent: message, isRepeated: index < sent) }
    guard index == sent else { return }
    sent += 1
    observer.receive(wire: .requestMessage(size))
  }

  /// An attempt has received headers.
  func responds(_ exchange: Exchange) { self.exchange = exchange }

  /// A message has arrived, if the request asks for sizes.
  func receive(wire event: CallEvent<MessageSize>) {
    reportStart()
    observer.receive(wire: event)
  }

  // MARK: Reports to the observer

  private func report(_ event: CallEvent<Payload>) {
    do throws(RPCError) {
      try observer.receive(event)
    } catch {
      if !isEnding(event) { chain.cancel(error) }
    }
  }

  /// Whether an event belongs to the end of the call, which an error of the observer cannot change any more.
  private func isEnding(_ event: CallEvent<Payload>) -> Bool {
    switch event {
    case .responseEnd, .metrics: true
    case .requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage: false
    }
  }

  /// Reports the start first, also for a call that never reached the wire.
  private func reportStart() {
    guard !hasReportedStart, let start = given else { return }
    hasReportedStart = true
    report(.requestStart(start))
  }

  /// Reports a message to the observer. Fails a second message of a non-streaming response: the protocols
  /// check this for servers, this method for interceptors.
  private func deliver(_ report: () throws(RPCError) -> Void) {
    reportStart()
    received += 1
    guard received == 1 || request.method.kind.serverStreams else {
      let words = "interceptors returned more than one message for a response that has one"
      return chain.cancel(RPCError(.internal, words, origin: .client))
    }
    do throws(RPCError) {
      try report()
    } catch {
      chain.cancel(error)
    }
  }

  // MARK: The cause of an end

  /// Delays the report of an end to find more of the cause of its error by further connections. For the call and its
  /// interceptors it has ended already, so neither its status nor its time depends on them.
  ///
  /// - Returns: Whether the end and the metrics are reported later.
  private func diagnose(_ end: ResponseEnd) -> Bool {
    guard !hasAttempts, let cause = end.error?.cause, let url = httpRequest?.url,
      let diagnosis = ConnectionDiagnosis(
        cause, url: url, request.connection, requiresHTTP2: request.protocolName == .grpc, until: deadline,
        loop: loop,
        completion: { [self] cause in
          diagnosed?.end.error?.refine(cause)
          reportDiagnosed()
        })
    else { return false }
    diagnosed = (end, diagnosis)
    return true
  }

  private func endDiagnosis() {
    diagnosed?.diagnosis.cancel()
    reportDiagnosed()
  }

  private func reportDiagnosed() {
    guard let (end, _) = diagnosed else { return }
    diagnosed = nil
    report(.responseEnd(end))
    if let metrics = lastMetrics { report(.metrics(metrics)) }
    lastMetrics = nil
    if chain.isFinished { liveCalls.remove(self) }
  }

  // MARK: Time

  private func keep(deadline: MonotonicClock.Instant?, _ limit: Duration) {
    self.deadline = deadline
    keepTime(until: deadline) { [self] in
      guard limit > .zero else { return Self.late }
      return exchange?.connectError(after: limit)
        ?? RPCError(.deadlineExceeded, "the call took longer than \(limit.inSeconds)", origin: .client)
    }
  }

  /// Schedules the end of the call with an error at `instant`, unless it ends earlier or the deadline
  /// changes.
  private func keepTime(until instant: MonotonicClock.Instant?, _ error: @escaping () -> RPCError) {
    if let timer { loop.cancel(timer) }
    timer = instant.map { loop.schedule(at: $0) { [chain] in chain.cancel(error()) } }
  }
}

extension Call: ChainCaller {
  /// Reports an event that has left the chain.
  package func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseMessage:
      deliver { () throws(RPCError) in try observer.receive(event) }
    case .responseEnd(let end):
      reportStart()
      if end.error == nil, received == 0, !request.method.kind.serverStreams {
        // Only an interceptor can end a unary call without a message: it means an empty message.
        receive(.responseMessage(.bytes(request.wire.codec == .json ? Array("{}".utf8) : [])))
      }
      if !diagnose(end) { report(event) }
      // Without interceptors, the metrics follow at once.
      guard !request.interceptors.isEmpty else { return }
      keepTime(until: .now + Self.reportTime) {
        RPCError(
          .canceled, "interceptors held the metrics for longer than \(Self.reportTime.inSeconds)",
          origin: .client)
      }
    case .responseStart:
      reportStart()
      report(event)
    case .metrics(let metrics):
      if diagnosed == nil { report(event) } else { lastMetrics = metrics }
    case .requestStart, .requestMessage, .requestEnd:
      break  // These leave the chain below.
    }
  }

  /// Reports a message that no interceptor wanted.
  package func receive(message: RawSpan) {
    deliver { () throws(RPCError) in try observer.receive(message: message) }
  }

  /// Reports messages of a stream that no interceptor wanted.
  package func receive(messages places: Span<Range<Int>>, of piece: RawSpan) -> Int {
    var count = 1
    deliver { () throws(RPCError) in count = try observer.receive(messages: places, of: piece) }
    received += count - 1
    return count
  }

  package func deadlineChanged(to deadline: MonotonicClock.Instant?) {
    keep(deadline: deadline, deadline.map { ($0 - begin).roundedToMilliseconds } ?? .zero)
  }

  package func attemptEnded(_ report: AttemptReport) {
    hasAttempts = true
    reportStart()
    observer.attemptEnded(report)
  }

  package func finished(_ outcome: Outcome) {
    if diagnosed == nil { liveCalls.remove(self) }
    exchange = nil
    if let timer { loop.cancel(timer) }
    subrequests?.end()
  }

  package func inputWanted(_ isWanted: Bool) {
    observer.wantInput(isWanted)
  }
}
