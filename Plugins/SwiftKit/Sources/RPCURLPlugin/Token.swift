import CRPCURLPlugin

/// The right and the duty to decide, exactly once, what to do with a value kept with `.later`. `[any thread]`
///
/// The host recognizes a token that was used or whose call has ended; then an error is thrown, without
/// further effect.
public struct Token: Sendable {
  let host: Host
  let plain: rpcurl_token

  private var table: rpcurl_host { host.pointer.pointee }

  /// Uses the token. Returns the host's result.
  @discardableResult
  func settle(_ verdict: Verdict) throws(HostError) -> Int32 {
    let lender = Lender()
    let result =
      switch verdict {
      case .later: RPCURL_OK
      case .proceed: table.proceed(host.pointer, plain)
      case .drop: table.drop(host.pointer, plain)
      case .fail(let status, let trailers):
        withUnsafePointer(to: lender.failure(status, trailers)) { table.fail_with(host.pointer, plain, $0) }
      case .respond(let response):
        withUnsafePointer(to: lender.response(response)) { table.respond(host.pointer, plain, $0) }
      case .retry(let pause, let headers):
        table.retry(host.pointer, plain, pause.nanoseconds, lender.fields(headers), headers.count)
      }
    withExtendedLifetime(lender) {}
    return try host.check(result)
  }

  /// Forwards the value, with the changes made to it.
  public func proceed() throws(HostError) { try settle(.proceed) }
  /// Fails the call.
  public func fail(_ status: Status, trailers: [Headers.Field] = []) throws(HostError) {
    try settle(.fail(status, trailers: trailers))
  }
  /// Responds to the call locally.
  public func respond(_ response: LocalResponse) throws(HostError) { try settle(.respond(response)) }
  /// Sends the request again from here, after a pause. Response stages only.
  ///
  /// - Parameter headers: Replace those with their names in the request, from the next attempt on.
  /// - Returns: Whether the call is retried, or why the value was forwarded instead.
  @discardableResult
  public func retry(after pause: Duration = .zero, headers: [Headers.Field] = []) throws(HostError)
    -> RetryResult
  {
    do throws(HostError) {
      return try settle(.retry(after: pause, headers: headers)) == RPCURL_LATER ? .decidedLater : .retried
    } catch {
      guard let result = RetryResult(error.code) else { throw error }
      return result
    }
  }
  /// Removes the message from the stream.
  public func drop() throws(HostError) { try settle(.drop) }

  /// Injects a message before the value. The token is not used.
  public func inject(_ message: Payload) throws(HostError) {
    let lender = Lender()
    let result = withUnsafePointer(to: lender.message(message)) { table.inject(host.pointer, plain, $0) }
    withExtendedLifetime(lender) {}
    try host.check(result)
  }
}

/// What ``Token/retry(after:headers:)`` has done.
public enum RetryResult: Sendable {
  /// The call is retried.
  case retried
  /// On another thread than the loop's: the loop retries the call, or forwards the value.
  case decidedLater
  /// The value was forwarded: this plugin has forwarded a part of the response, or the call has ended.
  case responseStarted
  /// The value was forwarded: the host has not kept the request, as `replayLimitBytes` is 0 or was exceeded.
  case notKept
  /// The value was forwarded: the deadline is before the next attempt.
  case deadline

  init?(_ code: Int32) {
    switch code {
    case RPCURL_ESTARTED: self = .responseStarted
    case RPCURL_EREPLAY: self = .notKept
    case RPCURL_EDEADLINE: self = .deadline
    default: return nil
    }
  }
}

/// The headers or trailers of a value. `[any thread]`
public struct Headers: Sendable {
  let token: Token

  private var host: Host { token.host }
  private var table: rpcurl_host { token.host.pointer.pointee }

  /// All fields, in order.
  public func all() throws(HostError) -> [Headers.Field] {
    let count = try host.check(table.header_count(host.pointer, token.plain))
    var fields: [Headers.Field] = []
    for index in 0..<Int(count) {
      var field = rpcurl_field()
      try host.check(table.header_at(host.pointer, token.plain, index, &field))
      fields.append(Field(name: String(field.name), value: String(field.value)))
    }
    return fields
  }

  /// The first value of a name.
  public func first(_ name: String) throws(HostError) -> String? {
    var value = rpcurl_text()
    let result = name.lend { table.header_first(host.pointer, token.plain, $0, &value) }
    if result == RPCURL_ENOENT { return nil }
    try host.check(result)
    return String(value)
  }

  /// Replaces all values of a name by one.
  public func set(_ name: String, _ value: String) throws(HostError) {
    try host.check(
      name.lend { name in value.lend { value in table.header_set(host.pointer, token.plain, name, value) } })
  }

  /// Appends a field.
  public func add(_ name: String, _ value: String) throws(HostError) {
    try host.check(
      name.lend { name in value.lend { value in table.header_add(host.pointer, token.plain, name, value) } })
  }

  /// Removes all values of a name. Returns their number.
  @discardableResult
  public func remove(_ name: String) throws(HostError) -> Int {
    Int(try host.check(name.lend { table.header_remove(host.pointer, token.plain, $0) }))
  }
}
