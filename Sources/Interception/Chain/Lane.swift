/// The values that wait at one node, in the order in which they came: those held by its interceptor, and
/// those behind them.
struct Lane {
  enum State {
    /// The interceptor has the token; this is the value as it was delivered.
    case held(Stage, Item)
    /// The interceptor takes one value at a time, and has not been given this one.
    case queued(Item)
    case ready(Item)
    /// The value goes on, and was given to the interceptor at a later stage as well.
    case given(Item)
    case dropped
    /// The value's token is to end the call.
    case ending

    /// Whether the value is the last of its direction.
    var isEnd: Bool {
      switch self {
      case .held(_, let item), .queued(let item), .ready(let item), .given(let item): item.isEnd
      case .dropped, .ending: false
      }
    }
  }

  private struct Slot {
    var state: State
    /// The value's number, higher than that of the slot before.
    let sequence: Int
    var sizeBytes: Int
    /// What the interceptor sends on before this value.
    var fronts: [Item] = []
    /// How many of these have gone already.
    var goneFronts = 0
    /// Whether the interceptor made the value.
    var isOwn = false
    /// Whether the call was to end before it was said what becomes of the value.
    var isLate = false
  }

  /// What goes on from the head of a lane.
  enum Departure {
    /// A value; its slot is gone.
    case item(Item, sizeBytes: Int, isGiven: Bool)
    /// Nothing: the value was taken out, and its slot is gone.
    case nothing(sizeBytes: Int)
    /// What was put in front of the value at the head, which stays.
    case front(Item)
    /// The value at the head is to be delivered now; its slot stays.
    case delivery(Item)
  }

  private var slots: [Slot] = []
  private var head = 0
  /// The place of the first value that `nextToGive` looks at.
  private var nextGiven = 0

  var count: Int { slots.count - head }
  var isEmpty: Bool { slots.count == head }

  mutating func append(
    _ state: State, sequence: Int, sizeBytes: Int, fronts: [Item] = [], isOwn: Bool = false,
    isLate: Bool = false
  ) {
    slots.append(
      Slot(
        state: state, sequence: sequence, sizeBytes: sizeBytes, fronts: fronts, isOwn: isOwn, isLate: isLate))
  }

  /// What the interceptor has said is to go on before it ends the call: what it made, and what it released
  /// before the first value that it still holds. In order.
  ///
  /// - Parameters:
  ///   - last: The number of the value whose token ends the call, if that value is in this lane.
  ///   - isWhole: Whether all that came before has gone on; `false` afterwards where this lane has a gap.
  func released(before last: Int?, isWhole: inout Bool) -> [Item] {
    var released: [Item] = []
    for slot in slots[head...] {
      released += slot.fronts
      if slot.sequence == last || slot.isLate { isWhole = false }
      switch slot.state {
      case .ready(let item), .given(let item):
        if slot.isOwn || isWhole { released.append(item) }
      case .held, .queued, .ending: isWhole = false
      case .dropped: break
      }
    }
    return released
  }

  /// The value with this number, if it is still held.
  func held(_ sequence: Int) -> Item? {
    guard let index = index(sequence), case .held(_, let item) = slots[index].state else { return nil }
    return item
  }

  mutating func settle(_ sequence: Int, _ state: State, isLate: Bool = false) {
    guard let index = index(sequence) else { return }
    slots[index].state = state
    slots[index].isLate = isLate
  }

  mutating func addFront(_ item: Item, before sequence: Int) {
    guard let index = index(sequence) else { return }
    slots[index].fronts.append(item)
  }

  /// How many items were put in front of the value with this number.
  func frontCount(_ sequence: Int) -> Int {
    index(sequence).map { slots[$0].fronts.count + slots[$0].goneFronts } ?? 0
  }

  /// The sequence number of the last value, if that is the end of its direction.
  var trailingEnd: Int? {
    guard let last = slots.last, !isEmpty, last.state.isEnd else { return nil }
    return last.sequence
  }

  /// The number of the value at the head, and the stage at which it is held, if it is.
  var headHold: (sequence: Int, stage: Stage)? {
    guard !isEmpty, case .held(let stage, _) = slots[head].state else { return nil }
    return (slots[head].sequence, stage)
  }

  /// Whether the value at the head is the end of its direction, and something is put in front of it.
  var headEndHasFronts: Bool {
    !isEmpty && !slots[head].fronts.isEmpty && slots[head].state.isEnd
  }

  /// The first value behind the head that has gone through its own stage here and not through a later one; `nil` where
  /// the interceptor still holds one before it.
  mutating func nextToGive(_ ownStages: Stages) -> (sequence: Int, item: Item)? {
    nextGiven = max(nextGiven, head + 1)
    while nextGiven < slots.count {
      switch slots[nextGiven].state {
      case .ready(let item): return (slots[nextGiven].sequence, item)
      case .held(let stage, _) where ownStages.contains(stage): return nil
      case .queued, .ending: return nil
      case .held, .given, .dropped: nextGiven += 1
      }
    }
    return nil
  }

  /// The number of the value at the head.
  var headSequence: Int? { isEmpty ? nil : slots[head].sequence }

  /// Puts items at the head, in the place of the value that was the last there.
  mutating func putFirst(_ items: [Item], sequence: Int, sizeBytes: Int) {
    let slot = Slot(state: .dropped, sequence: sequence, sizeBytes: sizeBytes, fronts: items)
    if head > 0 {
      head -= 1
      slots[head] = slot
    } else {
      slots.insert(slot, at: 0)
    }
  }

  /// Takes off what can go on from the head now.
  mutating func depart() -> Departure? {
    guard !isEmpty else { return nil }
    if !slots[head].fronts.isEmpty {
      slots[head].goneFronts += 1
      return .front(slots[head].fronts.removeFirst())
    }
    let sizeBytes = slots[head].sizeBytes
    switch slots[head].state {
    case .held, .ending: return nil
    case .queued(let item): return .delivery(item)
    case .ready(let item):
      removeHead()
      return .item(item, sizeBytes: sizeBytes, isGiven: false)
    case .given(let item):
      removeHead()
      return .item(item, sizeBytes: sizeBytes, isGiven: true)
    case .dropped:
      removeHead()
      return .nothing(sizeBytes: sizeBytes)
    }
  }

  private mutating func removeHead() {
    slots[head].state = .dropped
    head += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: true)
      head = 0
      nextGiven = 0
    } else if head > 32, head * 2 > slots.count {
      slots.removeFirst(head)
      nextGiven = max(nextGiven - head, 0)
      head = 0
    }
  }

  /// Takes everything off; returns how many bytes were counted.
  mutating func removeAll() -> Int {
    let sizeBytes = slots[head...].reduce(0) { $0 + $1.sizeBytes }
    slots.removeAll()
    head = 0
    nextGiven = 0
    return sizeBytes
  }

  private func index(_ sequence: Int) -> Int? {
    var (low, high) = (head, slots.count)
    while low < high {
      let middle = (low + high) / 2
      if slots[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low < slots.count && slots[low].sequence == sequence ? low : nil
  }
}
