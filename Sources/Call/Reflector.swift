import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// Requests a server's schema: a query, and the calls that carry it.
///
/// Each round of requests is one call, sent whole. So it works without full duplex (HTTP/1.1, gRPC-Web,
/// proxies that wait for the request's end), at the same number of round trips.
package final class Reflector {
  /// The schema or the error; `nil` until the query is complete.
  package private(set) var result: Result<ReflectedSchema, ReflectionError>?
  /// Called once, when `result` is set.
  package var whenDone: () -> Void = {}

  /// The maximum time to wait for the end of a call after the last response.
  private static let patience = Duration.milliseconds(300)

  /// The number of retries after the server reset a call without a status.
  private static let resetsForgiven = 2

  private let request: ReflectionRequest
  private let client: LoopClient
  private let deadline: MonotonicClock.Instant
  private var query: ReflectionQuery
  private var connection: ConnectionOptions
  private var stream: ReflectionStream?
  private var resets = 0
  /// The complete schema, until its call ends.
  private var schema: ReflectedSchema?

  init(_ request: ReflectionRequest, client: LoopClient) {
    self.request = request
    self.client = client
    connection = request.connection
    deadline = .now + request.timeout
    query = ReflectionQuery(request.goal, version: request.version, limits: request.limits)
  }

  func start() {
    let requests = query.start()
    guard !requests.isEmpty else { return finish(.success(ReflectedSchema(version: query.version))) }
    open(requests)
  }

  /// Cancels the query and its call.
  package func cancel(_ reason: String) {
    finish(.failure(.failed(RPCError(.canceled, reason, origin: .client))))
  }

  // MARK: Calls

  private func open(_ requests: [ServerReflectionRequest]) {
    do {
      let stream = ReflectionStream(reflector: self)
      let call = client.makeCall(try callRequest(), observer: stream)
      stream.call = call
      self.stream = stream
      call.start()
      for request in requests { call.send(.bytes(request.serialized())) }
      call.finishSending()
    } catch let error as RPCError {
      finish(.failure(.failed(error)))
    } catch {
      finish(.failure(.failed(RPCError(.internal, "\(error)", origin: .client))))
    }
  }

  private func callRequest() throws -> CallRequest {
    var call = CallRequest(
      method: try query.version.method(), target: request.target, userAgent: request.userAgent)
    call.headers = request.headers
    call.secretNames = request.secretNames
    // Only the first call connects; its errors show the whole limit.
    call.timeout = stream == nil ? request.timeout : deadline - .now
    call.protocolName = request.protocolName
    call.wire.maxMessageBytes = request.limits.bytes
    call.connection = connection
    call.interceptors = request.interceptors
    call.isHeldUntilWhole = true
    return call
  }

  // MARK: From a call

  fileprivate func received(_ response: [UInt8], on stream: ReflectionStream) {
    // A message after the last response changes nothing.
    guard result == nil, schema == nil, stream === self.stream else { return }
    attempt { () throws(ReflectionError) in
      // Further requests are sent when this call has ended.
      guard case .done(let schema) = try query.receive(response) else { return }
      // An HTTP/1.1 connection can be reused only after the end of this call, which follows soon.
      self.schema = schema
      client.loop.schedule(at: .now + Self.patience) { [weak self] in self?.finish(.success(schema)) }
    }
  }

  fileprivate func ended(_ error: RPCError?, on stream: ReflectionStream) {
    guard result == nil, stream === self.stream else { return }
    if let schema { return finish(.success(schema)) }
    if stream.httpStatus == 505, connection.httpVersion != .http2 {
      // HTTP Version Not Supported: some servers accept bidirectional streams over HTTP/2 only.
      connection.httpVersion = .http2
      return open(query.pending)
    }
    var error = error
    if let reset = error, reset.origin == .connection, reset.code == .internal,
      stream.httpStatus == nil
    {
      // A server without the method responds before it has the request. libcurl 7.88 may lose this response
      // and report only the reset. Another attempt may receive it.
      resets += 1
      if resets <= Self.resetsForgiven { return open(query.pending) }
      resets = 0
      error = RPCError(.unimplemented, reset.message, origin: .violation)
    } else if error?.code == .deadlineExceeded, error?.origin == .client, error?.cause == nil {
      // One call reached the deadline of the whole request.
      error?.message = "it took longer than \(request.timeout.inSeconds)"
    }
    attempt { () throws(ReflectionError) in
      switch try query.streamEnded(error) {
      case .wait: break
      case .send(let requests), .open(let requests): open(requests)
      case .done(let schema): finish(.success(schema))
      }
    }
  }

  private func attempt(_ step: () throws(ReflectionError) -> Void) {
    do throws(ReflectionError) {
      try step()
    } catch {
      finish(.failure(error))
    }
  }

  private func finish(_ result: Result<ReflectedSchema, ReflectionError>) {
    guard self.result == nil else { return }
    self.result = result
    stream?.call?.cancel("the schema query has ended")
    stream = nil
    whenDone()
    whenDone = {}
  }
}

/// One reflection call, as its observer.
private final class ReflectionStream: CallObserver {
  private weak var reflector: Reflector?
  var call: Call?
  /// The HTTP status, once the response has started.
  private(set) var httpStatus: Int?

  init(reflector: Reflector) {
    self.reflector = reflector
  }

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start): httpStatus = start.httpStatus
    case .responseMessage(let message): reflector?.received(message.serialized, on: self)
    case .responseEnd(let end):
      // Breaks the reference cycle: the call retains its observer.
      call = nil
      reflector?.ended(end.error, on: self)
    case .requestStart, .requestMessage, .requestEnd, .metrics: break
    }
  }
}
