import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols
import Synchronization

/// A call, with the data that a plugin can request.
///
/// Sendable because each member is immutable or atomic, requires the lock, or belongs to the loop's thread: functions of
/// the host that use the latter refuse calls on other threads (`isOnItsThread`).
final class PluginCall: @unchecked Sendable {
  let facts: CallFacts
  let handle: CallHandle
  private let context: LoopBound<CallContext>
  /// The method's name, for reports of crashes.
  let method: MethodText
  /// The call's deadline by CLOCK_MONOTONIC, for the watchdog; 0 without one. `[loop's thread]`
  var deadlineNanoseconds: Int64 {
    // An interceptor may have changed it. A call that has ended retains the last one.
    if !hasEnded, case let current = handle.deadline, current != deadline { keep(current) }
    return keptNanoseconds
  }
  private var deadline: MonotonicClock.Instant?
  private var keptNanoseconds: Int64 = 0
  /// Held while a value of the call is read or changed.
  let lock = Lock()
  /// The ends of the directions that the plugin has forwarded. Requires the lock.
  var forwardedEnds: Stages = []
  /// The types of the call's schema, for the plugin.
  let schema: PluginSchema
  private let arena = Arena()
  // The following members require the lock.
  private var madeFacts: rpcurl_call_facts?
  /// The texts of attributes that the plugin has read.
  private var keptTexts: [String: rpcurl_text] = [:]
  private let thread = currentThreadIdentity()
  // The following members belong to the loop's thread.
  private var timers: [UInt64: CallTimer] = [:]
  private var lastTimer: UInt64 = 0
  /// What ends the requests of the plugin that are pending, if this call ends first; of streams with the stream.
  private var pending: [Int: (end: (RPCError) -> Void, stream: OwnStream?)] = [:]
  private var lastRequest = 0
  /// Whether the call has ended for the plugin, or was declined.
  var hasEnded: Bool { ended.load(ordering: .relaxed) }
  private let ended = Atomic(false)
  private let injected = Atomic(0)
  private let hasStartedResponse = Atomic(false)
  private let madeMessages = Atomic(false)

  init(_ facts: CallFacts, _ context: CallContext) {
    var facts = facts
    if facts.isOpaque { (facts.requestType, facts.responseType) = (nil, nil) }
    self.facts = facts
    handle = context.handle
    self.context = LoopBound(context)
    method = MethodText(facts.method.description)
    schema = PluginSchema(facts.requestType)
  }

  /// The facts in the plugin's form; their texts live as long as this object. `[any thread]`
  func plain() -> rpcurl_call_facts {
    var plain = lock.holding {
      if let madeFacts { return madeFacts }
      let method = try? facts.requestType?.schemaMethod(
        service: facts.method.service, method: facts.method.method)
      let made = rpcurl_call_facts(
        struct_size: MemoryLayout<rpcurl_call_facts>.size, kind: facts.kind.number,
        attempt: UInt32(clamping: facts.attempt), idempotency: method?.idempotencyNumber ?? 0,
        is_own_call: facts.isSubrequest ? 1 : 0, method: arena.text(facts.method.description),
        protocol: arena.text(facts.protocolName.rawValue), codec: arena.text(facts.codec.rawValue),
        target: arena.text(facts.target), request_type: arena.text(facts.requestType?.name ?? ""),
        response_type: arena.text(facts.responseType?.name ?? ""),
        method_options: arena.text(method?.options.serialized ?? []),
        compression: arena.text(facts.compression ?? ""), content_type: arena.text(facts.contentType),
        host: arena.text(facts.host), timeout_ns: -1, headers: arena.fields(facts.start.headers),
        header_count: facts.start.headers.count)
      madeFacts = made
      return made
    }
    if let deadline = facts.start.deadline { plain.timeout_ns = max(.zero, deadline - .now).nanoseconds }
    return plain
  }

  // MARK: - Attributes and types

  /// The attributes of the call. `[loop's thread]`
  var attributes: CallAttributes { context.value.attributes }

  /// Sets an attribute, or removes it if the value is nil. `[loop's thread]`
  func setAttribute(_ key: String, _ value: String?) throws(InvalidValue) {
    try context.value.setAttribute(key, value)
  }

  /// A text in the plugin's form, which lives as long as this object.
  func keep(_ text: String) -> rpcurl_text {
    lock.holding {
      if let kept = keptTexts[text] { return kept }
      let made = arena.text(text)
      keptTexts[text] = made
      return made
    }
  }

  /// Whether the plugin has made messages. `[any thread]`
  var hasMadeMessages: Bool { madeMessages.load(ordering: .relaxed) }

  /// Makes an empty message of the type with a full name, or of that of a method's request. `[any thread]`
  func makeMessage(_ name: String) throws -> HeldValue {
    let made = HeldValue(Message(try schema.messageType(name)), .changeTyped, in: self)
    madeMessages.store(true, ordering: .relaxed)
    return made
  }

