import RPCurlProtobuf
import RPCurlProtocols

/// A value on its way through the chain: an event of the call.
typealias Item = CallEvent<MessageValue>

extension Item {
  /// The item of an event.
  init(_ event: CallEvent<Payload>) {
    switch event {
    case .requestStart(let start): self = .requestStart(start)
    case .requestMessage(let message): self = .requestMessage(MessageValue(message))
    case .requestEnd: self = .requestEnd
    case .responseStart(let start): self = .responseStart(start)
    case .responseMessage(let message): self = .responseMessage(MessageValue(message))
    case .responseEnd(let end): self = .responseEnd(end)
    case .metrics(let metrics): self = .metrics(metrics)
    }
  }

  /// Makes the item of a message.
  package static func message(_ message: MessageValue, isRequest: Bool) -> Self {
    isRequest ? .requestMessage(message) : .responseMessage(message)
  }

  /// The message; nil for other items. Written for this type of message: generic code of another module costs an
  /// interceptor that changes messages a tenth more instructions.
  package var message: MessageValue? {
    switch self {
    case .requestMessage(let message), .responseMessage(let message): message
    case .requestStart, .requestEnd, .responseStart, .responseEnd, .metrics: nil
    }
  }

  /// Replaces the message of an item that has one.
  mutating func replaceMessage(by new: MessageValue) {
    if case .requestMessage = self { self = .requestMessage(new) } else { self = .responseMessage(new) }
  }

  /// What the item counts against the window, in bytes: the message's size and an overhead.
  var sizeBytes: Int { Item.overheadBytes + (message?.sizeBytes ?? 0) }

  /// Whether it is the first of its direction.
  var isStart: Bool {
    switch self {
    case .requestStart, .responseStart: true
    case .requestMessage, .requestEnd, .responseMessage, .responseEnd, .metrics: false
    }
  }

  /// Whether it is the last of its direction.
  var isEnd: Bool {
    switch self {
    case .requestEnd, .responseEnd, .metrics: true
    case .requestStart, .requestMessage, .responseStart, .responseMessage: false
    }
  }

  private static var overheadBytes: Int { 64 }
}
