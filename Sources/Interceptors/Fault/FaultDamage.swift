/// Does to the messages of one direction what a plan has in store for them.
struct FaultDamage {
  /// What became of a message.
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

  /// Decides on the next message.
  mutating func next(_ bytes: [UInt8]) -> Outcome {
    // Always as many numbers, so that one message does not change what becomes of those behind it.
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
  /// A number from 0 up to, but not with, 100.
  mutating func percent() -> Double { fraction() * 100 }
}
