import RPCurlProtobuf

/// One call in one protocol: encodes the chain's requests as HTTP, and decodes HTTP responses for the chain.
///
/// It holds the state of one call and does no I/O. The receiver may send while it receives: the two directions
/// share no mutable state.
///
/// The start and the messages of the response go to a receiver. The end is returned instead, once: its owner releases
/// the transfer before others learn of the end. Nothing follows it.
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

  /// Receives the status line and the header fields of the response; returns the end of the call if they contain it.
  func receive(head: ResponseStart, _ receiver: any ResponseReceiver) -> ResponseEnd?

  /// Receives the next part of a piece of the response's body; returns the end of the call if it contains it.
  ///
  /// A part is one message, or several that are not compressed. So the caller can check the time between messages that
  /// are small in the piece, but large when decompressed.
  ///
  /// - Parameters:
  ///   - body: The piece, of any size.
  ///   - offset: Where the part starts, in bytes; moved to its end.
  ///   - receiver: Receives the messages.
  func receive(body: RawSpan, from offset: inout Int, _ receiver: any ResponseReceiver) -> ResponseEnd?

  /// Receives HTTP trailers; returns the end of the call if they are complete and contain it.
  ///
  /// - Parameter areComplete: Whether these are all of them. Otherwise, the end of the response follows the last of them.
  func receive(trailers: Headers, areComplete: Bool, _ receiver: any ResponseReceiver) -> ResponseEnd?

  /// What is awaited before the end of a call whose status is known; nil if it is not known, or the call has ended.
  var awaited: AwaitedEnd? { get }

  /// Receives the end of the HTTP response, or its failure; returns the end of the call. A status that is already
  /// known takes precedence over a failure, except `ok` in the headers.
  func receiveEnd(failure: RPCError?, _ receiver: any ResponseReceiver) -> ResponseEnd?

  /// Whether a message of the response has arrived, also one that is invalid, or is not delivered because the call fails:
  /// the server has run the method.
  var hasMessage: Bool { get }
  /// The number of messages given to the receiver.
  var receivedMessages: Int { get }
  /// The size of these messages, uncompressed, in bytes.
  var receivedMessageBytes: Int { get }

  /// Called with the size of each message that arrives. The message follows, perhaps later.
  var onMessageSize: ((MessageSize) -> Void)? { get set }
}

/// What may follow a known status.
package enum AwaitedEnd {
  /// Only the end of the HTTP response.
  case end
  /// Other trailers.
  case trailers
  /// The text of a response that is not one of the protocol.
  case text
  /// After the status `ok` in the headers: messages, and another status that replaces it.
  case messages
}

extension RawSpan {
  /// A copy of the bytes.
  @inlinable
  public func copyBytes() -> [UInt8] {
    withUnsafeBytes { Array($0) }
  }
}

/// How a call is written to the wire and read from it.
package struct CallParameters: Sendable {
  /// Which directions are streams.
  package var kind: CallKind
  /// How messages are encoded.
  package var codec: CodecName
  /// The value of the `user-agent` header.
  package var userAgent: String
  /// The limit for one received message after decompression, in bytes.
  package var maxMessageBytes: Int
  /// The compression of sent messages; nil sends them uncompressed.
  package var compression: Compression?
  /// The accepted compressions of received messages, in order of preference; nil accepts all that this machine can
  /// decompress.
  package var acceptedCompressions: [Compression]?
  /// Whether the request's body is in base64, which only gRPC-Web has.
  package var sendsText = false
  /// Whether a unary call over Connect is made by GET, if the method is marked `NO_SIDE_EFFECTS` and the URL has room for its
  /// message.
  package var usesGET = false
  /// The longest URL of a call by GET, in bytes; a longer one makes the call use POST.
  package var maxURLBytes = 8192

  /// Makes parameters of a call without compression.
  package init(
    kind: CallKind = .unary, codec: CodecName = .proto, userAgent: String, maxMessageBytes: Int = 64 << 20
  ) {
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
