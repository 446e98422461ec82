import RPCurlBase
import RPCurlChain
import RPCurlProtobuf

/// Damages the messages of one direction according to a plan.
struct FaultDamage {
  /// The result for one message.
  enum Outcome: Equatable {
    case untouched
    case dropped
    case truncated([UInt8])
    case corrupted([UInt8])
  }

  private let plan: FaultPlan.Damage
  private var random: SeededGenerator

  init(_ plan: FaultPlan.Damage, _ random: SeededGenerator) {
    self.plan = plan
    self.random = random
  }

  /// Whether the decision depends on the bytes of a message.
  var needsBytes: Bool { plan.changesBytes }

  /// Decides on the next message.
  ///
  /// - Parameter bytes: The message; empty if it is not needed.
  mutating func next(_ bytes: [UInt8]) -> Outcome {
    // Always draws the same count of numbers, so that one message's result does not affect later ones.
    let dropping = random.percent()
    let truncating = random.percent()
    let corrupting = random.percent()
    let place = random.fraction()
    let change = random.fraction()
    if dropping < plan.drop { return .dropped }
    guard !bytes.isEmpty else { return .untouched }
    let index = Int(place * Double(bytes.count))
    if truncating < plan.truncate { return .truncated(Array(bytes[..<index])) }
    guard corrupting < plan.corrupt else { return .untouched }
    var bytes = bytes
    bytes[index] ^= UInt8(1 + Int(change * 255))
    return .corrupted(bytes)
  }
}

extension SeededGenerator {
  /// A random number from 0 up to, but not including, 100.
  mutating func percent() -> Double { fraction() * 100 }
}
