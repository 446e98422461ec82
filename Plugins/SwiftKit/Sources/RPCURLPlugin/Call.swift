import CRPCURLPlugin

/// Which directions are streams.
public enum CallKind: UInt32, Sendable {
  case unary, clientStreaming, serverStreaming, bidiStreaming
}

/// What an interceptor reports about a call, with ``Call/report(_:_:)``.
public enum Finding {
  /// What a finding means for the outcome.
  public enum Kind: UInt32, Sendable {
    /// Information.
    case note
    /// A check failed, although the status may be ok: the exit status is 8.
    case failure
    /// The call ended with the expected status, which is no failure.
    case expectedStatus
  }
}

/// A function that is scheduled by ``Call/after(_:_:)``.
public struct CallTimer: Sendable {
  let plain: rpcurl_timer
  let pending: ScheduledFunctions.Number
}

/// A call. Usable from any thread, until its interceptor was closed; then the host's functions throw.
public final class Call: Sendable {
  /// The idempotency level of a method.
  public enum Idempotency: UInt32, Sendable {
    case unknown, noSideEffects, idempotent
  }

  /// Which directions are streams.
  public let kind: CallKind
  /// The method: `pkg.Service/Method`.
  public let method: String
  /// `grpc`, `grpc-web` or `connect`.
  public let protocolName: String
  /// `proto` or `json`.
  public let codec: String
  /// The server: `http[s]://host[:port][/prefix]`.
  public let target: String
  /// The full name of the request message's type; empty without a schema.
  public let requestType: String
  /// The full name of the response message's type; empty without a schema.
  public let responseType: String
  /// The serialized `google.protobuf.MethodOptions`; empty without a schema.
  public let methodOptions: [UInt8]
  /// The idempotency level of the method.
  public let idempotency: Idempotency
  /// The number of this attempt, from 1; always 1 further out than all interceptors that retry.
  public let attempt: Int
  /// Whether an interceptor makes this call for another call, which waits for it.
  public let isSubrequest: Bool
  /// The compression of the request's messages, such as `gzip`; empty for none.
  public let compression: String
  /// The value of `content-type` on the wire.
  public let contentType: String
  /// The value of `host`, or `:authority`, on the wire; empty if the target is invalid.
  public let authority: String
  /// The headers of the request when it reached the interceptor.
  public let headers: [Headers.Field]

  let host: Host
  let plain: rpcurl_call
  private let pending = ScheduledFunctions()

  init(_ host: Host, _ plain: rpcurl_call) throws(HostError) {
    self.host = host
    self.plain = plain
    var facts = rpcurl_call_facts()
    facts.struct_size = MemoryLayout<rpcurl_call_facts>.size
    try host.check(host.pointer.pointee.call_facts(host.pointer, plain, &facts))
    kind = CallKind(rawValue: facts.kind) ?? .bidiStreaming
    method = String(facts.method)
    protocolName = String(facts.protocol)
    codec = String(facts.codec)
    target = String(facts.target)
    requestType = String(facts.request_type)
    responseType = String(facts.response_type)
    methodOptions = [UInt8](facts.method_options)
    idempotency = Idempotency(rawValue: facts.idempotency) ?? .unknown
    attempt = Int(facts.attempt)
    isSubrequest = facts.is_own_call != 0
    compression = String(facts.compression)
    contentType = String(facts.content_type)
    authority = String(facts.host)
    headers = [Headers.Field](facts.headers, facts.header_count)
  }

  /// The time left for the call; nil without a limit. `[any thread]`
  public func timeLeft() throws(HostError) -> Duration? {
    var facts = rpcurl_call_facts()
    facts.struct_size = MemoryLayout<rpcurl_call_facts>.size
    try host.check(table.call_facts(host.pointer, plain, &facts))
    return facts.timeout_ns < 0 ? nil : .nanoseconds(facts.timeout_ns)
  }

  // MARK: - Attributes

  /// The value of an attribute, which the caller and the interceptors share; nil if it is not set. `[loop]`
  public func attribute(_ key: String) throws(HostError) -> String? {
    var value = rpcurl_text()
    let result = key.lend { table.attribute_get(host.pointer, plain, $0, &value) }
    if result == RPCURL_ENOENT { return nil }
    try host.check(result)
    return String(value)
  }

