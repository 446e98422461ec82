import Protobuf

/// One call in one protocol: turns what the chain sends into HTTP, and HTTP into what the chain receives.
///
/// It holds the state of one call and does no I/O. Whoever receives may send from within: the two directions
/// share no state that changes.
public protocol WireProtocol: AnyObject {
  /// The HTTP request that starts the call; `timeout` is what is left until its deadline.
  func makeRequest(_ start: RequestStart, timeout: Duration?) throws(RPCError) -> HTTPRequest

  /// Appends one message in its wire form to the request's body.
  func encode(_ message: [UInt8], into body: inout [UInt8]) throws(RPCError)

  /// Takes the status line and the header fields of the response.
  func receive(head: ResponseStart, _ sink: any ResponseSink)

  /// Takes a piece of the response's body, of any size.
  func receive(body: RawSpan, _ sink: any ResponseSink)

  /// Takes the HTTP trailers.
  func receive(trailers: Headers, _ sink: any ResponseSink)

  /// Whether the status is known, and only HTTP's end of the response is missing.
  var awaitsEnd: Bool { get }

  /// Takes note that the response is complete as far as HTTP is concerned.
  func receiveEnd(_ sink: any ResponseSink)

  /// Takes note that the response cannot become complete. A status that is known holds.
  func receive(failure: RPCError, _ sink: any ResponseSink)
}

/// Receives what a response means, in order: a start, messages, one end. Nothing follows the end.
public protocol ResponseSink: AnyObject {
  /// The response has begun.
  func receive(start: ResponseStart)
  /// A message came, of which the size is told if the parameters ask for it. The message itself follows, perhaps later.
  func receive(size: MessageSize)
  /// A message came. The bytes are valid during this call only.
  func receive(message: RawSpan)
  /// The call has ended.
  func receive(end: ResponseEnd)
}

extension ResponseSink {
  /// Most do not care.
  public func receive(size: MessageSize) {}
}

extension RawSpan {
  /// The bytes, copied.
  @inlinable
  public func copyBytes() -> [UInt8] {
    withUnsafeBytes { Array($0) }
  }
}

/// What a call's protocol must know from its start.
public struct CallParameters: Sendable {
  /// Which sides are streams.
  public var kind: CallKind
  /// How messages are encoded.
  public var codec: CodecName
  /// The value of the `user-agent` header.
  public var userAgent: String
  /// The limit for one received message, in bytes.
  public var maxMessageBytes: Int
  /// How sent messages are compressed.
  public var compression: Compression?
  /// How received messages may be compressed, the most wanted first.
  public var acceptedCompressions: [Compression] = []
  /// Whether a unary Connect call is made by GET, if the URL has room for its message.
  public var usesGET = false
  /// The longest URL of a call by GET, in bytes; a message that needs a longer one is sent by POST.
  public var maxURLBytes = 8192
  /// Whether the size of each received message is told.
  public var tellsSizes = false

  /// Makes parameters of a call without compression.
  public init(kind: CallKind, codec: CodecName, userAgent: String, maxMessageBytes: Int) {
    self.kind = kind
    self.codec = codec
    self.userAgent = userAgent
    self.maxMessageBytes = maxMessageBytes
  }
}

extension Headers {
  /// A protocol's own fields, followed by the caller's. A field that the caller gives replaces the protocol's.
  func merged(over defaults: [(String, String)]) -> Headers {
    var merged = Headers(defaults.filter { first($0.0) == nil })
    for field in fields { merged.add(field.name, field.value) }
    return merged
  }
}
