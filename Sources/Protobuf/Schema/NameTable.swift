import RPCurlCSchemas

/// A hash table from the bytes of a name to a number; the caller keeps the names and compares them.
struct NameTable {
  fileprivate struct Slot {
    var hash: UInt32
    var value: Int32
  }

  fileprivate var slots: [Slot]
  private(set) var count = 0

  init(capacity: Int = 8) {
    slots = Array(repeating: Slot(hash: 0, value: -1), count: NameTable.size(for: capacity))
  }

  /// The number of slots for `capacity` names, a power of two.
  static func size(for capacity: Int) -> Int {
    var size = 8
    while size * 3 < capacity * 4 { size *= 2 }
    return size
  }

  /// Reserves room for `capacity` values in total.
  mutating func reserve(_ capacity: Int) {
    let size = NameTable.size(for: capacity)
    if size > slots.count { grow(to: size) }
  }

  /// Hashes sixteen bytes at a time, with the mixing function of wyhash; the last sixteen may overlap earlier
  /// ones. The result is for this process only: without its secrets, no names with the same hash can be found.
  @inline(__always)
  static func hash(_ name: UnsafeRawBufferPointer, seed: UInt64 = rpcurl_name_hash_seed()) -> UInt64 {
    hash(name, seed: seed) { _ in }
  }

  /// Calls `visit` with all bytes in blocks of sixteen; a short name is padded by repetition or spaces.
  @inline(__always)
  static func hash(
    _ name: UnsafeRawBufferPointer, seed: UInt64 = rpcurl_name_hash_seed(), visit: (SIMD16<UInt8>) -> Void
  ) -> UInt64 {
    let mask = rpcurl_name_hash_mask()
    var hash = seed &+ UInt64(truncatingIfNeeded: name.count)
    guard let start = name.baseAddress, !name.isEmpty else { return hash }
    guard name.count >= 8 else {
      let word = Words.load(start, count: name.count, fill: 0x2020_2020_2020_2020)
      visit(unsafeBitCast(SIMD2(word, word), to: SIMD16<UInt8>.self))
      return mix(hash ^ word, mask)
    }
    guard name.count >= 16 else {
      let first = start.loadUnaligned(as: UInt64.self)
      let second = start.loadUnaligned(fromByteOffset: name.count &- 8, as: UInt64.self)
      visit(unsafeBitCast(SIMD2(first, second), to: SIMD16<UInt8>.self))
      return mix(hash ^ first, second ^ mask)
    }
    let last = start + (name.count &- 16)
    var position = start
    while position < last {
      hash = mix(position, hash, mask, visit)
      position += 16
    }
    return mix(last, hash, mask, visit)
  }

  @inline(__always)
  private static func mix(
    _ position: UnsafeRawPointer, _ hash: UInt64, _ mask: UInt64, _ visit: (SIMD16<UInt8>) -> Void
  ) -> UInt64 {
    visit(position.loadUnaligned(as: SIMD16<UInt8>.self))
    return mix(
      hash ^ position.loadUnaligned(as: UInt64.self),
      position.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ mask)
  }

