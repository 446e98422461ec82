import Protobuf
import RPCProtocols

/// A value on its way through the chain.
///
/// Only messages are frequent, so only they are stored inline; the others are boxed to keep an item small.
enum Item: Sendable {
  indirect case requestStart(RequestStart)
  case requestEnd
  indirect case responseStart(ResponseStart)
  indirect case responseEnd(ResponseEnd)
  case message(MessageForms)
  indirect case metrics(CallMetrics)

  /// What the item counts against the window, in bytes: the message's size and an overhead.
  var sizeBytes: Int {
    guard case .message(let forms) = self else { return Item.overheadBytes }
    return Item.overheadBytes + forms.sizeBytes
  }

  /// Whether it is the last of its direction.
  var isEnd: Bool {
    switch self {
    case .requestEnd, .responseEnd, .metrics: true
    case .requestStart, .responseStart, .message: false
    }
  }

  private static let overheadBytes = 64
}
