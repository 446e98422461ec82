/// What tells gRPC, gRPC-Web and streams in Connect apart. All else about them is in ``EnvelopeCall``.
///
/// Each implements it with the same order of members, so that they can be read side by side.
protocol EnvelopeProtocol {
  /// The `content-type` before `+proto` or `+json`.
  static var mediaType: String { get }
  /// The fields that every request has.
  static var fields: [(String, String)] { get }
  /// The names of the fields that tell how messages are compressed, and how they may be.
  static var encodingFields: (used: String, accepted: String) { get }
  /// Whether the end comes in HTTP's trailers.
  static var wantsTrailers: Bool { get }
  /// Whether HTTP/1.1 cannot carry it.
  static var requiresHTTP2: Bool { get }
  /// The flag of the envelope that ends the response, where one does.
  static var endFlag: UInt8? { get }
  /// What a response that ended without its end lacks.
  static var missingEnd: String { get }

  /// The field that tells how long the call may take.
  static func timeoutField(_ timeout: Duration) -> (String, String)

  /// The status in the header fields; `nil` if they have no status.
  static func end(head: ResponseStart) throws(RPCError) -> ResponseEnd?

  /// Throws if the status line and header fields are not those of a response with envelopes.
  static func check(head: ResponseStart, contentType: ContentType) throws(RPCError)

  /// The end that the last envelope tells.
  static func end(envelope: [UInt8]) throws(RPCError) -> ResponseEnd

  /// The end that HTTP's trailers tell; `nil` where they mean nothing.
  static func end(trailers: Headers) throws(RPCError) -> ResponseEnd?
}
