import RPCurlProtocols

/// A response that an interceptor gives in place of a server.
public struct LocalResponse: Sendable {
  /// The status of HTTP that the response starts with.
  package var httpStatus = 200
  /// Leading metadata.
  public var headers: Headers
  /// The messages, typed or serialized. The response of a unary call has one; without it and without an error the
  /// caller prints the empty message. With an error, a single response is dropped, as that of a server is.
  public var messages: [Payload]
  /// The error; nil is the status `ok`.
  public var error: RPCError?
  /// Trailing metadata.
  public var trailers: Headers

  /// Makes a response.
  public init(
    headers: Headers = Headers(), messages: [Payload] = [], error: RPCError? = nil,
    trailers: Headers = Headers()
  ) {
    self.headers = headers
    self.messages = messages
    self.error = error
    self.trailers = trailers
  }

  /// Makes the response of a call that an interceptor fails. The metadata of the error are trailers.
  init(failure error: RPCError, trailers: Headers = Headers()) {
    var error = error
    let metadata = error.metadata
    error.metadata = Headers()
    self.init(error: error, trailers: trailers.appending(metadata))
  }
}
