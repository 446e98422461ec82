import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// A recorded call.
struct RecordedCall: Sendable {
  /// An event after the request's start, and its time since then.
  struct Event: Sendable {
    let place: DocumentPlace
    let time: Duration
    let event: CallEvent<RecordedMessage>
  }

  let place: DocumentPlace
  let method: MethodName
  var events: [Event] = []

  /// The request's messages.
  var sent: [RecordedMessage] {
    events.compactMap { if case .requestMessage(let message) = $0.event { message } else { nil } }
  }

  /// Whether the end was recorded.
  var isWhole: Bool { end != nil }

  /// Whether the server has ended the call.
  var hasResponse: Bool { end.map { !$0.isOfCaller } ?? false }

  private var end: ResponseEnd? {
    if case .responseEnd(let end)? = events.last?.event { end } else { nil }
  }
}

extension ResponseEnd {
  /// Whether the caller has canceled the call.
  var isOfCaller: Bool { error?.code == .canceled && error?.origin == .client }
}

/// A recorded message.
struct RecordedMessage: Sendable {
  enum Content: Sendable {
    /// In protobuf's binary format, with every codec of the call.
    case bytes([UInt8])
    /// From a line written by hand.
    case json(JSONValue)
  }

  let place: DocumentPlace
  let content: Content

  /// Decodes the message as a type of the call.
  func message(_ type: MessageType) throws(LanguageError) -> Message {
    switch content {
    case .bytes(let bytes):
      do throws(DecodeError) {
        return try Message(type, serialized: bytes)
      } catch {
        throw place.error("bytes: not a valid \(type.name): \(error)")
      }
    case .json(let json):
      do throws(MessageParseError) {
        return try Message(type, json: Array(json.text.utf8))
      } catch {
        throw place.error("message: \(error.withoutPlace)")
      }
    }
  }
}