  @inline(__always)
  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (high, low) = a.multipliedFullWidth(by: b)
    return high ^ low
  }

  @inline(__always)
  static func fold(_ hash: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: hash)
  }

  /// The first value inserted under a name with this hash for which `matches` is true.
  @inline(__always)
  func find(_ hash: UInt64, matches: (Int) -> Bool) -> Int? {
    let mask = slots.count - 1
    let hash = NameTable.fold(hash)
    var index = Int(hash) & mask
    while true {
      let slot = slots[index]
      if slot.value < 0 { return nil }
      if slot.hash == hash, matches(Int(slot.value)) { return Int(slot.value) }
      index = (index + 1) & mask
    }
  }

  /// Adds a value unless there is one under the same name, for which `matches` is true; returns the value of the name.
  @discardableResult
  mutating func insert(_ hash: UInt64, _ value: Int, unlessFound matches: (Int) -> Bool) -> Int {
    if let found = find(hash, matches: matches) { return found }
    insert(hash, value)
    return value
  }

  /// Adds a value. There must be none under the same name: each look-up compares all that have the same hash.
  mutating func insert(_ hash: UInt64, _ value: Int) {
    if (count + 1) * 4 > slots.count * 3 { grow(to: slots.count * 2) }
    place(Slot(hash: NameTable.fold(hash), value: Int32(truncatingIfNeeded: value)))
    count += 1
  }

  private mutating func place(_ slot: Slot) {
    let mask = slots.count - 1
    var index = Int(slot.hash) & mask
    while slots[index].value >= 0 { index = (index + 1) & mask }
    slots[index] = slot
  }

  private mutating func grow(to size: Int) {
    let old = slots
    slots = Array(repeating: Slot(hash: 0, value: -1), count: size)
    for slot in old where slot.value >= 0 { place(slot) }
  }
}

extension NameTable {
  /// A table that is being filled, with reserved room.
  struct Filling {
    fileprivate let slots: UnsafeMutableBufferPointer<Slot>
    fileprivate(set) var count: Int

    /// Adds a value unless there is one with the same hash; gives whether it did.
    @inline(__always)
    mutating func insert(_ hash: UInt32, _ value: Int) -> Bool {
      let mask = slots.count &- 1
      var index = Int(hash) & mask
      while slots[index].value >= 0 {
        if slots[index].hash == hash { return false }
        index = (index &+ 1) & mask
      }
      slots[index] = Slot(hash: hash, value: Int32(truncatingIfNeeded: value))
      count &+= 1
      return true
    }

    /// Adds a value unless there is one under the same name, which it gives.
    mutating func insert(_ hash: UInt32, _ value: Int, unlessFound matches: (Int) -> Bool) -> Int? {
      let mask = slots.count &- 1
      var index = Int(hash) & mask
      while slots[index].value >= 0 {
        if slots[index].hash == hash, matches(Int(slots[index].value)) { return Int(slots[index].value) }
        index = (index &+ 1) & mask
      }
      slots[index] = Slot(hash: hash, value: Int32(truncatingIfNeeded: value))
      count &+= 1
      return nil
    }
  }

  /// Fills a table with up to `capacity` values in total.
  mutating func fill<Result>(to capacity: Int, _ body: (inout Filling) -> Result) -> Result {
    reserve(capacity)
    let before = count
    return slots.withUnsafeMutableBufferPointer { slots in
      var filling = Filling(slots: slots, count: before)
      defer { count = filling.count }
      return body(&filling)
    }
  }

  /// The same table without counted references; it must be deallocated.
  struct Frozen {
    private let slots: UnsafePointer<Slot>
    private let mask: Int

    init(_ table: NameTable) {
      let copy = UnsafeMutablePointer<Slot>.allocate(capacity: table.slots.count)
      for (index, slot) in table.slots.enumerated() { (copy + index).initialize(to: slot) }
      slots = UnsafePointer(copy)
      mask = table.slots.count - 1
    }

    func deallocate() { slots.deallocate() }

    /// The first value inserted under a name with this hash for which `matches` is true.
    @inline(__always)
    func find(_ hash: UInt64, matches: (Int) -> Bool) -> Int? {
      let hash = NameTable.fold(hash)
      var index = Int(hash) & mask
      while slots[index].value >= 0 {
        if slots[index].hash == hash, matches(Int(slots[index].value)) { return Int(slots[index].value) }
        index = (index &+ 1) & mask
      }
      return nil
    }
  }
}

/// Whether two byte sequences are equal.
@inline(__always)
func sameBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
  guard a.count == b.count else { return false }
  guard let left = a.baseAddress, let right = b.baseAddress else { return true }
  return Words.areEqual(left, right, count: a.count)
}
