import CRPCURLPlugin

/// The right and the duty to decide, exactly once, what to do with a value kept with `.later`. `[any thread]`
///
/// The host recognizes a token that was used or whose call has ended; then an error is thrown, without
/// further effect.
public struct Token: Sendable {
  let host: Host
  let plain: rpcurl_token

  private var table: rpcurl_host { host.pointer.pointee }

  /// Uses the token.
  public func settle(_ verdict: Verdict) throws(HostError) {
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
    try host.check(result)
  }

  /// Forwards the value, with the changes made to it.
  public func proceed() throws(HostError) { try settle(.proceed) }
  /// Fails the call.
  public func fail(_ status: Status, trailers: [Field] = []) throws(HostError) {
    try settle(.fail(status, trailers: trailers))
  }
  /// Responds to the call locally.
  public func respond(_ response: Response) throws(HostError) { try settle(.respond(response)) }
  /// Removes the message from the stream.
  public func drop() throws(HostError) { try settle(.drop) }

  /// Injects a message before the value. The token is not used.
  public func inject(_ message: NewMessage) throws(HostError) {
    let lender = Lender()
    let result = withUnsafePointer(to: lender.message(message)) { table.inject(host.pointer, plain, $0) }
    withExtendedLifetime(lender) {}
    try host.check(result)
  }
}

/// The headers or trailers of a value. `[any thread]`
public struct HeaderFields: Sendable {
  let token: Token

  private var host: Host { token.host }
  private var table: rpcurl_host { token.host.pointer.pointee }

  /// All fields, in order.
  public func all() throws(HostError) -> [Field] {
    let count = try host.check(table.header_count(host.pointer, token.plain))
    var fields: [Field] = []
    for index in 0..<Int(count) {
      var field = rpcurl_field()
      try host.check(table.header_at(host.pointer, token.plain, index, &field))
      fields.append(Field(String(field.name), String(field.value)))
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
