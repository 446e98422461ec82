import RPCurlProtobuf

/// The message of a method that returns one.
///
/// It is held until the status is known: the message of a failed call is not delivered.
struct SingleResponse {
  private var message: [UInt8]?

  /// Whether a message arrived.
  var hasMessage: Bool { message != nil }

  /// Keeps the message.
  ///
  /// - Throws: ``RPCError`` for a second message.
  mutating func keep(_ message: RawSpan) throws(RPCError) {
    guard self.message == nil else {
      throw .violation(.unimplemented, "the server sent more than one message to a method that returns one")
    }
    self.message = message.copyBytes()
  }

  /// The message of a successful response.
  ///
  /// - Throws: ``RPCError`` if there is none.
  func get() throws(RPCError) -> [UInt8] {
    guard let message else {
      throw .violation(.unimplemented, "the server sent no message, but the status ok")
    }
    return message
  }
}
