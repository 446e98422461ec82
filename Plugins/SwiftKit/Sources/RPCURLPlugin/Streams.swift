import CRPCURLPlugin

/// A plain HTTP request that a plugin makes, to a token server for example.
public struct HTTPFetch: Sendable {
  /// The method, such as `POST`.
  public var method: String
  /// The absolute URL.
  public var url: String
  /// Headers to send.
  public var headers: [Headers.Field]
  /// The body to send.
  public var body: [UInt8]
  /// The timeout; `nil` for 30 seconds.
  public var timeout: Duration?
  /// The limit for the body of the response in bytes; `nil` for 1 MiB.
  public var maxBodyBytes: Int?

  /// Makes a request for ``Call/fetch(_:_:)``.
  public init(
    method: String = "GET", url: String, headers: [Headers.Field] = [], body: [UInt8] = [],
    timeout: Duration? = nil,
    maxBodyBytes: Int? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.maxBodyBytes = maxBodyBytes
  }
}

/// The response to a plain HTTP request.
public struct HTTPFetchResponse: Sendable {
  /// Ok for a response with any HTTP status.
  public let status: Status
  /// The HTTP status.
  public let httpStatus: Int
  /// The headers.
  public let headers: [Headers.Field]
  /// The body.
  public let body: [UInt8]

  init(_ plain: rpcurl_fetch_response) {
    status = plain.status.map { Status($0.pointee) } ?? .ok
    httpStatus = Int(plain.http_status)
    headers = [Headers.Field](plain.headers, plain.header_count)
    body = [UInt8](plain.body)
  }
}

/// What a plugin receives of a stream, on the loop's thread.
public enum SubrequestEvent: Sendable {
  /// The response starts, with these headers.
  case start([Headers.Field])
  /// A message of the response, in the requested form.
  case message([UInt8])
  /// Whether to send more messages now; those that are sent nevertheless wait in memory.
  case wanted(Bool)
  /// The end. Once, and last.
  case end(Status, trailers: [Headers.Field])
}

/// A stream that a plugin has opened. `[loop]`
///
/// After its end, functions throw an error that ``HostError/isNotFound``.
public struct SubrequestStream: Sendable {
  let host: Host
  let call: rpcurl_call
  let plain: rpcurl_stream

  private var table: rpcurl_host { host.pointer.pointee }

  /// Sends a message.
  public func send(_ message: Payload) throws(HostError) {
    let lender = Lender()
    let result = withUnsafePointer(to: lender.message(message)) {
      table.stream_send(host.pointer, call, plain, $0)
    }
    withExtendedLifetime(lender) {}
    try host.check(result)
  }

  /// Ends the request: no more messages follow.
  public func finishSending() throws(HostError) {
    try host.check(table.stream_finish(host.pointer, call, plain))
  }

  /// Pauses or resumes the response. What was received is still delivered.
  public func wantResponse(_ isWanted: Bool) throws(HostError) {
    try host.check(table.stream_pause(host.pointer, call, plain, isWanted ? 0 : 1))
  }

  /// Ends the stream with the status `canceled`, which its end reports.
  public func cancel() throws(HostError) {
    try host.check(table.stream_cancel(host.pointer, call, plain))
  }
}

extension Call {
  /// Makes a plain HTTP request, with the proxy and the authorities of the call. `[loop]`
  ///
  /// `done` runs exactly once, on the loop's thread, at the latest when the call ends.
  public func fetch(_ fetch: HTTPFetch, _ done: @escaping (HTTPFetchResponse) -> Void) throws(HostError) {
    try host.fetch(fetch, in: plain, done)
  }
}

