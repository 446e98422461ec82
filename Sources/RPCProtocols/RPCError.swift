/// How a call failed: a status other than `ok`, and where it arose.
public struct RPCError: Error, Sendable, Equatable {
  /// Who said so. The exit code and the words of the report depend on it.
  public enum Origin: Sendable, Equatable {
    /// The server sent this status.
    case server
    /// The server's answer breaks its protocol.
    case violation
    /// No connection, or one that ended before the answer was complete.
    case connection
    /// The proxy with this URL cannot be reached, or does not connect to the server.
    case proxy(String)
    /// The TLS handshake failed, or a certificate is not trusted.
    case tls
    /// The call cannot be made as it was asked for: its URL, or an option that this libcurl does not have.
    case request
    /// An interceptor of this name failed the call.
    case interceptor(String)
    /// This client ended the call: canceled, past its deadline, or over a limit.
    case client
  }

  /// The status code; never `ok`.
  public var code: StatusCode
  /// What the server, or the part of rpcurl that failed, has to say.
  public var message: String
  /// Further messages of the status, in order.
  public var details: [StatusDetail]
  /// Who said so.
  public var origin: Origin

  /// Makes an error.
  public init(_ code: StatusCode, _ message: String, details: [StatusDetail] = [], origin: Origin) {
    self.code = code
    self.message = message
    self.details = details
    self.origin = origin
  }
}

/// One detail of a status: a message of any type (`google.protobuf.Any`), still serialized.
public struct StatusDetail: Sendable, Equatable {
  /// The full name of the message type, without the `type.googleapis.com/` before it.
  public var typeName: String
  /// The serialized message.
  public var value: [UInt8]
  /// The JSON form that a Connect server may add for people to read; not to be relied on.
  public var debug: String?

  /// Makes a detail.
  public init(typeName: String, value: [UInt8], debug: String? = nil) {
    self.typeName = typeName
    self.value = value
    self.debug = debug
  }
}
