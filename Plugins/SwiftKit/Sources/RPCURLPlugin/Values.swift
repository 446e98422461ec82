import CRPCURLPlugin

/// One header or trailer.
public struct Field: Sendable, Equatable {
  /// Lower case.
  public var name: String
  /// Of names that end in `-bin` it is base64 text.
  public var value: String

  /// Makes a field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A status code with its message and details. The codes are gRPC's: 0 is ok, 1 canceled, … 16 unauthenticated.
public struct Status: Sendable, Equatable {
  /// One detail: a serialized message, with the full name of its type.
  public struct Detail: Sendable, Equatable {
    /// The full name of the type, without `type.googleapis.com/` before it.
    public var typeName: String
    /// The serialized message.
    public var value: [UInt8]

    /// Makes a detail.
    public init(typeName: String, value: [UInt8]) {
      self.typeName = typeName
      self.value = value
    }
  }

  /// The code: 0 is ok.
  public var code: Int
  /// What it says.
  public var message: String
  /// What says more.
  public var details: [Detail]

  /// Success.
  public static let ok = Status(0, "")

  /// Makes a status.
  public init(_ code: Int, _ message: String, details: [Detail] = []) {
    self.code = code
    self.message = message
    self.details = details
  }
}

/// A message that a plugin makes.
public enum NewMessage: Sendable {
  /// In the call's codec.
  case serialized([UInt8])
  /// ProtoJSON; needs a schema.
  case json(String)
}

/// An answer in place of a server's.
public struct Response: Sendable {
  /// Leading metadata.
  public var headers: [Field]
  /// The messages.
  public var messages: [NewMessage]
  /// How it ends.
  public var status: Status
  /// Trailing metadata.
  public var trailers: [Field]

  /// Makes an answer.
  public init(
    headers: [Field] = [], messages: [NewMessage] = [], status: Status = .ok, trailers: [Field] = []
  ) {
    self.headers = headers
    self.messages = messages
    self.status = status
    self.trailers = trailers
  }
}

/// What a call took. Durations are `nil` where there was none.
public struct Metrics: Sendable, Equatable {
  /// From the start of the call to its end.
  public var total: Duration
  /// Until the connection stood.
  public var connect: Duration?
  /// Until the TLS handshake was done.
  public var tls: Duration?
  /// Until the first byte of the response came.
  public var firstByte: Duration?
  /// Bytes of the request, envelopes included.
  public var sentBytes: Int
  /// Bytes of the response, envelopes included.
  public var receivedBytes: Int
  /// Messages sent.
  public var sentMessages: Int
  /// Messages received.
  public var receivedMessages: Int
  /// How often the call was tried.
  public var attempts: Int

  init(_ plain: rpcurl_metrics) {
    func duration(_ nanoseconds: Int64) -> Duration? { nanoseconds < 0 ? nil : .nanoseconds(nanoseconds) }
    total = duration(plain.total_ns) ?? .zero
    connect = duration(plain.connect_ns)
    tls = duration(plain.tls_ns)
    firstByte = duration(plain.first_byte_ns)
    sentBytes = Int(clamping: plain.sent_bytes)
    receivedBytes = Int(clamping: plain.received_bytes)
    sentMessages = Int(clamping: plain.sent_messages)
    receivedMessages = Int(clamping: plain.received_messages)
    attempts = Int(clamping: plain.attempts)
  }

  var plain: rpcurl_metrics {
    rpcurl_metrics(
      struct_size: MemoryLayout<rpcurl_metrics>.size, total_ns: total.nanoseconds,
      connect_ns: connect?.nanoseconds ?? -1, tls_ns: tls?.nanoseconds ?? -1,
      first_byte_ns: firstByte?.nanoseconds ?? -1, sent_bytes: UInt64(clamping: sentBytes),
      received_bytes: UInt64(clamping: receivedBytes), sent_messages: UInt64(clamping: sentMessages),
      received_messages: UInt64(clamping: receivedMessages), attempts: UInt64(clamping: attempts))
  }
}

/// How a call ended, as the caller saw it.
public struct Outcome: Sendable, Equatable {
  /// How it ends.
  public var status: Status
  /// What it took.
  public var metrics: Metrics
}

extension Duration {
  /// In whole nanoseconds, as far as they can be counted.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : whole + attoseconds / 1_000_000_000
  }
}
