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

  /// Takes the bytes that an interceptor let go on.
  mutating func replace(bytes new: [UInt8]) {
    bytes = new
    sizeBytes = new.count
    typed = nil
  }

  /// Takes the message that an interceptor let go on. Unchanged, it keeps its bytes.
  mutating func replace(typed new: Message) {
    if let typed, new.isIdentical(to: typed) { return }
    typed = new
    bytes = nil
  }

  /// This message after an interceptor had it.
  func replaced(by new: Carried) -> Carried {
    var carried = self
    if let typed = new.typed {
      carried.replace(typed: typed)
    } else if let bytes = new.bytes {
      carried.replace(bytes: bytes)
    }
    return carried
  }
}

/// What an interceptor said about one value.
enum Verdict: Sendable {
  case proceed(Item)
  /// The value goes on as it came.
  case asItIs
  case drop
  /// The value is taken out by somebody who sees to it that another takes its place, where one must.
  case taken
  indirect case fail(RPCError)
  indirect case respond(LocalResponse)
  /// Try the call again, with these headers changed in the request.
  indirect case retry(after: Duration, headers: Headers)
  /// The token was let go unused.
  case abandoned
  /// The call is to end because of it; that is noted already.
  case ended

  /// Whether the call, or the attempt, is to end because of it.
  var isEnding: Bool {
    switch self {
    case .fail, .respond, .retry, .abandoned, .ended: true
    case .proceed, .asItIs, .drop, .taken: false
    }
  }
}

/// Which value a token is for.
struct Ticket: @unchecked Sendable {  // other threads read the epoch of the node only
  /// The node that delivered it. The chain keeps it for as long as it lives itself.
  let node: Unmanaged<PipelineNode>
  /// The value's number, which no other value of the call has.
  let sequence: Int
  /// The node's epoch when it did. Voiding tokens starts a new one.
  let epoch: UInt32
  let stage: Stage

  init(_ node: PipelineNode, _ stage: Stage, sequence: Int) {
    self.init(node, stage, sequence: sequence, epoch: node.epoch.load(ordering: .relaxed))
  }

  private init(_ node: PipelineNode, _ stage: Stage, sequence: Int, epoch: UInt32) {
    self.node = .passUnretained(node)
    self.sequence = sequence
    self.epoch = epoch
    self.stage = stage
  }

  /// The ticket of a token that is only shown: void from the start.
  static func shown(_ node: PipelineNode, _ stage: Stage) -> Ticket {
    Ticket(node, stage, sequence: -1, epoch: .max)
  }

  /// Whether the value is not the chain's any more.
  var isVoid: Bool { node._withUnsafeGuaranteedRef { $0.epoch.load(ordering: .relaxed) } != epoch }
}
