import RPCurlBase
import RPCurlProtobuf
import Synchronization

/// Maps numbers, which plugins hold, to elements. A number is never reused, so an outdated one is recognized.
/// `[any thread]`
// Sendable because its slots require the lock. What an element allows on which thread is for its users to check.
final class HandleTable<Element: AnyObject>: @unchecked Sendable {
  enum Found {
    case live(Element)
    /// It was used.
    case used
    /// Its call has ended.
    case ended
    /// This table has never issued the number.
    case unknown
  }

  private struct Slot {
    var generation: UInt64 = 0
    var element: Element?
    var hasEnded = false
  }

  private let lock = Lock()
  private var slots: [Slot] = []
  /// Free slots, longest free first. Some slots always rest, so that a recently outdated number can still be
  /// explained.
  private var free: ArraySlice<Int> = []
  private static var restingSlots: Int { 1024 }
  /// Distinguishes the numbers of different tables.
  private let table = UInt64(nextTable.add(1, ordering: .relaxed).newValue) & 0xfff

  // The bits of a number, from the top: the table (12), the slot's generation (28), the slot (24).
  private static var generationBits: UInt64 { 28 }
  private static var slotBits: UInt64 { 24 }

  /// Inserts an element and returns its number; `nil` when 16 million are held.
  func insert(_ element: Element) -> UInt64? {
    lock.lock()
    defer { lock.unlock() }
    let index: Int
    if free.count > Self.restingSlots, let reused = free.popFirst() {
      index = reused
    } else {
      guard slots.count < 1 << Self.slotBits else { return nil }
      index = slots.count
      slots.append(Slot())
    }
    slots[index].generation += 1
    slots[index].element = element
    return number(index)
  }

  func find(_ number: UInt64) -> Found { lock.holding { locate(number).found } }

  /// Removes an element if it exists; its number is then reported as used, or its call as ended.
  func remove(_ number: UInt64, hasEnded: Bool = false) -> Found {
    lock.lock()
    defer { lock.unlock() }
    let (found, index) = locate(number)
    if case .live = found { release(index, hasEnded: hasEnded) }
    return found
  }

  /// Removes all matching elements; their calls are then reported as ended.
  func removeAll(where fits: (Element) -> Bool) -> [Element] {
    lock.holding {
      slots.indices.compactMap { index in
        guard let element = slots[index].element, fits(element) else { return nil }
        release(index, hasEnded: true)
        return element
      }
    }
  }

  private func number(_ index: Int) -> UInt64 {
    table << (Self.generationBits + Self.slotBits) | slots[index].generation << Self.slotBits | UInt64(index)
  }

  private func locate(_ number: UInt64) -> (found: Found, index: Int) {
    let index = Int(number & (1 << Self.slotBits - 1))
    let generation = number >> Self.slotBits & (1 << Self.generationBits - 1)
    guard number >> (Self.generationBits + Self.slotBits) == table, index < slots.count, generation > 0,
      generation <= slots[index].generation
    else { return (.unknown, index) }
    // Outdated long ago; the reason is no longer known.
    guard generation == slots[index].generation else { return (.ended, index) }
    if let element = slots[index].element { return (.live(element), index) }
    return (slots[index].hasEnded ? .ended : .used, index)
  }

  private func release(_ index: Int, hasEnded: Bool) {
    slots[index].element = nil
    slots[index].hasEnded = hasEnded
    // A slot without further generations is retired.
    if slots[index].generation < 1 << Self.generationBits - 1 { free.append(index) }
  }
}

/// The number of the last table. Global, because a number of one table must not be one of another in the process.
private let nextTable = Atomic(0)