extension Host {
  func fetch(
    _ fetch: HTTPFetch, in call: rpcurl_call, _ done: @escaping (HTTPFetchResponse) -> Void
  ) throws(HostError) {
    let lender = Lender()
    let request = rpcurl_fetch(
      struct_size: MemoryLayout<rpcurl_fetch>.size, method: lender.text(fetch.method),
      url: lender.text(fetch.url),
      headers: lender.fields(fetch.headers), header_count: fetch.headers.count, body: lender.text(fetch.body),
      timeout_ns: fetch.timeout?.nanoseconds ?? 0, max_body_bytes: UInt64(clamping: fetch.maxBodyBytes ?? 0))
    let argument = Unmanaged.passRetained(Receiver<HTTPFetchResponse>(done))
    let result = withUnsafePointer(to: request) { request in
      pointer.pointee.fetch(
        pointer, call, request,
        { _, argument, response in
          guard let argument, let response else { return }
          Unmanaged<Receiver<HTTPFetchResponse>>.fromOpaque(argument).takeRetainedValue()
            .run(HTTPFetchResponse(response.pointee))
        }, argument.toOpaque())
    }
    withExtendedLifetime(lender) {}
    if result < 0 { argument.release() }
    try check(result)
  }
}

extension Call {
  /// Opens a call of any kind, which does not pass this plugin; the message of `own` is ignored. `[loop]`
  ///
  /// - Parameter receive: Called on the loop's thread, never from within this method; the last event is the end.
  public func open(
    _ own: Subrequest, _ kind: CallKind, _ receive: @escaping (SubrequestEvent) -> Void
  ) throws(HostError) -> SubrequestStream {
    let lender = Lender()
    let plainCall = lender.ownCall(own)
    let events = rpcurl_stream_events(
      struct_size: MemoryLayout<rpcurl_stream_events>.size,
      started: { _, argument, headers, count in
        Receiver<SubrequestEvent>.of(argument)?.run(.start([Headers.Field](headers, count)))
      },
      message: { _, argument, text in Receiver<SubrequestEvent>.of(argument)?.run(.message([UInt8](text))) },
      wanted: { _, argument, isWanted in Receiver<SubrequestEvent>.of(argument)?.run(.wanted(isWanted != 0))
      },
      ended: { _, argument, response in
        guard let argument, let response = response?.pointee else { return }
        Unmanaged<Receiver<SubrequestEvent>>.fromOpaque(argument).takeRetainedValue().run(
          .end(
            response.status.map { Status($0.pointee) } ?? .ok,
            trailers: [Headers.Field](response.trailers, response.trailer_count)))
      })
    let argument = Unmanaged.passRetained(Receiver<SubrequestEvent>(receive))
    var stream = rpcurl_stream()
    let result = withUnsafePointer(to: plainCall) { call in
      withUnsafePointer(to: events) { events in
        host.pointer.pointee.open_stream(
          host.pointer, plain, kind.rawValue, call, events, argument.toOpaque(), &stream)
      }
    }
    withExtendedLifetime(lender) {}
    if result < 0 { argument.release() }
    try host.check(result)
    return SubrequestStream(host: host, call: plain, plain: stream)
  }

  /// Runs `body` on the loop's thread when the chain and the transport want more messages of the request, unless the call
  /// is closed first: backpressure, for a plugin that injects many messages. `[loop]`
  public func whenRequestWanted(_ body: @escaping () -> Void) throws(HostError) {
    try whenWanted(RPCURL_DIRECTION_REQUEST, body)
  }

  /// The same for messages of the response, which the chain and the caller want. `[loop]`
  public func whenResponseWanted(_ body: @escaping () -> Void) throws(HostError) {
    try whenWanted(RPCURL_DIRECTION_RESPONSE, body)
  }

  private func whenWanted(_ direction: Int32, _ body: @escaping () -> Void) throws(HostError) {
    try schedule(body) { function, argument in
      host.pointer.pointee.when_wanted(host.pointer, plain, UInt32(direction), function, argument)
    }
  }
}

extension RequestStart {
  /// Starts a response in place of a server: keep the token, send messages with ``Call/inject(response:)``, and end the
  /// call with ``Token/respond(_:)``, whose headers are not sent again. Once. `[any thread]`
  public func startResponse(headers: [Headers.Field] = []) throws(HostError) {
    let (host, lender) = (token.host, Lender())
    let result = host.pointer.pointee.start_response(
      host.pointer, token.plain, lender.fields(headers), headers.count)
    withExtendedLifetime(lender) {}
    try host.check(result)
  }
}

/// A closure that the host holds.
private final class Receiver<Value> {
  let run: (Value) -> Void

  init(_ run: @escaping (Value) -> Void) { self.run = run }

  static func of(_ argument: UnsafeMutableRawPointer?) -> Receiver? {
    argument.map { Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
  }
}
