/// The differences between gRPC, gRPC-Web and streams in Connect. ``EnvelopeCall`` holds what they share.
///
/// All implementations declare the members in this order, so that they can be compared line by line.
protocol EnvelopeProtocol {
  /// The `content-type` before `+proto` or `+json`.
  static var mediaType: String { get }
  /// What it means without them.
  static var bareMediaType: ContentType.Bare { get }
  /// The `content-type` before `+proto` or `+json` of a body in base64; nil if the protocol has none.
  static var textMediaType: String? { get }
  /// The fields that every request has.
  static var fields: [(String, String)] { get }
  /// The fields that name the compression of the request, and the compressions accepted for the response.
  static var encodingFields: (used: String, accepted: String) { get }
  /// Whether the end of the call is in the HTTP trailers.
  static var wantsTrailers: Bool { get }
  /// Whether it requires HTTP/2 or newer.
  static var requiresHTTP2: Bool { get }
  /// Whether values of header fields contain only printable ASCII.
  static var requiresASCII: Bool { get }
  /// The flag of the envelope that ends the response; `nil` if the protocol has none.
  static var endFlag: UInt8? { get }
  /// The part that a response without an end lacks, for error messages.
  static var missingEnd: String { get }

  /// The field with the call's timeout.
  static func timeoutField(_ timeout: Duration) -> (String, String)

  /// The end of the call, if the header fields hold a status; otherwise `nil`.
  static func end(head: ResponseStart) throws(RPCError) -> ResponseEnd?

  /// Checks that the status line and header fields are those of a response with envelopes.
  static func check(head: ResponseStart, contentType: ContentType) throws(RPCError)

  /// Decodes the end of the call from the last envelope.
  ///
  /// - Parameter head: The end of the call in the headers, if they have a status.
  static func end(envelope: [UInt8], after head: ResponseEnd?) throws(RPCError) -> ResponseEnd

  /// The end of the call in the HTTP trailers; `nil` if the protocol does not use them.
  static func end(trailers: Headers) throws(RPCError) -> ResponseEnd?

  /// Encodes the end of a call at a server.
  static func encode(_ end: ResponseEnd) -> EncodedEnd
}

/// The end of a response with envelopes.
enum EncodedEnd {
  /// HTTP trailers.
  case trailers(Headers)
  /// The content of the last envelope.
  case envelope([UInt8])
}
