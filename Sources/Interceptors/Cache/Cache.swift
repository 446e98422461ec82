import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Responds to one call with a stored response, or stores that of the server.
final class Cache: StagedInterceptor {
  /// What is stored, and for how long.
  struct Policy: Sendable {
    /// How long a response is used at most.
    let ttl: Duration
    /// The names of request headers that are part of the key, in lower case.
    let headerNames: Set<String>
    /// Whether stored responses are ignored.
    let refreshes: Bool
  }

  /// What this call does.
  private enum State {
    /// The message of the request has not arrived.
    case undecided
    /// An identical call is sent.
    case waiting(ResponseStore.Ticket)
    /// The call is sent, and its response stored.
    case recording(ResponseStore.Ticket, Recording)
    /// The call is sent and its response not stored, or the response is given.
    case decided
  }

  /// The response to a call that is sent.
  private struct Recording {
    let begin: Int64
    var headers = Headers()
    var message: [UInt8]?
  }

  static let stages: Stages = [
    .requestStart, .requestMessage, .requestEnd, .responseStart, .responseMessage, .responseEnd,
  ]
  let stages: Stages = Cache.stages
  let messages = MessageAccesses(.readTyped)
  let requirements = InterceptorRequirements(holdsForLong: true)
  private let policy: Policy
  private let store: ResponseStore
  private let call: CallFacts
  private let context: CallContext
  private let services: any InterceptorServices
  private let responder: LocalResponder
  private var state = State.undecided
  private var start: RequestStart
  /// The numbers of the interceptors further in whose fingerprints are in the key.
  private var keyed: Set<Int> = []

  init(
    _ policy: Policy, _ store: ResponseStore, _ call: CallFacts, _ context: CallContext,
    _ services: any InterceptorServices
  ) {
    self.policy = policy
    self.store = store
    self.call = call
    self.context = context
    self.services = services
    responder = LocalResponder(context, call.kind)
    start = RequestStart(method: call.method, target: call.target)
  }

