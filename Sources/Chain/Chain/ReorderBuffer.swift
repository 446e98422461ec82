internal import DequeModule

/// What an interceptor has received and made of one direction, in order: the values that it holds, and those after them.
/// Verdicts may come in any order; values leave in the order of arrival.
struct ReorderBuffer {
  enum State {
    /// The interceptor has the token; this is the value as it was delivered.
    case held(Stage, Item)
    case ready(Item)
    case dropped
    /// The place of the direction's start, which has not arrived, before messages that the interceptor has injected.
    case awaitedStart
    /// The value's token ends the call.
    case ending
  }

  private struct Entry {
    var state: State
    /// The value's number, higher than that of the entry before it.
    let sequence: Int
    var sizeBytes: Int
    /// What the interceptor has injected before this value, and has not left yet.
    var injectedBefore = Deque<Item>()
    /// How many injected items have left already.
    var sentInjectedCount = 0
    /// Whether the interceptor made the value.
    var isOwn = false
    /// Whether the verdict on the value came after a command that ends the call.
    var isLate = false

    /// Whether nothing leaves the buffer in the place of the value, and the end of the call does not depend on it.
    var isGap: Bool {
      if case .dropped = state { injectedBefore.isEmpty && !isLate } else { false }
    }
  }

  /// What leaves the head of the buffer.
  enum Output {
    /// A value; its entry is removed.
    case item(Item, sizeBytes: Int)
    /// Nothing: the value was dropped, and its entry is removed.
    case nothing(sizeBytes: Int)
    /// An item injected before the value at the head, which stays.
    case injected(Item)
  }

  private var entries = Deque<Entry>()
  /// About how many dropped values wait for the head.
  private var droppedCount = 0

  /// How many values there are.
  var count: Int { entries.count - (awaitedStart == nil ? 0 : 1) }
  var isEmpty: Bool { entries.isEmpty }

  /// Appends a value, or puts the start in the place that is kept for it.
  mutating func append(
    _ state: State, sequence: Int, sizeBytes: Int, injectedBefore: [Item] = [], isOwn: Bool = false,
    isLate: Bool = false
  ) {
    let entry = Entry(
      state: state, sequence: sequence, sizeBytes: sizeBytes, injectedBefore: Deque(injectedBefore),
      isOwn: isOwn, isLate: isLate)
    if sequence == awaitedStart { entries[0] = entry } else { entries.append(entry) }
  }

  /// Removes the place that is kept for the start, if none will come: the interceptor has forwarded the end, or has
  /// injected messages before it.
  mutating func giveUpStart() {
    guard awaitedStart != nil, let last = entries.last else { return }
    if hasForwardedEnd || !last.injectedBefore.isEmpty { removeHead() }
  }

  /// The number of the place that is kept for the direction's start, if there is one.
  var awaitedStart: Int? {
    guard let entry = entries.first, case .awaitedStart = entry.state else { return nil }
    return entry.sequence
  }

  /// What is kept when the interceptor ends the call, in order: what it made, and what it forwarded before the first
  /// value that it still holds, with what was injected before that value.
  ///
  /// - Parameter last: The number of the value whose token ends the call, if that value is in this buffer.
  func released(before last: Int?) -> [Item] {
    var released: [Item] = []
    var isWhole = true
    for entry in entries {
      if isWhole { released += entry.injectedBefore }
      if entry.sequence == last || entry.isLate { isWhole = false }
      switch entry.state {
      case .ready(let item): if entry.isOwn || isWhole { released.append(item) }
      case .held, .ending: isWhole = false
      case .dropped, .awaitedStart: break
      }
    }
    return released
  }

  /// The value with this number, if it is still held.
  func held(_ sequence: Int) -> Item? {
    guard let index = index(sequence), case .held(_, let item) = entries[index].state else { return nil }
    return item
  }

  mutating func settle(_ sequence: Int, _ state: State, isLate: Bool = false) {
    guard let index = index(sequence) else { return }
    entries[index].state = state
    entries[index].isLate = isLate
  }

  /// Frees the room of a dropped value, although the head may be held. Such values are removed once they are half of the
  /// buffer.
  ///
  /// - Returns: How many values and bytes wait less now.
  mutating func free(_ sequence: Int) -> (count: Int, bytes: Int) {
    guard let index = index(sequence), entries[index].isGap else { return (0, 0) }
    let bytes = entries[index].sizeBytes
    entries[index].sizeBytes = 0
    droppedCount += 1
    guard droppedCount > 32, droppedCount * 2 > count else { return (0, bytes) }
    return (removeDropped(), bytes)
  }

  /// Removes the dropped values after the head. Returns their number.
  private mutating func removeDropped() -> Int {
    let before = count
    let first = entries.removeFirst()
    entries.removeAll(where: \.isGap)
    entries.prepend(first)
    droppedCount = 0
    return before - count
  }

  mutating func addInjected(_ item: Item, before sequence: Int) {
    guard let index = index(sequence) else { return }
    entries[index].injectedBefore.append(item)
  }

  /// How many items were injected before the value with this number.
  func injectedCount(_ sequence: Int) -> Int {
    index(sequence).map { entries[$0].injectedBefore.count + entries[$0].sentInjectedCount } ?? 0
  }

  /// The number of the end of the direction, if the interceptor holds it.
  var heldEnd: Int? {
    guard let last = entries.last, case .held(_, let item) = last.state, item.isEnd else {
      return nil
    }
    return last.sequence
  }

  /// Whether the interceptor has forwarded the end of the direction, and it still waits.
  var hasForwardedEnd: Bool {
    guard let last = entries.last, case .ready(let item) = last.state else { return false }
    return item.isEnd
  }

  /// Whether the interceptor has forwarded everything of the direction, with its end, and it still waits.
  var isLeaving: Bool {
    hasForwardedEnd
      && entries.allSatisfy { entry in
        if entry.isLate { return false }
        switch entry.state {
        case .ready, .dropped, .awaitedStart: return true
        case .held, .ending: return false
        }
      }
  }

  /// The number of the value that delays the others, and the stage at which it is held: the value at the head, or without
  /// a start the last one.
  var headHold: (sequence: Int, stage: Stage)? {
    guard let entry = awaitedStart == nil ? entries.first : entries.last,
      case .held(let stage, _) = entry.state
    else { return nil }
    return (entry.sequence, stage)
  }

  /// Whether a message leaves next.
  var hasMessageNext: Bool {
    guard let entry = entries.first else { return false }
    if let injected = entry.injectedBefore.first { return injected.message != nil }
    if case .ready(let item) = entry.state { return item.message != nil }
    return false
  }

  /// Removes what can leave the head now.
  mutating func takeOutput() -> Output? {
    guard !isEmpty else { return nil }
    if let item = entries[0].injectedBefore.popFirst() {
      entries[0].sentInjectedCount += 1
      return .injected(item)
    }
    let sizeBytes = entries[0].sizeBytes
    switch entries[0].state {
    case .held, .ending, .awaitedStart: return nil
    case .ready(let item):
      removeHead()
      return .item(item, sizeBytes: sizeBytes)
    case .dropped:
      removeHead()
      return .nothing(sizeBytes: sizeBytes)
    }
  }

  private mutating func removeHead() {
    entries.removeFirst()
    if isEmpty { droppedCount = 0 }
  }

  /// Removes everything; returns how many bytes were counted.
  mutating func removeAll() -> Int {
    let sizeBytes = entries.reduce(0) { $0 + $1.sizeBytes }
    entries.removeAll()
    return sizeBytes
  }

  private func index(_ sequence: Int) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].sequence == sequence ? low : nil
  }
}
