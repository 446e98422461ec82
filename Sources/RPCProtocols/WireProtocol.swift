import Protobuf

/// One call in one protocol: encodes the chain's requests as HTTP, and decodes HTTP responses for the chain.
///
/// It holds the state of one call and does no I/O. The sink may send while it receives: the two directions
/// share no mutable state.
package protocol WireProtocol: AnyObject {
  /// The HTTP request that starts the call.
  ///
  /// - Parameters:
  ///   - start: The start of the request.
  ///   - timeout: The time left until the call's deadline; `nil` without one.
  /// - Throws: ``RPCError`` if a header or the target is invalid.
  func makeRequest(_ start: RequestStart, timeout: Duration?) throws(RPCError) -> HTTPRequest

  /// Appends one message in its wire form to the request's body.
  func encode(_ message: [UInt8], into body: inout [UInt8]) throws(RPCError)

  /// Receives the status line and the header fields of the response.
  func receive(head: ResponseStart, _ sink: any ResponseSink)

  /// Receives a piece of the response's body, of any size.
  func receive(body: RawSpan, _ sink: any ResponseSink)

  /// Receives the HTTP trailers.
  func receive(trailers: Headers, _ sink: any ResponseSink)

  /// Whether the status is known, and only the end of the HTTP response is missing.
  var awaitsEnd: Bool { get }

  /// Receives the end of the HTTP response.
  func receiveEnd(_ sink: any ResponseSink)

  /// Receives a failure of the HTTP response. A status that is already known takes precedence.
  func receive(failure: RPCError, _ sink: any ResponseSink)
}

/// Receives the decoded response in order: a start, messages, one end. Nothing follows the end.
package protocol ResponseSink: AnyObject {
  /// Receives the start of the response.
  func receive(start: ResponseStart)
  /// Receives the size of a message, if the parameters request it. The message follows, perhaps later.
  func receive(size: MessageSize)
  /// Receives a message. The bytes are valid during this call only.
  func receive(message: RawSpan)
  /// Receives the end of the call.
  func receive(end: ResponseEnd)
}

extension ResponseSink {
  /// Default: ignores sizes.
  package func receive(size: MessageSize) {}
}

extension RawSpan {
  /// A copy of the bytes.
  @inlinable
  public func copyBytes() -> [UInt8] {
    withUnsafeBytes { Array($0) }
  }
}

/// The fixed parameters of a call.
package struct CallParameters: Sendable {
  /// Which directions are streams.
  package var kind: CallKind
  /// How messages are encoded.
  package var codec: CodecName
  /// The value of the `user-agent` header.
  package var userAgent: String
  /// The limit for one received message, in bytes.
  package var maxMessageBytes: Int
  /// How sent messages are compressed.
  package var compression: Compression?
  /// The accepted compressions of received messages, in order of preference.
  package var acceptedCompressions: [Compression] = []
  /// Whether a unary Connect call is made by GET, if the URL has room for its message.
  package var usesGET = false
  /// The longest URL of a call by GET, in bytes; a longer one makes the call use POST.
  package var maxURLBytes = 8192
  /// Whether the sink receives the size of each message.
  package var reportsSizes = false

  /// Makes parameters of a call without compression.
  package init(kind: CallKind, codec: CodecName, userAgent: String, maxMessageBytes: Int) {
    self.kind = kind
    self.codec = codec
    self.userAgent = userAgent
    self.maxMessageBytes = maxMessageBytes
  }
}

extension Headers {
  /// Merges the caller's fields with a protocol's defaults. The caller's take precedence.
  func merged(over defaults: [(String, String)]) -> Headers {
    var merged = Headers(defaults.filter { first($0.0) == nil })
    for field in fields { merged.add(field.name, field.value) }
    return merged
  }
}
