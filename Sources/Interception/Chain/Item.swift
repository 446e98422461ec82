import Protobuf
import RPCProtocols

/// A value on its way through the chain.
///
/// Only messages are many, so only they are kept in line; the rest is boxed to keep an item small.
enum Item: Sendable {
  indirect case requestStart(RequestStart)
  case requestEnd
  indirect case responseStart(ResponseStart)
  indirect case responseEnd(ResponseEnd)
  case message(Carried)
  indirect case metrics(CallMetrics)

  /// What the item counts against the window: its bytes, and something for the rest.
  var sizeBytes: Int {
    guard case .message(let carried) = self else { return Item.overheadBytes }
    return Item.overheadBytes + carried.sizeBytes
  }

  private static let overheadBytes = 64
}

/// A message in the forms in which somebody has built it. When both are there, they are the same message.
struct Carried: Sendable {
  var typed: Message?
  var bytes: [UInt8]?
  /// The size of the serialized form, or of what the caller made the message of; 0 when unknown.
  var sizeBytes: Int

  init(typed: Message, sizeBytes: Int = 0) {
    self.typed = typed
    self.sizeBytes = sizeBytes
  }

  init(bytes: [UInt8]) {
    self.bytes = bytes
    self.sizeBytes = bytes.count
  }

  init(_ payload: Payload, sizeBytes: Int = 0) {
    switch payload {
    case .typed(let message): self.init(typed: message, sizeBytes: sizeBytes)
    case .bytes(let bytes): self.init(bytes: bytes)
    }
  }

  /// This message after an interceptor had it: unchanged, it keeps its other form.
  func replaced(by new: Carried) -> Carried {
    guard let typed, let changed = new.typed else { return new }
    if changed.isIdentical(to: typed) { return self }
    return Carried(typed: changed, sizeBytes: sizeBytes)
  }
}

/// What an interceptor said about one value.
enum Verdict: Sendable {
  case proceed(Item)
  case drop
  indirect case fail(RPCError)
  indirect case respond(LocalResponse)
  /// The token was let go unused.
  case abandoned
  /// The call is to end because of it; that is noted already.
  case ended
}

/// Which value a token is for.
struct Ticket: Sendable, Equatable {
  /// The station that delivered it, counted over the whole chain.
  let station: Int
  /// The station's epoch when it did. Voiding tokens starts a new one.
  let epoch: UInt32
  let stage: Stage
  /// The value's place among all that came to the station.
  let sequence: Int

  /// The epoch of tokens that are only shown: void from the start.
  static let never = UInt32.max
}
