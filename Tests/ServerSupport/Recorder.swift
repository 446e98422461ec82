import RPCurlBase
import RPCurlProtocols

@testable import RPCurlServer

/// Makes handlers that record what they receive, and keeps their streams.
package final class Recorder {
  /// What a request has received.
  package final class Exchange: StreamHandler {
    package let head: RequestHead
    package let stream: ServerStream
    package private(set) var body: [UInt8] = []
    package private(set) var events: [String] = []
    package var onBody: (Exchange) -> Void = { _ in }
    package var onEnd: (Exchange) -> Void = { _ in }
    package var onResume: (Exchange) -> Void = { _ in }

    init(_ head: RequestHead, _ stream: ServerStream) { (self.head, self.stream) = (head, stream) }

    package func receive(body: RawSpan) {
      requireOpen()
      self.body += body.withUnsafeBytes { Array($0) }
      onBody(self)
    }

    package func receive(trailers: Headers) {
      requireOpen()
      events.append("trailers " + trailers.fields.map { "\($0.name)=\($0.value)" }.joined(separator: ","))
    }

    package func receiveEnd() {
      requireOpen()
      precondition(!events.contains("end"), "the end is received once")
      events.append("end")
      onEnd(self)
    }

    package func receiveReset(_ reason: ResetReason) {
      precondition(!isReset, "a reset is received once")
      events.append("reset \(reason)")
    }

    package func resume() { onResume(self) }

    package var text: String { String(decoding: body, as: UTF8.self) }
    private var isReset: Bool { events.last?.hasPrefix("reset") ?? false }
    private func requireOpen() { precondition(!isReset, "nothing follows a reset") }
  }

  package var exchanges: [Exchange] = []
  /// Called with each new request.
  package var begin: (Exchange) -> Void = { _ in }

  package init() {}

  func settings(_ limits: ServerLimits) -> HTTPConnection.Settings {
    HTTPConnection.Settings(limits: limits) { [unowned self] head, stream in
      let exchange = Exchange(head, stream)
      exchanges.append(exchange)
      begin(exchange)
      return exchange
    }
  }

  /// What all requests have received.
  package var summary: [String] {
    exchanges.flatMap { exchange in
      let head = exchange.head
      let fields = head.headers.fields.map { "\($0.name)=\($0.value)" }
      return ["\(head.method) \(head.path) \(head.authority) \(fields)", exchange.text] + exchange.events
    }
  }

  /// Responds to each complete request with its body.
  package func echo() {
    begin = { exchange in
      exchange.onEnd = { exchange in
        exchange.stream.respond(status: 200, headers: Headers([("x", "y")]), body: exchange.body)
      }
    }
  }
}

/// A connection without a socket and without time.
package final class ServerConnection {
  let http: HTTPConnection
  private let now = MonotonicClock.now

  /// Makes the connection of HTTP/1.1 or HTTP/2.
  package init(_ recorder: Recorder, isHTTP2: Bool, limits: ServerLimits = ServerLimits()) {
    let settings = recorder.settings(limits)
    http = isHTTP2 ? HTTP2Connection(settings) : HTTP1Connection(settings)
  }

  package var isDone: Bool { http.isDone }

  /// Receives bytes, in pieces that a function chooses, and returns what is sent.
  @discardableResult
  package func exchange(_ bytes: [UInt8], piece: () -> Int = { .max }) -> [UInt8] {
    var sent: [UInt8] = []
    var rest = bytes[...]
    repeat {
      let part = Array(rest.prefix(max(piece(), 1)))
      rest = rest.dropFirst(part.count)
      http.receive(part.span.bytes, at: now)
      sent += takeOutput()
    } while !rest.isEmpty
    return sent
  }

  /// Returns all that is to be sent.
  @discardableResult
  package func takeOutput() -> [UInt8] {
    var sent: [UInt8] = []
    while true {
      http.fill(upTo: 16_384, at: now)
      guard !http.output.isEmpty else { return sent }
      sent += http.output
      http.output = []
    }
  }

  /// The connection is lost.
  package func lose() { http.cancel(.connection) }
}
