import RPCurlProtobuf

@testable import RPCurlProtocols

/// Records what a server's half of a protocol makes of a request.
package struct ServerRecorder {
  package private(set) var call: (any ServerProtocol)?
  package private(set) var messages: [[UInt8]] = []
  /// Why the request is invalid, after its head.
  package private(set) var error: RPCError?
  /// The response, as far as it was sent.
  package private(set) var response = HTTPResponse(status: 0)
  package private(set) var isEnded = false

  /// Receives a request, the body in pieces of at most `pieceBytes`.
  package init(
    _ head: ServerRequestHead, _ method: ServerMethod? = nil, _ options: ServerOptions = .test,
    body: [UInt8] = [], pieceBytes: Int = .max
  ) {
    switch ServerProtocols.receive(head, method, options) {
    case .refusal(let response): send(response)
    case .call(let call):
      self.call = call
      do throws(RPCError) {
        try receive(body, pieceBytes, call)
      } catch {
        self.error = error
      }
    }
  }

  private mutating func receive(
    _ body: [UInt8], _ pieceBytes: Int, _ call: any ServerProtocol
  ) throws(RPCError) {
    var messages: [[UInt8]] = []
    defer { self.messages = messages }
    var offset = 0
    while offset < body.count {
      let end = offset + min(pieceBytes, body.count - offset)
      let piece = Array(body[offset..<end])
      var read = 0
      while read < piece.count {
        try call.receive(body: piece.span.bytes, from: &read) { messages.append($0.copyBytes()) }
      }
      offset = end
    }
    try call.receiveEnd { messages.append($0.copyBytes()) }
  }

  private mutating func send(_ head: ServerResponseHead?) {
    guard let head else { return }
    precondition(response.status == 0, "one head is sent")
    response.status = head.status
    response.headers = head.headers.fields.map { ($0.name, $0.value) }
  }

  private mutating func send(_ end: ServerResponse) {
    precondition(!isEnded, "a response ends once")
    isEnded = true
    send(end.head)
    precondition(response.status > 0, "a response has a head")
    response.body += end.body
    response.trailers = (end.trailers ?? Headers()).fields.map { ($0.name, $0.value) }
  }

  /// Responds to the call.
  package mutating func respond(
    _ start: ResponseStart? = ResponseStart(), _ messages: [[UInt8]] = [], _ end: ResponseEnd = ResponseEnd()
  ) throws {
    guard let call else { return }
    if let start { send(call.respond(start)) }
    for message in messages {
      let head = try call.encode(message.span.bytes, into: &response.body)
      send(head)
    }
    send(call.end(end))
  }

  /// Reports the error of the request to the client.
  package mutating func fail() throws {
    try respond(nil, [], ResponseEnd(error: error))
  }
}

extension ServerRequestHead {
  /// The head of what a client sends.
  package init(_ request: HTTPRequest) {
    let parts = request.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    self.init(
      method: request.method, path: "/\(parts.last ?? "")", authority: String(parts[2]),
      headers: request.headers)
  }

  /// A request for the method `a.B/C`.
  package static func test(
    _ contentType: String, _ headers: [(String, String)] = [], method: String = "POST",
    path: String = "/a.B/C",
    isHTTP2: Bool = true
  ) -> ServerRequestHead {
    ServerRequestHead(
      method: method, path: path, authority: "h", headers: Headers([("content-type", contentType)] + headers),
      isHTTP2: isHTTP2)
  }
}

extension ServerOptions {
  package static let test = ServerOptions(maxMessageBytes: 1000, accepted: [.gzip, .br], sent: [.gzip, .br])
}
