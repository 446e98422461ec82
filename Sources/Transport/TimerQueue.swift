import HeapModule
import RPCurlBase
import RPCurlProtocols

/// Actions ordered by their due time; those due at the same time keep the order of their addition.
struct TimerQueue {
  /// Identifies a timer for `cancel`.
  struct ID: Hashable, Sendable {
    fileprivate let number: Int
  }

  private struct Entry: Comparable {
    let due: MonotonicClock.Instant
    let id: ID

    static func < (left: Entry, right: Entry) -> Bool {
      (left.due, left.id.number) < (right.due, right.id.number)
    }
  }

  /// Canceled timers stay in the heap until they are due or too many.
  private var heap = Heap<Entry>()
  private var actions: [Int: () -> Void] = [:]
  private var lastNumber = 0

  /// Adds an action.
  mutating func add(due: MonotonicClock.Instant, _ action: @escaping () -> Void) -> ID {
    lastNumber += 1
    let id = ID(number: lastNumber)
    actions[lastNumber] = action
    heap.insert(Entry(due: due, id: id))
    return id
  }

  /// Removes an action; does nothing if it was already taken.
  mutating func cancel(_ id: ID) {
    guard actions.removeValue(forKey: id.number) != nil else { return }
    if heap.count > 2 * actions.count + 64 {
      heap = Heap(heap.unordered.filter { actions[$0.id.number] != nil })
    }
  }

  /// When the next action is due; nil if there is none.
  mutating func nextDue() -> MonotonicClock.Instant? {
    while let next = heap.min {
      if actions[next.id.number] != nil { return next.due }
      heap.removeMin()
    }
    return nil
  }

  /// Removes and returns the next action due at `now`; nil if there is none.
  mutating func removeFirst(dueAt now: MonotonicClock.Instant) -> (() -> Void)? {
    while let next = heap.min, next.due <= now {
      heap.removeMin()
      if let action = actions.removeValue(forKey: next.id.number) { return action }
    }
    return nil
  }
}
