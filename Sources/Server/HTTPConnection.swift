import RPCurlBase
import RPCurlProtocols

/// One connection of a client: bytes in, calls of handlers, bytes out. No I/O, and no clock.
class HTTPConnection {
  /// What a connection waits for: each has its own limit of time.
  enum Stage {
    /// The next request.
    case idle
    /// The rest of header fields.
    case header
    /// The rest of a body, of which HTTP/1.1 has one at a time.
    case body
    /// The end of requests.
    case exchange
  }

  /// What the application and the listener determine.
  struct Settings {
    var limits = ServerLimits()
    var scheme = "http"
    let makeHandler: MakeHandler
  }

  final let settings: Settings
  final var limits: ServerLimits { settings.limits }
  /// The number of requests that have begun.
  final var requestCount = 0
  /// Called when there may be more to send, or when reading continues: `fill` is due.
  final var onChange: () -> Void = {}
  /// The bytes to send. The shell that sends them removes them.
  final var output: [UInt8] = []

  init(_ settings: Settings) { self.settings = settings }

  /// Receives bytes of the client.
  func receive(_ bytes: RawSpan, at now: MonotonicClock.Instant) {}
  /// Processes what was postponed, and adds up to about `limit` bytes to `output`.
  func fill(upTo limit: Int, at now: MonotonicClock.Instant) {}
  /// Ends all requests: the connection is lost, or too slow.
  func cancel(_ reason: ResetReason) {}
  /// Accepts no new requests. Twice: also not those that are on their way.
  func shutDown() {}
  /// Checks whether the client is there, if the protocol can.
  func ping() {}

  /// Whether the connection can be closed when the output is sent.
  var isDone: Bool { false }
  /// Whether bytes of the client are wanted.
  var isReading: Bool { true }
  /// Whether more is to be sent when the client permits it.
  var hasUnsent: Bool { false }
  var stage: Stage { .idle }

  // MARK: For streams

  func changed(_ stream: ServerStream) {}
  func reset(_ stream: ServerStream, _ code: UInt32) {}
  func resumeReading(_ stream: ServerStream) {}
}

/// Why a request is not accepted, as the status of its response.
struct RequestViolation: Error, Equatable {
  let status: Int

  init(_ status: Int = 400) { self.status = status }
}

/// What the fields of both versions of HTTP must be.
enum FieldRules {
  /// Whether a byte may be in the value of a field.
  static func isValue(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }

  /// The fields of a response or its trailers that are sent, with their bytes. A control character in a value is sent as a
  /// space (RFC 9110, section 5.5).
  static func sent(_ headers: Headers, keepingLength: Bool = false) -> [(name: [UInt8], value: [UInt8])] {
    headers.fields.compactMap { field in
      guard HeaderSyntax.isName(field.name), !RequestHead.connectionFields.contains(field.name),
        keepingLength || field.name != "content-length"
      else { return nil }
      return (Array(field.name.utf8), field.value.utf8.map { isValue($0) ? $0 : 0x20 })
    }
  }
}
