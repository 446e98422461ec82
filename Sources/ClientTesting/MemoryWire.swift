import RPCurlBase
import RPCurlClient
import RPCurlProtocols

/// A call without a connection: the client's half of its protocol, the server's half, and the bytes between them. `[any thread]`
///
/// So statuses, details and metadata arrive as servers send them.
final class MemoryWire: Sendable {
  fileprivate struct State {
    let client: any WireProtocol
    /// Nil if the server has ended the call.
    var server: (any ServerProtocol)?
    let response = ReceivedResponse()
  }

  /// What has arrived of a response.
  enum Reception {
    case message([UInt8])
    case end(ResponseEnd)
  }

  /// The metadata of the request as it has arrived.
  let headers: Headers
  /// The messages that have arrived with the start of the request.
  let messages: [[UInt8]]
  private let state: Locked<State>

  /// Sends the start of a request.
  ///
  /// - Parameters:
  ///   - client: The client's half of a new call.
  ///   - start: The start.
  ///   - method: The method, as the server has it.
  ///   - messages: All messages of the request; nil for a stream.
  /// - Throws: `RPCError` if a header is invalid.
  init(
    _ client: sending any WireProtocol, _ start: RequestStart, _ method: ServerMethod, _ messages: [[UInt8]]?
  ) throws(RPCError) {
    var body: [UInt8] = []
    for message in messages ?? [] { try client.encode(message, into: &body) }
    let request = try client.makeRequest(start, timeout: start.deadline.map { $0 - .now })
    // The URL of a call by GET contains its message.
    if request.method == "GET" { body = [] }
    let head = ServerRequestHead(
      method: request.method, path: String(request.url.dropFirst(start.target.count)),
      headers: request.headers)
    var state = State(client: client)
    switch ServerProtocols.receive(head, method, ServerOptions()) {
    case .call(let server): state.server = server
    case .refusal(let response): state.send(response)
    }
    headers = state.server?.request.start.headers ?? Headers()
    var arrived: [[UInt8]] = []
    if messages != nil {
      do throws(RPCError) {
        arrived = try state.receive(body) + state.receiveEnd()
      } catch {
        state.end(ResponseEnd(error: error))
      }
    }
    self.messages = arrived
    self.state = Locked(state)
  }

  /// Whether the server has ended the call.
  var isOver: Bool { state.withLock { $0.server == nil } }

  /// Sends a message of a stream of requests.
  ///
  /// - Returns: The message as it has arrived; nil if the server has ended the call.
  func send(_ message: [UInt8]) throws(RPCError) -> [UInt8]? {
    try state.withLock { (state) throws(RPCError) in
      var body: [UInt8] = []
      try state.client.encode(message, into: &body)
      return try state.receive(body).first
    }
  }

  /// Half-closes a stream of requests.
  func finishSending() throws(RPCError) {
    _ = try state.withLock { (state) throws(RPCError) in try state.receiveEnd() }
  }

  /// Sends the start of a response, unless the protocol sends it with the end.
  func start(_ headers: Headers) {
    state.withLock { $0.send($0.server?.respond(ResponseStart(headers: headers))) }
  }

  /// Sends a message of a response.
  func respond(_ message: [UInt8]) throws(RPCError) {
    try state.withLock { (state) throws(RPCError) in
      var body: [UInt8] = []
      state.send(try state.server?.encode(message.span.bytes, into: &body))
      state.send(body)
    }
  }

  /// Ends a response.
  func end(_ end: ResponseEnd) { state.withLock { $0.end(end) } }

  /// The start of the response; nil if it has not arrived.
  var start: ResponseStart? { state.withLock { $0.response.start } }

  /// The trailing metadata, after the end.
  var trailers: Headers { state.withLock { $0.response.end?.trailers ?? Headers() } }

  /// Removes the next message that has arrived; nil if neither a message nor the end has arrived.
  func receive() -> Reception? {
    state.withLock { state in
      if let message = state.response.messages.popFirst() { return .message(message) }
      return state.response.end.map { .end($0) }
    }
  }
}

extension MemoryWire.State {
  // MARK: At the server

  /// Receives a part of the request's body, and returns its messages.
  fileprivate func receive(_ body: [UInt8]) throws(RPCError) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    var offset = 0
    while offset < body.count, let server {
      try server.receive(body: body.span.bytes, from: &offset) { messages.append($0.copyBytes()) }
    }
    return messages
  }

  /// Receives the end of the request's body, and returns the message of a request that is not a stream.
  fileprivate func receiveEnd() throws(RPCError) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    try server?.receiveEnd { messages.append($0.copyBytes()) }
    return messages
  }

  fileprivate mutating func end(_ end: ResponseEnd) {
    if let response = server?.end(end) { send(response) }
  }

  // MARK: To the client

  fileprivate func send(_ head: ServerResponseHead?) {
    guard let head else { return }
    let start = ResponseStart(httpStatus: head.status, httpVersion: "2", headers: head.headers)
    response.receive(end: client.receive(head: start, response))
  }

  fileprivate func send(_ body: [UInt8]) {
    var offset = 0
    while offset < body.count {
      response.receive(end: client.receive(body: body.span.bytes, from: &offset, response))
    }
  }

  fileprivate mutating func send(_ end: RPCurlProtocols.ServerResponse) {
    server = nil
    send(end.head)
    send(end.body)
    if let trailers = end.trailers {
      response.receive(end: client.receive(trailers: trailers, areComplete: true, response))
    }
    response.receive(end: client.receiveEnd(failure: nil, response))
  }
}

/// What a client has received of a response.
private final class ReceivedResponse: ResponseReceiver {
  var start: ResponseStart?
  var messages: ArraySlice<[UInt8]> = []
  var end: ResponseEnd?

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseStart(let start): self.start = start
    case .responseMessage(let message): messages.append(message.serialized)
    // A protocol returns the end.
    case .responseEnd, .requestStart, .requestMessage, .requestEnd, .metrics: break
    }
  }

  func receive(message: RawSpan) { messages.append(message.copyBytes()) }

  func receive(end: ResponseEnd?) { self.end = self.end ?? end }
}
