import RPCurlBase
/// The start of a request as it travels down the chain to the wire.
public struct RequestStart: Sendable, Equatable {
  /// The method to call.
  public var method: MethodName
  /// The server: `http[s]://host[:port][/prefix]`, without the method's path and without a final slash.
  public var target: String
  /// Metadata to send. The protocol's own headers are added below the chain.
  public var headers: Headers
  /// The time by which the call must end; the protocol's timeout header carries the time left until it.
  public var deadline: MonotonicClock.Instant?
  /// How messages are encoded on the wire.
  public var codec: CodecName
  /// Which headers belong to one server only; `nil` when none do. A request that would carry them to another
  /// server fails.
  public var credentials: Credentials?

  /// Makes the start of a request.
  public init(
    method: MethodName, target: String, headers: Headers = Headers(),
    deadline: MonotonicClock.Instant? = nil, codec: CodecName = .proto
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.deadline = deadline
    self.codec = codec
  }
}

/// Request headers that only one server may receive.
public struct Credentials: Sendable, Equatable {
  /// The server that they belong to.
  public var origin: Origin
  /// The names of the headers, in lower case.
  public var headerNames: Set<String>
  /// Whether they may be sent without TLS beyond this machine.
  public var allowsPlaintext = true

  /// Makes credentials for one server.
  ///
  /// - Parameters:
  ///   - origin: The server that may receive them.
  ///   - headerNames: The names of the headers, in lower case.
  public init(for origin: Origin, in headerNames: Set<String>) {
    self.origin = origin
    self.headerNames = Set(headerNames.map { $0.lowercased() })
  }

  /// The error message for credentials that would be sent in clear text.
  ///
  /// - Parameter destination: The target of the request, such as `to example.com:80`.
  package static func refusal(_ destination: String) -> String {
    "credentials are not sent \(destination) without TLS; allow-plaintext=true allows that"
  }
}

/// The start of a response: HTTP's status line and the leading metadata.
public struct ResponseStart: Sendable, Equatable {
  /// HTTP's status, such as 200.
  public var httpStatus: Int
  /// HTTP's version: `1.1`, `2` or `3`; empty for a response that did not come from a server.
  public var httpVersion: String
  /// The leading metadata, in the order received.
  public var headers: Headers
  /// The address and the port of the connection, such as `127.0.0.1:80`; empty without a connection, or for a Unix socket.
  public var peer = ""
  /// The version of TLS, such as `TLSv1.3`; empty without TLS, or if libcurl does not report it.
  public var tlsVersion = ""
  /// The certificate of the server, followed by those of its authorities that it sent; empty unless they are reported.
  package var certificates: [ServerCertificate] = []

  /// Makes the start of a response.
  public init(httpStatus: Int = 200, httpVersion: String = "", headers: Headers = Headers()) {
    self.httpStatus = httpStatus
    self.httpVersion = httpVersion
    self.headers = headers
  }

  /// Whether the start shows how the call ends: by an error of HTTP, or by a status of gRPC in the headers (trailers-only).
  package var showsEnd: Bool { httpStatus != 200 || headers.first("grpc-status") != nil }
}

/// The end of a call: its status and the trailing metadata.
public struct ResponseEnd: Sendable, Equatable {
  /// How the call failed; `nil` is the status `ok`.
  public var error: RPCError?
  /// The trailing metadata, in the order received.
  public var trailers: Headers
  /// Whether this is the failure of an attempt after a message of the response arrived, even one that is invalid or was
  /// not delivered: the server has run the method.
  package var followsMessage = false

  /// Makes the end of a call.
  public init(error: RPCError? = nil, trailers: Headers = Headers()) {
    self.error = error
    self.trailers = trailers
  }

  /// The status code of the call.
  public var code: StatusCode { error?.code ?? .ok }
}

/// Measurements of a call: durations since its start, sizes in bytes, and counts.
///
/// After retries, the connection is that of the first attempt that made one, the first byte and the messages
/// are those of the last attempt, and the bytes are the sum of all attempts.
public struct CallMetrics: Sendable, Equatable {
  /// From the start of the call to its end.
  public var total: Duration = .zero
  /// Until the server's name was resolved; `nil` when no connection was made.
  public var resolve: Duration?
  /// Until the connection was established; `nil` when one was reused or none was made.
  public var connect: Duration?
  /// Until the TLS handshake completed; `nil` without TLS.
  public var tls: Duration?
  /// Until the first byte of the response was received; `nil` when none was.
  public var firstByte: Duration?
  /// Bytes of the request's body as sent, envelopes included.
  public var sentBytes = 0
  /// Bytes of the response's body as received, envelopes included.
  public var receivedBytes = 0
  /// Messages sent.
  public var sentMessages = 0
  /// Messages that have arrived, of which some may not have been delivered yet, and their bytes.
  public var receivedMessages = 0
  /// Bytes of the messages sent, serialized and uncompressed.
  public var sentMessageBytes = 0
  /// Bytes of the messages received, serialized and uncompressed.
  public var receivedMessageBytes = 0
  /// Number of attempts.
  public var attempts = 1

  /// Makes empty metrics of one attempt.
  public init() {}
}
