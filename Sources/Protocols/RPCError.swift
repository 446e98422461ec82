import RPCurlBase

/// The failure of a call: a status other than `ok`, and its origin.
///
/// ```swift
/// do {
///   _ = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
/// } catch let error as RPCError where error == .unavailable {
///   print("try later: \(error)")
/// }
/// ```
///
/// An error is equal to a code if it has the code. Two errors are equal if all of their members are: also message, details, origin
/// and metadata.
public struct RPCError: Error, Sendable, Equatable {
  /// Where an error arose. The exit code and the error message depend on it.
  public enum Origin: Sendable, Equatable {
    /// The server sent this status.
    case server
    /// The server's response violates its protocol.
    case violation
    /// There is no connection, or it closed before the response was complete.
    case connection
    /// The proxy with this URL cannot be reached, or does not connect to the server.
    case proxy(String)
    /// The TLS handshake failed, or a certificate is not trusted.
    case tls
    /// The call cannot be made as requested: an invalid URL, or an option that this libcurl lacks.
    case request
    /// The interceptor with this name failed the call.
    case interceptor(String)
    /// The settings of the interceptor with this name do not fit the method.
    case configuration(String)
    /// This client ended the call: canceled, past its deadline, or over a limit.
    case client
  }

  /// The status code; never `ok`.
  public var code: StatusCode
  /// The message of the server, or of the part of rpcurl that failed.
  public var message: String
  /// Further messages of the status, in order.
  public var details: [StatusDetail]
  /// Where the error arose.
  public var origin: Origin
  /// The response of HTTP, if it was not one of the protocol.
  public var response: ForeignResponse? {
    get { responses.first }
    set { responses = newValue.map { [$0] } ?? [] }
  }
  /// At most one. An array is small where there is none, as in almost all errors.
  private var responses: [ForeignResponse] = []
  /// Why there is no usable connection, if this is the error and the cause is known.
  public var cause: ConnectionCause?
  /// The leading and the trailing metadata of the response, in the calls of Swift programs; the trailing metadata, in
  /// asynchronous interceptors; empty elsewhere, where the events of a call contain both.
  public var metadata = Headers()

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The status code.
  ///   - message: Why the call has failed.
  ///   - details: Further messages of the status, in order.
  ///   - origin: Where the error arose.
  public init(_ code: StatusCode, _ message: String, details: [StatusDetail] = [], origin: Origin) {
    self.code = code
    self.message = message
    self.details = details
    self.origin = origin
  }

  /// Whether an error has a code.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - code: The code.
  public static func == (error: RPCError, code: StatusCode) -> Bool { error.code == code }

  /// Whether an error has another code.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - code: The code.
  public static func != (error: RPCError, code: StatusCode) -> Bool { error.code != code }
}

extension RPCError: CustomStringConvertible {
  /// The name of the code and the message, in one line: `not_found: no item 9`. Control characters are escaped.
  public var description: String {
    message.isEmpty ? code.name : "\(code.name): \(TerminalText.escape(message))"
  }
}

/// One detail of a status: a message of any type (`google.protobuf.Any`), still serialized.
public struct StatusDetail: Sendable, Equatable {
  /// The full name of the message type, without the prefix `type.googleapis.com/`; empty for bytes of
  /// `grpc-status-details-bin` that are not a `google.rpc.Status`.
  public var typeName: String
  /// The serialized message, or other bytes.
  public var value: [UInt8]
  /// The JSON form that a Connect server may add for people; its content is not specified.
  public var debug: String?

  /// Makes a detail.
  public init(typeName: String, value: [UInt8], debug: String? = nil) {
    self.typeName = typeName
    self.value = value
    self.debug = debug
  }
}
