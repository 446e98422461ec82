/// The values that wait at one station, in the order in which they came: those held by its interceptor, and
/// those behind them.
struct Lane {
  enum State {
    /// The interceptor has the token; this is the value as it was delivered.
    case held(Stage, Item)
    case ready(Item)
    case dropped
  }

  private var slots: [(state: State, sizeBytes: Int)] = []
  private var head = 0
  /// The sequence number of the slot at `head`.
  private var headSequence = 0

  var count: Int { slots.count - head }
  var isEmpty: Bool { slots.count == head }
  /// The sequence number of the value that comes next.
  var nextSequence: Int { headSequence + count }

  mutating func append(_ state: State, sizeBytes: Int) {
    slots.append((state, sizeBytes))
  }

  /// Counts a value that went through without waiting, so that sequence numbers are never used twice.
  mutating func skip() {
    headSequence += 1
  }

  /// The value with this number, if it is still held.
  func held(_ sequence: Int) -> Item? {
    guard let index = index(sequence), case .held(_, let item) = slots[index].state else { return nil }
    return item
  }

  mutating func settle(_ sequence: Int, _ state: State) {
    guard let index = index(sequence) else { return }
    slots[index].state = state
  }

  /// The stage at which the first value is held, if it is.
  var headHold: Stage? {
    guard !isEmpty, case .held(let stage, _) = slots[head].state else { return nil }
    return stage
  }

  /// Takes the first value off when nothing holds it; the item is `nil` when it was dropped.
  mutating func popSettled() -> (item: Item?, sizeBytes: Int)? {
    guard !isEmpty else { return nil }
    let item: Item?
    switch slots[head].state {
    case .held: return nil
    case .ready(let ready): item = ready
    case .dropped: item = nil
    }
    let sizeBytes = slots[head].sizeBytes
    slots[head].state = .dropped
    head += 1
    headSequence += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 32, head * 2 > slots.count {
      slots.removeFirst(head)
      head = 0
    }
    return (item, sizeBytes)
  }

  /// Takes everything off; returns how many bytes were counted.
  mutating func removeAll() -> Int {
    let sizeBytes = slots[head...].reduce(0) { $0 + $1.sizeBytes }
    headSequence += count
    slots.removeAll()
    head = 0
    return sizeBytes
  }

  private func index(_ sequence: Int) -> Int? {
    let index = head + sequence - headSequence
    return index >= head && index < slots.count ? index : nil
  }
}