  /// Converts the deadline for the watchdog.
  private func keep(_ deadline: MonotonicClock.Instant?) {
    self.deadline = deadline
    guard let deadline else { return keptNanoseconds = 0 }
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let (sum, isTooFar) = (Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
      .addingReportingOverflow((deadline - .now).nanoseconds)
    // A deadline out of range means none; a passed one still counts.
    keptNanoseconds = isTooFar ? 0 : max(sum, 1)
  }

  /// Counts an injected message. The chain accepts them all until the next run of the loop, so an excessive
  /// number in one callback is refused.
  func countInjection() throws(ABIFailure) {
    let count = injected.add(1, ordering: .relaxed).newValue
    if count == 1 { handle.post { self.injected.store(0, ordering: .relaxed) } }
    guard count <= HostFunctions.mostElements else {
      throw ABIFailure(
        RPCURL_EFAILED,
        "more than \(HostFunctions.mostElements) messages at once: add the rest in a later callback")
    }
  }

  /// Whether a message that the plugin injects would pass on. On other threads than the loop's, the chain may decide
  /// otherwise. `[any thread]`
  func canInject(request isRequest: Bool) -> Bool {
    let end: Stage = isRequest ? .requestEnd : .responseEnd
    guard !lock.holding({ forwardedEnds.contains(end) }) else { return false }
    return !isOnItsThread || context.value.canInject(request: isRequest)
  }

  /// Records that the plugin starts the response; returns whether it has done so before. `[any thread]`
  func startResponse() -> Bool { hasStartedResponse.exchange(true, ordering: .relaxed) }

  /// Whether this is the call's thread.
  var isOnItsThread: Bool { thread == currentThreadIdentity() }

  // MARK: - Timers

  /// Schedules a function; returns a number other than 0.
  func setTimer(after delay: Duration, _ body: @escaping () -> Void) -> UInt64 {
    lastTimer += 1
    let number = lastTimer
    timers[number] = context.value.after(delay) { [weak self] in
      guard self?.timers.removeValue(forKey: number) != nil else { return }
      body()
    }
    return number
  }

  /// Removes a timer; `false` if there is none, or it has fired.
  func cancelTimer(_ number: UInt64) -> Bool {
    guard let timer = timers.removeValue(forKey: number) else { return false }
    context.value.cancel(timer)
    return true
  }

  /// Runs `body` when the chain takes more of the request, or of the response.
  func whenWanted(request isRequest: Bool, _ body: @escaping () -> Void) {
    if isRequest { context.value.whenRequestWanted(body) } else { context.value.whenResponseWanted(body) }
  }

  // MARK: - Requests made by the plugin

  /// Makes a call; `done` is called once, at the latest when this call ends.
  func make(_ call: Subrequest, _ done: @escaping (SubrequestResponse) -> Void) {
    request({ SubrequestResponse(end: ResponseEnd(error: $0)) }, { $0.call(call, $1) }, done)
  }

  /// Makes an HTTP request; `done` is called once, at the latest when this call ends.
  func make(_ fetch: HTTPFetch, _ done: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) {
    request({ .failure($0) }, { $0.fetch(fetch, $1) }, done)
  }

  /// Makes a request after what the plugin has requested so far, unless it has ended: the plugin may decline this call.
  ///
  /// - Parameter failed: The response if this call ends first.
  private func request<Answer>(
    _ failed: @escaping (RPCError) -> Answer,
    _ make: @escaping (CallContext, @escaping (Answer) -> Void) -> Void, _ done: @escaping (Answer) -> Void
  ) {
    let number = begin { done(failed($0)) }
    context.value.post { [weak self] in
      guard let self, pending[number] != nil else { return }
      make(context.value) { [weak self] answer in
        if self?.pending.removeValue(forKey: number) != nil { done(answer) }
      }
    }
  }

  /// Opens a stream, whose end is received once, at the latest when this call ends. Returns its number, which is not 0;
  /// nil if this call cannot make requests.
  func open(
    _ call: Subrequest, _ kind: CallKind, _ schema: OwnSchema, _ receive: @escaping (SubrequestEvent) -> Void
  ) -> UInt64? {
    let number = begin { receive(.end(ResponseEnd(error: $0))) }
    let stream = context.value.open(call, kind) { [weak self] event in
      guard let self, pending[number] != nil else { return }
      if case .end = event { pending[number] = nil }
      receive(event)
    }
    guard let stream else {
      pending[number] = nil
      return nil
    }
    pending[number]?.stream = OwnStream(schema, stream)
    return UInt64(number)
  }

  /// Finds a stream that has not ended.
  func stream(_ number: UInt64) -> OwnStream? { Int(exactly: number).flatMap { pending[$0]?.stream } }

  private func begin(_ end: @escaping (RPCError) -> Void) -> Int {
    lastRequest += 1
    pending[lastRequest] = (end, nil)
    return lastRequest
  }

  /// Ends the call: cancels timers and streams, and ends pending requests of the plugin with an error.
  func end() {
    ended.store(true, ordering: .relaxed)
    timers = [:]
    let error = RPCError(.canceled, "the call that needed it has ended", origin: .client)
    for request in pending.values { request.stream?.stream.cancel(error.message) }
    let requests = pending.sorted { $0.key < $1.key }
    pending = [:]
    for (_, request) in requests { request.end(error) }
  }
}

extension CallKind {
  /// RPCURL_KIND_...
  var number: UInt32 { (clientStreams ? 1 : 0) | (serverStreams ? 2 : 0) }
}

extension MethodDescriptor {
  /// RPCURL_IDEMPOTENCY_...
  var idempotencyNumber: UInt32 { hasNoSideEffects ? 1 : isIdempotent ? 2 : 0 }
}

extension rpcurl_metrics {
  init(_ metrics: CallMetrics) {
    func nanoseconds(_ duration: Duration?) -> Int64 { duration?.nanoseconds ?? -1 }
    self.init(
      struct_size: MemoryLayout<rpcurl_metrics>.size, total_ns: nanoseconds(metrics.total),
      resolve_ns: nanoseconds(metrics.resolve),
      connect_ns: nanoseconds(metrics.connect), tls_ns: nanoseconds(metrics.tls),
      first_byte_ns: nanoseconds(metrics.firstByte), sent_bytes: UInt64(clamping: metrics.sentBytes),
      received_bytes: UInt64(clamping: metrics.receivedBytes),
      sent_messages: UInt64(clamping: metrics.sentMessages),
      received_messages: UInt64(clamping: metrics.receivedMessages),
      attempts: UInt64(clamping: metrics.attempts),
      sent_message_bytes: UInt64(clamping: metrics.sentMessageBytes),
      received_message_bytes: UInt64(clamping: metrics.receivedMessageBytes))
  }
}

extension rpcurl_status {
  init(_ end: ResponseEnd, _ arena: Arena) {
    let details = end.error?.details ?? []
    let (origin, name) = Self.origin(of: end.error)
    self.init(
      struct_size: MemoryLayout<rpcurl_status>.size, code: Int32(end.code.rawValue), origin: UInt32(origin),
      message: arena.text(end.error?.message ?? ""), origin_name: arena.text(name),
      details: details.isEmpty ? nil : arena.array(details.map { rpcurl_detail($0, arena) }),
      detail_count: details.count)
  }

