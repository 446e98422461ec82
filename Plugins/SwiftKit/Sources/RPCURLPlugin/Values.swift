import CRPCURLPlugin

extension Headers {
  /// A header or trailer.
  public struct Field: Sendable, Equatable {
    /// The name in lower case.
    public var name: String
    /// The value; base64 text for names that end in `-bin`.
    public var value: String

    /// Makes a field.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }
}

/// The status codes of gRPC.
public enum StatusCode: Int, Sendable, CaseIterable {
  case ok, canceled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists, permissionDenied
  case resourceExhausted, failedPrecondition, aborted, outOfRange, unimplemented, `internal`, unavailable
  case dataLoss, unauthenticated
}

/// A detail of a status: a serialized message, with the full name of its type.
public struct StatusDetail: Sendable, Equatable {
  /// The full name of the type, without the prefix `type.googleapis.com/`.
  public var typeName: String
  /// The serialized message.
  public var value: [UInt8]

  init(_ plain: rpcurl_detail) {
    self.init(typeName: String(plain.type_name), value: [UInt8](plain.value))
  }

  /// Makes a detail.
  public init(typeName: String, value: [UInt8]) {
    self.typeName = typeName
    self.value = value
  }
}

/// A status code with its message and details.
public struct Status: Sendable, Equatable {
  /// Where an error arose.
  public enum Origin: Sendable, Equatable {
    /// The status is ok, or made by a plugin.
    case none
    /// The server sent the status.
    case server
    /// The server's response violates its protocol.
    case violation
    /// There is no connection, or it closed before the response was complete.
    case connection
    /// The proxy with this URL.
    case proxy(String)
    /// The TLS handshake, or a certificate.
    case tls
    /// The call cannot be made as requested.
    case request
    /// The interceptor with this name failed the call.
    case interceptor(String)
    /// rpcurl ended the call: canceled, past its deadline, or over a limit.
    case client
    /// The settings of the interceptor with this name do not fit the method.
    case configuration(String)
    /// An origin that a later version added.
    case other

    init(_ plain: rpcurl_status) {
      self =
        switch Int32(bitPattern: plain.origin) {
        case RPCURL_ORIGIN_NONE: .none
        case RPCURL_ORIGIN_SERVER: .server
        case RPCURL_ORIGIN_VIOLATION: .violation
        case RPCURL_ORIGIN_CONNECTION: .connection
        case RPCURL_ORIGIN_PROXY: .proxy(String(plain.origin_name))
        case RPCURL_ORIGIN_TLS: .tls
        case RPCURL_ORIGIN_REQUEST: .request
        case RPCURL_ORIGIN_INTERCEPTOR: .interceptor(String(plain.origin_name))
        case RPCURL_ORIGIN_CLIENT: .client
        case RPCURL_ORIGIN_CONFIGURATION: .configuration(String(plain.origin_name))
        default: .other
        }
    }
  }

  /// The code.
  public var code: StatusCode
  /// The message.
  public var message: String
  /// The details.
  public var details: [StatusDetail]
  /// Where the error arose; set by the host.
  public private(set) var origin = Origin.none

  /// Success.
  public static let ok = Status(.ok, "")

  init(_ plain: rpcurl_status) {
    self.init(
      StatusCode(rawValue: Int(plain.code)) ?? .unknown, String(plain.message),
      details: elements(plain.details, plain.detail_count).map { StatusDetail($0) })
    origin = Origin(plain)
  }

  /// Makes a status.
  public init(_ code: StatusCode, _ message: String, details: [StatusDetail] = []) {
    self.code = code
    self.message = message
    self.details = details
  }
}

/// A message from a plugin.
public enum Payload: Sendable {
  /// A serialized message, in the call's codec.
  case bytes([UInt8])
  /// ProtoJSON; requires a schema.
  case json(String)
  /// Protobuf's binary form; requires a schema if the codec is `json`.
  case binary([UInt8])
  /// A message that the plugin has made with ``Call/makeMessage(_:)``.
  case message(OwnMessage)
}

/// A local response instead of a server's.
public struct LocalResponse: Sendable {
  /// Leading metadata.
  public var headers: [Headers.Field]
  /// The messages.
  public var messages: [Payload]
  /// The status.
  public var status: Status
  /// Trailing metadata.
  public var trailers: [Headers.Field]

