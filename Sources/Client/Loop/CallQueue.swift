/// The calls of a client, of which a limited number runs at a time: the others wait, first come, first served.
struct CallQueue<Call> {
  /// The maximum number of calls that run.
  private let limit: Int
  /// The numbers of waiting calls in their order, from `first` on, with those of calls that were removed.
  private var order: [Int] = []
  private var first = 0
  private var waiting: [Int: Call] = [:]
  private var running = 0

  /// Makes an empty queue.
  ///
  /// - Parameter limit: The maximum number of calls that run; nil for no limit.
  init(limit: Int?) { self.limit = max(limit ?? .max, 1) }

  /// Whether a new call runs at once, which then counts as one that runs.
  mutating func startsAtOnce() -> Bool {
    guard waiting.isEmpty, running < limit else { return false }
    running += 1
    return true
  }

  /// Adds a call at the end.
  mutating func add(_ call: Call, _ number: Int) {
    order.append(number)
    waiting[number] = call
  }

  /// The call that waits longest.
  var next: Call? {
    mutating get {
      dropRemoved()
      return first < order.count ? waiting[order[first]] : nil
    }
  }

  /// Removes the call that waits longest, which runs from now on; nil if none waits, or enough run.
  mutating func start() -> (number: Int, call: Call)? {
    dropRemoved()
    guard running < limit, first < order.count, let call = waiting.removeValue(forKey: order[first]) else {
      return nil
    }
    defer { first += 1 }
    running += 1
    return (order[first], call)
  }

  /// Notes that a call that ran has ended.
  mutating func end() { running -= 1 }

  /// Removes a call that waits; nil if it does not.
  mutating func remove(_ number: Int) -> Call? { waiting.removeValue(forKey: number) }

  /// Changes a call that waits.
  mutating func change(_ number: Int, _ body: (inout Call) -> Void) {
    guard var call = waiting[number] else { return }
    body(&call)
    waiting[number] = call
  }

  /// Removes all calls that wait.
  mutating func removeAll() -> [Call] {
    defer { (order, first, waiting) = ([], 0, [:]) }
    return order[first...].compactMap { waiting[$0] }
  }

  private mutating func dropRemoved() {
    while first < order.count, waiting[order[first]] == nil { first += 1 }
    // The time for many calls stays linear.
    guard first > order.count / 2 else { return }
    order.removeSubrange(..<first)
    first = 0
  }
}