  /// RPCURL_ORIGIN_..., and the name of the origin.
  private static func origin(of error: RPCError?) -> (Int32, String) {
    switch error?.origin {
    case nil: (RPCURL_ORIGIN_NONE, "")
    case .server: (RPCURL_ORIGIN_SERVER, "")
    case .violation: (RPCURL_ORIGIN_VIOLATION, "")
    case .connection: (RPCURL_ORIGIN_CONNECTION, "")
    case .proxy(let url): (RPCURL_ORIGIN_PROXY, url)
    case .tls: (RPCURL_ORIGIN_TLS, "")
    case .request: (RPCURL_ORIGIN_REQUEST, "")
    case .interceptor(let name): (RPCURL_ORIGIN_INTERCEPTOR, name)
    case .client: (RPCURL_ORIGIN_CLIENT, "")
    case .configuration(let name): (RPCURL_ORIGIN_CONFIGURATION, name)
    }
  }
}

extension Arena {
  /// Converts an outcome to the plugin's form.
  func outcome(_ outcome: Outcome) -> UnsafePointer<rpcurl_outcome> {
    array([
      rpcurl_outcome(
        struct_size: MemoryLayout<rpcurl_outcome>.size, status: array([rpcurl_status(outcome.end, self)]),
        metrics: array([rpcurl_metrics(outcome.metrics)]), trailers: fields(outcome.end.trailers),
        trailer_count: outcome.end.trailers.count)
    ])
  }

  /// Converts the end of an attempt to the plugin's form.
  func attempt(_ report: AttemptReport) -> UnsafePointer<rpcurl_attempt> {
    array([
      rpcurl_attempt(
        struct_size: MemoryLayout<rpcurl_attempt>.size,
        status: array([rpcurl_status(ResponseEnd(error: report.error), self)]),
        numbers: array(report.numbers.map { UInt32(clamping: $0) }), number_count: report.numbers.count,
        wait_ns: report.wait?.nanoseconds ?? -1, peer: text(report.peer ?? ""))
    ])
  }

  /// Converts headers to the plugin's form; `nil` if there are none.
  func fields(_ headers: Headers) -> UnsafePointer<rpcurl_field>? {
    guard headers.count > 0 else { return nil }
    return array(headers.fields.map { rpcurl_field(name: text($0.name), value: text($0.value)) })
  }
}

/// A stream of a plugin's own call. It belongs to the loop's thread.
final class OwnStream {
  /// The form of its messages.
  let schema: OwnSchema
  let stream: any SubrequestStream
  /// Whether the plugin has ended the request.
  var isFinished = false

  init(_ schema: OwnSchema, _ stream: any SubrequestStream) {
    self.schema = schema
    self.stream = stream
  }
}