  /// Makes a response.
  public init(
    headers: [Headers.Field] = [], messages: [Payload] = [], status: Status = .ok,
    trailers: [Headers.Field] = []
  ) {
    self.headers = headers
    self.messages = messages
    self.status = status
    self.trailers = trailers
  }
}

/// The metrics of a call. Durations are `nil` if not measured.
public struct CallMetrics: Sendable, Equatable {
  /// From the start of the call to its end.
  public var total: Duration
  /// Until the server's name was resolved.
  public var resolve: Duration?
  /// Until the connection was established.
  public var connect: Duration?
  /// Until the TLS handshake completed.
  public var tls: Duration?
  /// Until the first byte of the response was received.
  public var firstByte: Duration?
  /// Bytes of the request, envelopes included.
  public var sentBytes: Int
  /// Bytes of the response, envelopes included.
  public var receivedBytes: Int
  /// Messages sent.
  public var sentMessages: Int
  /// Messages received.
  public var receivedMessages: Int
  /// The number of attempts.
  public var attempts: Int
  /// Bytes of the messages sent, serialized and uncompressed.
  public var sentMessageBytes: Int
  /// Bytes of the messages received, serialized and uncompressed.
  public var receivedMessageBytes: Int

  init(_ plain: rpcurl_metrics) {
    func duration(_ nanoseconds: Int64) -> Duration? { nanoseconds < 0 ? nil : .nanoseconds(nanoseconds) }
    total = duration(plain.total_ns) ?? .zero
    resolve = duration(plain.resolve_ns)
    connect = duration(plain.connect_ns)
    tls = duration(plain.tls_ns)
    firstByte = duration(plain.first_byte_ns)
    sentBytes = Int(clamping: plain.sent_bytes)
    receivedBytes = Int(clamping: plain.received_bytes)
    sentMessages = Int(clamping: plain.sent_messages)
    receivedMessages = Int(clamping: plain.received_messages)
    attempts = Int(clamping: plain.attempts)
    sentMessageBytes = Int(clamping: plain.sent_message_bytes)
    receivedMessageBytes = Int(clamping: plain.received_message_bytes)
  }

  var plain: rpcurl_metrics {
    rpcurl_metrics(
      struct_size: MemoryLayout<rpcurl_metrics>.size, total_ns: total.nanoseconds,
      resolve_ns: resolve?.nanoseconds ?? -1,
      connect_ns: connect?.nanoseconds ?? -1, tls_ns: tls?.nanoseconds ?? -1,
      first_byte_ns: firstByte?.nanoseconds ?? -1, sent_bytes: UInt64(clamping: sentBytes),
      received_bytes: UInt64(clamping: receivedBytes), sent_messages: UInt64(clamping: sentMessages),
      received_messages: UInt64(clamping: receivedMessages), attempts: UInt64(clamping: attempts),
      sent_message_bytes: UInt64(clamping: sentMessageBytes),
      received_message_bytes: UInt64(clamping: receivedMessageBytes))
  }
}

/// The result of an attempt at a call.
public struct AttemptReport: Sendable, Equatable {
  /// The number of the attempt, from 1; of one within another, the numbers from the outer to the inner one.
  public var numbers: [Int]
  /// How it ended.
  public var status: Status
  /// How long the interceptor waited before the attempt; nil for the first.
  public var wait: Duration?
  /// The address and the port of the connection; empty if the attempt was not sent.
  public var peer: String

  init(_ plain: rpcurl_attempt) {
    numbers = UnsafeBufferPointer(start: plain.numbers, count: plain.number_count).map { Int($0) }
    status = plain.status.map { Status($0.pointee) } ?? .ok
    wait = plain.wait_ns < 0 ? nil : .nanoseconds(plain.wait_ns)
    peer = String(plain.peer)
  }
}

/// The outcome of a call for the caller.
public struct Outcome: Sendable, Equatable {
  /// The status with its details.
  public var status: Status
  /// The trailers.
  public var trailers: [Headers.Field]
  /// The metrics.
  public var metrics: CallMetrics
}

extension Duration {
  /// The duration in nanoseconds, clamped to the range of the type.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isBeyond) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return isTooLarge || isBeyond ? (seconds < 0 ? .min : .max) : sum
  }
}

extension StatusCode {
  /// RPCURL_STATUS_...
  var plain: Int32 { Int32(rawValue) }
}
