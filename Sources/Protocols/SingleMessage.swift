import RPCurlProtobuf

/// The message of a method that returns one, or of a request with one.
///
/// It is held until the end is known: the message of a failed call is not delivered.
struct SingleMessage {
  private var message: [UInt8]?

  private let peer: Peer

  /// Makes a place for the message that this side sends.
  init(from peer: Peer = .server) { self.peer = peer }

  /// Whether a message arrived.
  var hasMessage: Bool { message != nil }

  /// Keeps the message.
  ///
  /// - Throws: ``RPCError`` for a second message.
  mutating func keep(_ message: RawSpan) throws(RPCError) {
    guard self.message == nil else {
      let kind = peer == .server ? "returns" : "expects"
      throw .violation(
        .unimplemented, "the \(peer.rawValue) sent more than one message to a method that \(kind) one")
    }
    self.message = message.copyBytes()
  }

  /// The message of a successful response, or of a complete request.
  ///
  /// - Throws: ``RPCError`` if there is none.
  func get() throws(RPCError) -> [UInt8] {
    guard let message else {
      throw .violation(
        .unimplemented,
        peer == .server
          ? "the server sent no message, but the status ok"
          : "the client sent no message to a method that expects one")
    }
    return message
  }
}
