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

  /// Whether nothing follows it in its direction.
  var isEnd: Bool {
    switch self {
    case .requestEnd, .responseEnd, .metrics: true
    case .requestStart, .responseStart, .message: false
    }
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
  /// The value goes on as it came.
  case asItIs
  case drop
  indirect case fail(RPCError)
  indirect case respond(LocalResponse)
  /// Try the call again, with these headers changed in the request.
  indirect case retry(after: Duration, headers: Headers)
  /// The token was let go unused.
  case abandoned
  /// The call is to end because of it; that is noted already.
  case ended
}

/// Which value a token is for.
struct Ticket: @unchecked Sendable {  // other threads read the epoch of the station only
  /// The station that delivered it. The chain keeps it for as long as it lives itself.
  let station: Unmanaged<Station>
  /// The value's place among all that came to the station.
  let sequence: Int
  /// The station's epoch when it did. Voiding tokens starts a new one.
  let epoch: UInt32
  let stage: Stage

  init(_ station: Station, _ stage: Stage, sequence: Int, epoch: UInt32) {
    self.station = .passUnretained(station)
    self.sequence = sequence
    self.epoch = epoch
    self.stage = stage
  }

  /// The ticket of a token that is only shown: void from the start.
  static func shown(_ station: Station, _ stage: Stage) -> Ticket {
    Ticket(station, stage, sequence: -1, epoch: .max)
  }

  /// Whether both are for the same value.
  static func == (one: Ticket, other: Ticket) -> Bool {
    one.sequence == other.sequence && one.epoch == other.epoch
      && one.station.toOpaque() == other.station.toOpaque()
  }

  /// Whether the value is not the chain's any more.
  var isVoid: Bool { station._withUnsafeGuaranteedRef { $0.epoch.load(ordering: .relaxed) } != epoch }
}