  /// Sets an attribute, or removes it if the value is nil. Interceptors that receive a value later read it. `[loop]`
  public func setAttribute(_ key: String, _ value: String?) throws(HostError) {
    guard let value else {
      let result = key.lend { table.attribute_remove(host.pointer, plain, $0) }
      if result != RPCURL_ENOENT { try host.check(result) }
      return
    }
    try host.check(key.lend { key in value.lend { table.attribute_set(host.pointer, plain, key, $0) } })
  }

  // MARK: - Messages

  /// Makes an empty message of a type in the schema: the type with the full name, or with `pkg.Service/Method` the request's
  /// type of the method. It is freed with the last reference, at the latest when the call is closed. `[any thread]`
  public func makeMessage(_ name: String) throws(HostError) -> OwnMessage {
    var message = rpcurl_token()
    try host.check(name.lend { table.message_new(host.pointer, plain, $0, &message) })
    return OwnMessage(Token(host: host, plain: message))
  }

  private var table: rpcurl_host { host.pointer.pointee }

  /// Ends the call at once: each interceptor that saw it start gets `canceled` with this reason. `[any thread]`
  public func cancel(_ reason: String) throws(HostError) {
    try host.check(reason.lend { table.cancel(host.pointer, plain, $0) })
  }

  /// Reports a finding about the call: it is printed, counted for the exit status, and part of reports. Also in `close`.
  /// `[any thread]`
  public func report(_ kind: Finding.Kind, _ text: String) throws(HostError) {
    try host.check(text.lend { table.report(host.pointer, plain, kind.rawValue, $0) })
  }

  /// Sends an additional message of the request, after everything that this plugin received so far. `[any
  /// thread]`
  public func inject(request message: Payload) throws(HostError) {
    try inject(message) { table.inject_request(host.pointer, plain, $0) }
  }

  /// Sends an additional message of the response to the caller. `[any thread]`
  public func inject(response message: Payload) throws(HostError) {
    try inject(message) { table.inject_response(host.pointer, plain, $0) }
  }

  private func inject(
    _ message: Payload, _ function: (UnsafePointer<rpcurl_local_message>) -> Int32
  ) throws(HostError) {
    let lender = Lender()
    let result = withUnsafePointer(to: lender.message(message), function)
    withExtendedLifetime(lender) {}
    try host.check(result)
  }

  /// Runs `body` on the loop's thread after a time, unless the call is closed first. `[loop]`
  ///
  /// The interceptor's methods run on that thread too, so `body` may capture it.
  ///
  /// - Returns: The timer, to cancel it.
  @discardableResult
  public func after(_ pause: Duration, _ body: @escaping () -> Void) throws(HostError) -> CallTimer {
    var timer = rpcurl_timer()
    let pending = try schedule(body) { function, argument in
      table.after(host.pointer, plain, pause.nanoseconds, function, argument, &timer)
    }
    return CallTimer(plain: timer, pending: pending)
  }

  /// Cancels a timer; does nothing if it has fired. `[loop]`
  public func cancel(_ timer: CallTimer) throws(HostError) {
    let result = table.cancel_timer(host.pointer, plain, timer.plain)
    if result == RPCURL_ENOENT { return }
    try host.check(result)
    pending.drop(timer.pending)
  }

  /// Runs `body` on the loop's thread soon, unless the call is closed first. `[any thread]`
  ///
  /// Captured objects must belong to the loop's thread, like the interceptor, or no longer be used on this
  /// thread.
  public func post(_ body: @escaping () -> Void) throws(HostError) {
    try schedule(body) { function, argument in table.post(host.pointer, plain, function, argument) }
  }

  @discardableResult
  func schedule(
    _ body: @escaping () -> Void,
    _ start: (rpcurl_function, UnsafeMutableRawPointer) -> Int32
  ) throws(HostError) -> ScheduledFunctions.Number {
    try pending.schedule(body, host, start)
  }

  /// Drops scheduled functions, which may retain this call: the host no longer runs them.
  func close() { pending.close() }
}

/// A message that a plugin makes, to be given to calls, streams and responses as ``Payload/message(_:)``.
public final class OwnMessage: Sendable {
  /// The fields, to read and change.
  public let fields: Message

  init(_ token: Token) { fields = Message(token: token) }

  deinit { _ = fields.token.host.pointer.pointee.message_free(fields.token.host.pointer, fields.token.plain) }
}
