/// The start of a request as it travels down the chain to the wire.
public struct RequestStart: Sendable, Equatable {
  /// The method to call.
  public var method: MethodName
  /// The server: `http[s]://host[:port][/prefix]`, without the method's path and without a final slash.
  public var target: String
  /// Metadata to send. The protocol's own headers are added below the chain.
  public var headers: Headers
  /// When the call must have ended; the time left then travels in the protocol's timeout header.
  public var deadline: MonotonicClock.Instant?
  /// How messages are encoded on the wire.
  public var codec: CodecName
  /// What of the headers is for one server alone; `nil` when nothing is. A request that would carry it elsewhere is
  /// not sent.
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

/// Headers of a request that one server may see, and nobody else.
public struct Credentials: Sendable, Equatable {
  /// The server they are for.
  public var origin: Origin
  /// The names of the headers, in lower case.
  public var headerNames: Set<String>
  /// Whether they may be sent without TLS beyond this machine.
  public var allowsPlaintext = true

  /// Makes credentials.
  public init(for origin: Origin, in headerNames: Set<String>) {
    self.origin = origin
    self.headerNames = Set(headerNames.map { $0.lowercased() })
  }

  /// The words of an error that refuses to send them in clear text.
  ///
  /// - Parameter destination: Where they would go, such as `to example.com:80`.
  public static func refusal(_ destination: String) -> String {
    "credentials are not sent \(destination) without TLS; allow-plaintext=true allows that"
  }
}

/// The start of a response: HTTP's status line and the leading metadata.
public struct ResponseStart: Sendable, Equatable {
  /// HTTP's status, such as 200.
  public var httpStatus: Int
  /// HTTP's version: `1.1`, `2` or `3`; empty for an answer that no server gave.
  public var httpVersion: String
  /// The leading metadata, in the order received.
  public var headers: Headers

  /// Makes the start of a response.
  public init(httpStatus: Int = 200, httpVersion: String = "", headers: Headers = Headers()) {
    self.httpStatus = httpStatus
    self.httpVersion = httpVersion
    self.headers = headers
  }
}

/// The end of a call: its status and the trailing metadata.
public struct ResponseEnd: Sendable, Equatable {
  /// How the call failed; `nil` is the status `ok`.
  public var error: RPCError?
  /// The trailing metadata, in the order received.
  public var trailers: Headers

  /// Makes the end of a call.
  public init(error: RPCError? = nil, trailers: Headers = Headers()) {
    self.error = error
    self.trailers = trailers
  }

  /// The status code of the call.
  public var code: StatusCode { error?.code ?? .ok }
}

/// What a call took: durations since its start, sizes in bytes, and counts.
///
/// Of a call that was tried several times, the connection is that of the first attempt that made one, the first byte and
/// the messages are those of the last attempt, and the bytes are those of all.
public struct CallMetrics: Sendable, Equatable {
  /// From the start of the call to its end.
  public var total: Duration = .zero
  /// Until the server's name had its address; `nil` when no connection was made.
  public var resolve: Duration?
  /// Until the connection stood; `nil` when one was reused or none was made.
  public var connect: Duration?
  /// Until the TLS handshake was done; `nil` without TLS.
  public var tls: Duration?
  /// Until the first byte of the response came; `nil` when none came.
  public var firstByte: Duration?
  /// Bytes of the request's body as sent, envelopes included.
  public var sentBytes = 0
  /// Bytes of the response's body as received, envelopes included.
  public var receivedBytes = 0
  /// Messages sent.
  public var sentMessages = 0
  /// Messages received.
  public var receivedMessages = 0
  /// How often the call was tried.
  public var attempts = 1

  /// Makes metrics of nothing yet.
  public init() {}
}
