import RPCurlProtocols

/// A unary call that an interceptor makes.
///
/// It passes through the chain of its method like any other call, but not through the interceptor that makes it. The
/// subrequests of the interceptors on that chain pass through none of them. So no call can cause itself, and with n
/// interceptors that each make a subrequest, one call causes at most n² others.
public struct Subrequest: Sendable {
  /// The method.
  public var method: MethodName
  /// The server: `http[s]://host[:port][/prefix]`; nil is the server of the interceptor's call. Another one is always verified,
  /// and is given neither the client certificate nor the socket of the interceptor's call.
  public var target: String?
  /// Metadata to send.
  public var headers: Headers
  /// The message, serialized in the codec of the interceptor's call.
  public var message: [UInt8]
  /// How long it may take; nil for no limit of its own.
  public var timeout: Duration?
  /// The attributes of the interceptor's call, which the call has as a copy.
  package internal(set) var attributes = CallAttributes()
  /// Makes the call independent of the interceptor's call: it passes through no interceptor, and may run for so long after
  /// the end of the interceptor's call. nil cancels it then.
  public var lingering: Duration?

  /// Makes a call.
  public init(
    method: MethodName, target: String? = nil, headers: Headers = Headers(), message: [UInt8] = [],
    timeout: Duration? = .seconds(30)
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.message = message
    self.timeout = timeout
  }
}

/// The response to a `Subrequest`.
public struct SubrequestResponse: Sendable {
  /// Leading metadata.
  public var headers: Headers
  /// The message, serialized; nil if the call failed.
  public var message: [UInt8]?
  /// Status and trailers.
  public var end: ResponseEnd

  /// Makes a response.
  package init(headers: Headers = Headers(), message: [UInt8]? = nil, end: ResponseEnd) {
    self.headers = headers
    self.message = message
    self.end = end
  }
}

/// A call of any kind that an interceptor makes: a subrequest with a stream of messages. `[loop's thread]`
public protocol SubrequestStream: AnyObject {
  /// Sends a message, serialized in the codec of the interceptor's call.
  ///
  /// - Parameter message: The serialized message.
  func send(_ message: [UInt8])
  /// Ends the request: no more messages follow.
  func finishSending()
  /// Pauses or resumes the response. What was received is still delivered.
  ///
  /// - Parameter isWanted: Whether messages of the response are delivered.
  func wantResponse(_ isWanted: Bool)
  /// Ends the stream; its end arrives soon.
  ///
  /// - Parameter reason: The message of the error `canceled`.
  func cancel(_ reason: String)
}

/// What an interceptor receives of a `SubrequestStream`, on the loop's thread.
public enum SubrequestEvent: Sendable {
  /// The response starts.
  case start(ResponseStart)
  /// A message of the response, serialized.
  case message([UInt8])
  /// Whether more messages are to be sent now; those that are sent nevertheless wait in memory.
  case wanted(Bool)
  /// The end. Once, and last.
  case end(ResponseEnd)
}

/// A plain HTTP request that an interceptor makes, to a token server for example.
public struct HTTPFetch: Sendable {
  /// The method, such as `POST`.
  public var method: String
  /// The absolute URL.
  public var url: String
  /// Headers to send.
  public var headers: Headers
  /// The body to send.
  public var body: [UInt8]
  /// How long it may take.
  public var timeout: Duration
  /// The limit for the response's body, in bytes.
  public var maxBodyBytes: Int
  /// Whether it may be sent to another machine without TLS.
  public var allowsPlaintext = true
  /// A file with certificates of authorities (PEM) to verify the server with; nil for the client's.
  public var authoritiesFile: String?

  /// Makes a request.
  public init(
    method: String = "GET", url: String, headers: Headers = Headers(), body: [UInt8] = [],
    timeout: Duration = .seconds(30), maxBodyBytes: Int = 1 << 20
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.maxBodyBytes = maxBodyBytes
  }
}

/// The response to an `HTTPFetch`.
public struct HTTPFetchResponse: Sendable {
  /// The HTTP status.
  public var status: Int
  /// The headers received.
  public var headers: Headers
  /// The body received.
  public var body: [UInt8]

  /// Makes a response.
  package init(status: Int, headers: Headers = Headers(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Makes the requests of interceptors. It belongs to the loop's thread.
package protocol SubrequestTransport: AnyObject {
  /// Makes a call that does not pass through some registrations.
  ///
  /// - Parameters:
  ///   - call: What to call.
  ///   - facts: The interceptor's call.
  ///   - excluded: The registrations that it does not pass through.
  ///   - completion: Called once on the loop's thread, never from within this method.
  func call(
    _ call: Subrequest, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    completion: @escaping (SubrequestResponse) -> Void)
  /// Opens a call of any kind that does not pass through some registrations; the message of the subrequest is ignored.
  ///
  /// - Parameters:
  ///   - call: What to call.
  ///   - kind: Which sides are streams.
  ///   - facts: The interceptor's call.
  ///   - excluded: The registrations that it does not pass through.
  ///   - receive: Called on the loop's thread, never from within this method.
  /// - Returns: The stream; nil if there is no network.
  func open(
    _ call: Subrequest, _ kind: CallKind, for facts: CallFacts, excluding excluded: Set<RegistrationID>,
    receive: @escaping (SubrequestEvent) -> Void
  ) -> (any SubrequestStream)?
  /// Makes a plain HTTP request, with the proxy and the authorities of the call. A server other than the call's is
  /// always verified, and receives no client certificate.
  ///
  /// - Parameters:
  ///   - fetch: The request.
  ///   - completion: Called once on the loop's thread, never from within this method.
  func fetch(_ fetch: HTTPFetch, completion: @escaping (Result<HTTPFetchResponse, RPCError>) -> Void)
}
