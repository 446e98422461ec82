import CRPCURLPlugin

/// The request's start.
public struct RequestStart: Sendable {
  /// The token, to keep the value and use it later.
  public let token: Token
  /// The request's headers.
  public var headers: Headers { Headers(token: token) }

  /// The target of the request: `http[s]://host[:port][/prefix]`.
  public func target() throws(HostError) -> String { String(try plain().target) }

  /// The time left for the call; `nil` without a limit.
  public func timeout() throws(HostError) -> Duration? {
    let left = try plain().timeout_ns
    return left < 0 ? nil : .nanoseconds(left)
  }

  /// The method of the request: `pkg.Service/Method`.
  public func method() throws(HostError) -> String { String(try plain().method) }

  /// Sends the request to another method of the same kind and with the same types: `pkg.Service/Method`. Another one fails
  /// the call with `invalidArgument` when the start is forwarded.
  public func setMethod(_ method: String) throws(HostError) {
    let host = token.host
    try host.check(method.lend { host.pointer.pointee.set_method(host.pointer, token.plain, $0) })
  }

  /// Sends the request to another server.
  public func setTarget(_ target: String) throws(HostError) {
    let host = token.host
    try host.check(target.lend { host.pointer.pointee.set_target(host.pointer, token.plain, $0) })
  }

  /// Sets the timeout of the call from now on; `nil` for none.
  public func setTimeout(_ timeout: Duration?) throws(HostError) {
    let host = token.host
    try host.check(
      host.pointer.pointee.set_timeout(
        host.pointer, token.plain, timeout.map { max(0, $0.nanoseconds) } ?? -1))
  }

  private func plain() throws(HostError) -> rpcurl_start {
    var start = rpcurl_start()
    start.struct_size = MemoryLayout<rpcurl_start>.size
    let host = token.host
    try host.check(host.pointer.pointee.get_start(host.pointer, token.plain, &start))
    return start
  }
}

/// The half-close: no more messages follow.
public struct RequestEnd: Sendable {
  /// The token, to keep the value and use it later, or to inject messages before it.
  public let token: Token
}

/// The response's start.
public struct ResponseStart: Sendable {
  /// The token, to keep the value and use it later.
  public let token: Token
  /// The response's headers.
  public var headers: Headers { Headers(token: token) }

  /// The HTTP status.
  public func httpStatus() throws(HostError) -> Int { Int(try plain().http_status) }

  /// The HTTP version: `1.1`, `2` or `3`; empty if the response is not from a server.
  public func httpVersion() throws(HostError) -> String { String(try plain().http_version) }

  /// The address and the port of the connection; empty without a connection, or for a Unix socket.
  public func peer() throws(HostError) -> String { String(try plain().peer) }

  /// The version of TLS, such as `TLSv1.3`; empty without TLS.
  public func tlsVersion() throws(HostError) -> String { String(try plain().tls_version) }

  private func plain() throws(HostError) -> rpcurl_response_start {
    var start = rpcurl_response_start()
    start.struct_size = MemoryLayout<rpcurl_response_start>.size
    let host = token.host
    try host.check(host.pointer.pointee.get_response(host.pointer, token.plain, &start))
    return start
  }
}

/// The end of a call.
public struct ResponseEnd: Sendable {
  /// The token, to keep the value and use it later.
  public let token: Token
  /// The trailers.
  public var trailers: Headers { Headers(token: token) }

  /// The status with its details.
  public func status() throws(HostError) -> Status {
    let host = token.host
    var plain = rpcurl_status()
    plain.struct_size = MemoryLayout<rpcurl_status>.size
    try host.check(host.pointer.pointee.get_status(host.pointer, token.plain, &plain))
    return Status(plain)
  }

  /// Replaces the status and its details; ``StatusCode/ok`` makes the call a success.
  public func setStatus(_ status: Status) throws(HostError) {
    let host = token.host
    let table = host.pointer.pointee
    try host.check(
      status.message.lend {
        table.set_status(host.pointer, token.plain, status.code.plain, $0)
      })
    try host.check(table.details_clear(host.pointer, token.plain))
    let lender = Lender()
    for detail in status.details {
      let result = withUnsafePointer(to: lender.detail(detail)) {
        table.detail_add(host.pointer, token.plain, $0)
      }
      withExtendedLifetime(lender) {}
      try host.check(result)
    }
  }
}

/// The metrics of a call, on the way to the caller.
public struct MetricsValue: Sendable {
  /// The token, to keep the value and use it later.
  public let token: Token

  /// The metrics.
  public func get() throws(HostError) -> CallMetrics {
    let host = token.host
    var plain = rpcurl_metrics()
    plain.struct_size = MemoryLayout<rpcurl_metrics>.size
    try host.check(host.pointer.pointee.get_metrics(host.pointer, token.plain, &plain))
    return CallMetrics(plain)
  }

  /// Replaces the metrics, for interceptors further out and the caller.
  public func set(_ metrics: CallMetrics) throws(HostError) {
    let host = token.host
    try host.check(
      withUnsafePointer(to: metrics.plain) { host.pointer.pointee.set_metrics(host.pointer, token.plain, $0) }
    )
  }
}
