import RPCurlProtocols

/// The request line and the header fields of a request.
package struct RequestHead: Sendable, Equatable {
  /// The version of HTTP.
  package enum Version: Sendable {
    /// HTTP/1.0, in which a connection has one request.
    case http1_0
    /// HTTP/1.1.
    case http1_1
    /// HTTP/2.
    case http2
  }

  /// The method, such as `POST`.
  package var method: String
  /// The path with its query, or `*`.
  package var path: String
  /// The host with its port that the client requests: `:authority` or `Host`. Empty if there is neither.
  package var authority: String
  /// `http` or `https`, by the connection.
  package var scheme: String
  /// The other fields, without those that concern the connection.
  package var headers: Headers
  /// The version of HTTP.
  package var version: Version

  /// The fields of HTTP/1.1 that concern the connection (RFC 9110, section 7.6.1), and those that the server writes itself.
  static let connectionFields = [
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings",
  ]
}

/// Why no more of a request arrives, and the response is not delivered.
package enum ResetReason: Equatable, Sendable {
  /// The client or nghttp2 reset the HTTP/2 stream with this code (RFC 9113, section 7).
  case stream(code: UInt32)
  /// The connection was closed, or failed.
  case connection
  /// The client did not send or receive in time.
  case timeout
  /// The body of the request breaks the rules of HTTP.
  case malformed
  /// The listener has ended.
  case stopped
}

/// What processes a request. The application makes one for each request.
///
/// All functions are called on the thread of the loop. Nothing is called after `receiveReset`, after the end of the response
/// was sent, and after `ServerStream.reset`.
package protocol StreamHandler: AnyObject {
  /// Receives a part of the body. The bytes are valid during the call.
  func receive(body: RawSpan)
  /// Receives the trailers of the request, if it has any.
  func receive(trailers: Headers)
  /// The request is complete.
  func receiveEnd()
  /// The request was canceled: no more arrives, and the rest of the response is dropped.
  func receiveReset(_ reason: ResetReason)
  /// The buffer of the response is below its mark again, after `ServerStream.write` has returned false.
  func resume()
}

extension StreamHandler {
  package func receive(trailers: Headers) {}
  package func resume() {}
}

/// Makes the handler of a request; nil if the request needs none: a response was made already, and the body is dropped.
package typealias MakeHandler = (RequestHead, ServerStream) -> StreamHandler?

/// Limits of what clients may use.
package struct ServerLimits: Sendable {
  /// The maximum number of connections. More wait in the queue of the system.
  package var connections = 1024
  /// The maximum number of concurrent requests of an HTTP/2 connection.
  package var streams = 100
  /// The maximum size of the fields of a request, or of its trailers, in bytes: names, values, and 32 for each.
  package var headerBytes = 65_536
  /// The maximum number of fields of a request, or of its trailers.
  package var headerCount = 256
  /// The bytes of a request body of HTTP/2 that may be on their way.
  package var streamWindow: Int32 = 1 << 20
  /// The same for all requests of a connection.
  package var connectionWindow: Int32 = 16 << 20
  /// `ServerStream.write` returns false from this number of bytes of a response on.
  package var highMark = 256 << 10
  /// `StreamHandler.resume` is called below this number of bytes.
  package var lowMark = 64 << 10
  /// The time for the TLS handshake, and for the header fields of a request.
  package var headerTime = Duration.seconds(10)
  /// The time that a connection without requests is kept, and that a body of HTTP/1.1 may pause.
  package var idleTime = Duration.seconds(300)
  /// The time in which a client must receive some of a response that is ready.
  package var sendTime = Duration.seconds(300)
  /// The time without bytes of an HTTP/2 client with open requests after which the server sends a PING; and the time for
  /// the reply.
  package var pingTime = Duration.seconds(300)
  /// The time that a connection is kept after the last response so that the client can read it.
  package var lingerTime = Duration.seconds(2)

  /// The default limits.
  package init() {}
}
