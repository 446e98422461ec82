import RPCurlBase
import RPCurlChain
import RPCurlEngine
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// A value of a call that a break point may hold.
struct HeldValue {
  enum Content {
    /// The start of a stream of requests.
    case start
    /// A message; nil if the schema does not have its type.
    case message(Message?)
    case end(ResponseEnd)
  }

  /// The number of the call.
  let call: Int
  let method: MethodName
  let side: BreakPoint.Side
  var content: Content
  /// The metadata of the request, or that with which the response began.
  var headers = Headers()
  /// The type of responses; nil if the schema does not have it.
  var responseType: MessageType?
  /// Whether the client has received the only message of the response.
  var hasResponse = false
  /// The time since the start of the call.
  var latency = Duration.zero
  var sizeBytes = 0
  /// The text from an editor that is not a message.
  var draft: String?

  /// The message.
  ///
  /// - Throws: `Failure` if there is none.
  func message() throws(Failure) -> Message {
    switch content {
    case .message(let message?): return message
    case .message(nil):
      throw Failure(
        .schema, name, "the schema does not have the method", hint: "continue, or fail CODE MESSAGE")
    case .start:
      throw Failure(
        .usage, name, "the stream has no message yet", hint: "continue; its first message is held next")
    case .end:
      throw Failure(
        .usage, name, "the call has ended without a message", hint: "respond JSON, or fail CODE MESSAGE")
    }
  }

  /// The call in errors.
  var name: String { "call \(call)" }
}

/// How the screen shows values: credentials are masked unless `--show-secrets` is given.
struct ShownValues {
  let encoding: JSONEncodingOptions
  /// Which fields are secret by their names; nil to show all.
  let secretNames: SecretNames?
  let redaction: Redaction

  /// What is held, on one line.
  func line(_ value: HeldValue) -> String {
    let content =
      switch value.content {
      case .start: "start of the request"
      case .message(let message?):
        "\(value.side.rawValue) \(text(message).text(message.serialized(), isWhole: false))"
      case .message(nil): "\(value.side.rawValue) of \(value.sizeBytes) bytes"
      case .end(let end): "end of the response: \(Self.text(end))"
      }
    return TerminalText.escape("\(value.call) \(value.method) held: \(redaction.text(content))")
  }

  /// What is held, with its metadata, on several lines.
  func lines(_ value: HeldValue) -> [String] {
    let headers = value.headers.fields.map { "\($0.name): \(redaction.value($0.value, of: $0.name))" }
    let content: [String] =
      switch value.content {
      case .start: []
      case .message(let message?):
        text(message).indented(message).split(separator: "\n", omittingEmptySubsequences: false).map {
          redaction.text(String($0))
        }
      case .message(nil): ["\(value.sizeBytes) bytes, of a type that the schema does not have"]
      case .end(let end):
        [redaction.text(Self.text(end))]
          + end.trailers.fields.map { "\($0.name): \(redaction.value($0.value, of: $0.name))" }
      }
    let part = if case .end = value.content { "end of the response" } else { value.side.rawValue }
    return (["\(value.call) \(value.method), \(part):"] + headers + content).map(TerminalText.escape)
  }

  private func text(_ message: Message) -> SentMessage {
    SentMessage(type: message.type, codec: .proto, encoding: encoding, secretNames: secretNames)
  }

  /// An end as text: `not_found: no item`.
  static func text(_ end: ResponseEnd) -> String {
    let message = end.error?.message ?? ""
    return message.isEmpty ? end.code.name : "\(end.code.name): \(message)"
  }
}