  // MARK: The request

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    self.start = start
    responder.take(start, token)
  }

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    responder.take(message, token)
    if case .undecided = state { decide(try message.typed) }
  }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    responder.takeEnd(token)
    guard case .undecided = state else { return }
    state = .decided
    responder.pass()
  }

  private func decide(_ message: Message) {
    let control = call.protocolName == .connect ? CacheControl(start.headers) : CacheControl(Headers())
    guard !control.forbidsStoring else {
      note("not used: the request has Cache-Control: no-store")
      state = .decided
      return responder.pass()
    }
    let key = CacheKey.bytes(
      of: message, start, call, policy.headerNames,
      secret: context.secrets.names.adding(Array(start.credentials?.headerNames ?? [])), fingerprints())
    // An interceptor that repeats a call asks for another response.
    let refreshes = policy.refreshes || control.requiresValidation || call.attempt > 1
    if refreshes {
      note("refresh: stored responses are ignored")
    } else if let stored = store.load(key) {
      switch use(of: stored, maxAge: control.maxAge) {
      case .hit(let response): return respond(response, "hit")
      case .miss(let reason): note("miss: \(reason)")
      }
    } else {
      note("miss")
    }
    let handle = context.handle
    let resume = LoopBound { [weak self] (response: CachedResponse?) in
      self?.resume(response, maxAge: control.maxAge)
    }
    let (ticket, isFirst) = store.enter(key) { response in handle.post { resume.value(response) } }
    // A call that refreshes asks for a response of its own, also while an identical call runs.
    guard isFirst || refreshes else {
      context.log(.debug, "waiting for the response to an identical call")
      state = .waiting(ticket)
      return
    }
    send(ticket)
  }

  /// The fingerprints of the interceptors further in that may respond, or change the response or the request.
  private func fingerprints() -> [String] {
    context.furtherIn.filter(\.declaration.mayAlterResponses).compactMap { other in
      guard let text = other.fingerprint?.text else { return nil }
      keyed.insert(other.number)
      return text
    }
  }

  /// The response to the identical call is known.
  private func resume(_ response: CachedResponse?, maxAge: Int?) {
    guard case .waiting(let ticket) = state else { return }
    if let response, case .hit(let response) = use(of: response, maxAge: maxAge) {
      respond(response, "shared with an identical call")
    } else {
      note("the response to the identical call cannot be used")
      send(ticket)
    }
  }

  private func send(_ ticket: ResponseStore.Ticket) {
    context.recordChanges()
    state = .recording(ticket, Recording(begin: services.nanosecondsSince1970))
    responder.pass()
  }

  // MARK: Stored responses

  /// A stored response that can be used.
  private struct Usable {
    let response: CachedResponse
    let message: Payload
    /// Its age, in nanoseconds.
    let age: Int64
  }

  /// Whether a stored response can be used.
  private enum Use {
    case hit(Usable)
    /// It cannot, for this reason.
    case miss(String)
  }

  private func use(of response: CachedResponse, maxAge: Int?) -> Use {
    guard response.fits(start.headers) else {
      return .miss("the stored response is for other request headers (Vary)")
    }
    guard let age = response.age(at: services.nanosecondsSince1970) else {
      return .miss("the stored response is from the future")
    }
    guard Duration.nanoseconds(age) < limit(for: response, maxAge: maxAge) else {
      return .miss("the stored response is too old: age \(Self.text(age))")
    }
    guard let message = payload(response.message) else {
      return .miss("the stored response cannot be parsed")
    }
    return .hit(Usable(response: response, message: message, age: age))
  }

  /// The age at which a response is no longer used.
  ///
  /// - Parameter maxAge: How old it may be by the request, in seconds; nil for any age.
  private func limit(for response: CachedResponse, maxAge: Int? = nil) -> Duration {
    [response.maxAge, maxAge].compactMap { $0.map { Duration.seconds($0) } }.reduce(policy.ttl, min)
  }

  private func payload(_ message: [UInt8]) -> Payload? {
    guard let type = call.responseType else { return call.codec == .proto ? .bytes(message) : nil }
    return (try? Message(type, serialized: message)).map { .typed($0) }
  }

  private func respond(_ usable: Usable, _ how: String) {
    state = .decided
    note("\(how): age \(Self.text(usable.age))")
    var headers = usable.response.headers
    // RFC 9111, section 4.
    if call.protocolName == .connect { headers.set("age", "\(usable.age / 1_000_000_000)") }
    responder.answer()
    responder.run([
      .event(.responseStart(ResponseStart(headers: headers))), .event(.responseMessage(usable.message)),
      .event(.responseEnd(ResponseEnd(trailers: usable.response.trailers))),
    ])
  }

  // MARK: The response of the server

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    record { $0.headers = start.headers }
    token.proceed(start)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    let serialized = try message.typed.serialized()
    record { $0.message = serialized }
    token.proceed(message)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    if case .recording(let ticket, let recording) = state, !token.isVoid {
      state = .decided
      store(recording, end, ticket)
    }
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) {
    switch state {
    case .waiting(let ticket), .recording(let ticket, _): store.leave(ticket)
    case .undecided, .decided: break
    }
  }

  private func record(_ change: (inout Recording) -> Void) {
    guard case .recording(let ticket, var recording) = state else { return }
    change(&recording)
    state = .recording(ticket, recording)
  }

  private func store(_ recording: Recording, _ end: ResponseEnd, _ ticket: ResponseStore.Ticket) {
    guard end.error == nil, let message = recording.message else {
      note("not stored: the call failed")
      return store.leave(ticket)
    }
    let changer = context.changers.first { !keyed.contains($0.number) && !$0.declaration.keepsResponses }
    if let changer {
      note("not stored: \(changer.name) responded to the call or changed it, and is not part of the key")
      return store.leave(ticket)
    }
    let now = services.nanosecondsSince1970
    if let reason = CachedResponse.refusal(recording.headers, call.protocolName) {
      note("not stored: \(reason)")
      return store.leave(ticket)
    }
    let response = CachedResponse(
      message, recording.headers, end.trailers, of: start, call.protocolName,
      age: max(0, now - recording.begin), now: now)
    let left = limit(for: response) - .nanoseconds(now - response.date)
    guard left > .zero else {
      note("not stored: it is already too old")
      return store.leave(ticket)
    }
    do throws(SystemError) {
      try store.store(response, ticket)
      note("stored for \(left.roundedToMilliseconds.inSeconds)")
    } catch {
      note("not stored: \(error.reason)")
    }
  }

  private func note(_ text: String) { context.report(.note, text) }

  private static func text(_ age: Int64) -> String {
    Duration.nanoseconds(age).roundedToMilliseconds.inSeconds
  }
}
