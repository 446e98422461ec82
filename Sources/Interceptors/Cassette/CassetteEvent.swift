import Protobuf
import RPCProtocols

/// The form of cassettes: one JSON object a line.
///
/// The first line is `{"cassette":"rpcurl","version":1}`. Each other line is an event of a call, in the order in which
/// things happened; calls that were under way at the same time are told apart by their numbers.
enum Cassette {
  static let version = 1
  static let firstLine = #"{"cassette":"rpcurl","version":1}"#
}

/// A call as a cassette has it.
struct RecordedCall: Sendable {
  /// What happened, and when, counted from the call's start.
  struct Event: Sendable {
    enum Kind: Sendable {
      case sent(RecordedMessage)
      case halfClose
      case headers(Headers)
      case received(RecordedMessage)
      case end(RPCError?, Headers)
    }

    let place: DocumentPlace
    let time: Duration
    let kind: Kind
  }

  let place: DocumentPlace
  let method: MethodName
  var events: [Event] = []

  /// The request's messages.
  var sent: [RecordedMessage] {
    events.compactMap { if case .sent(let message) = $0.kind { message } else { nil } }
  }

  /// Whether the end was recorded.
  var isWhole: Bool { events.contains { if case .end = $0.kind { true } else { false } } }
}

/// A message as a cassette has it.
struct RecordedMessage: Sendable {
  enum Content: Sendable {
    /// In protobuf's binary form, whatever the codec was.
    case bytes([UInt8])
    /// Of a line that was written by hand.
    case json(JSONValue)
  }

  let place: DocumentPlace
  let content: Content

  /// The message, of a type of the call.
  func message(_ type: MessageType) throws(DocumentError) -> Message {
    switch content {
    case .bytes(let bytes):
      do throws(DecodeError) {
        return try Message(type, serialized: bytes)
      } catch {
        throw place.error("bytes: not a \(type.name): \(error)")
      }
    case .json(let json):
      do throws(JSONError) {
        return try Message(type, json: Array(json.text.utf8))
      } catch {
        throw place.error("message: \(error.withoutPlace)")
      }
    }
  }
}
