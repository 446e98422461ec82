/// A range of bytes in a table.
struct ByteRange {
  var start: UInt32 = 0
  var count: UInt32 = 0

  init() {}

  init(from start: Int, to end: Int) {
    self.start = UInt32(truncatingIfNeeded: start)
    count = UInt32(truncatingIfNeeded: end - start)
  }

  var isEmpty: Bool { count == 0 }
  var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}

/// Decides which comments between two tokens belong to what the first one ends, which to what the second one begins, and which to
/// neither.
struct Comments {
  /// The text of all comments of the file so far.
  private(set) var bytes = ContiguousArray<UInt8>()
  /// The comments before the current token.
  private(set) var trailing = ByteRange()
  private(set) var detached: [ByteRange] = []
  private(set) var leading = ByteRange()
  /// Whether the next comment that ends is the trailing one.
  var canTrail = true

  private enum Open {
    case none, line, block
  }
  /// The comment that is not assigned yet, from `start` on.
  private var open = Open.none
  private var start = 0
  private var flushed = 0
  private var hasTrailing = false

  mutating func begin() {
    trailing = ByteRange()
    detached.removeAll(keepingCapacity: true)
    leading = ByteRange()
    canTrail = true
    open = .none
    flushed = 0
    hasTrailing = false
  }

  mutating func add(line: UnsafeBufferPointer<UInt8>) {
    if open == .block { flush() }
    if open == .none { start = bytes.count }
    open = .line
    append(line)
  }

  mutating func beginBlock() {
    flush()
    start = bytes.count
    open = .block
  }

  mutating func append(_ text: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: text) }

  /// Ends the open comment.
  mutating func flush() {
    guard open != .none else { return }
    let comment = ByteRange(from: start, to: bytes.count)
    if canTrail {
      trailing = comment
      hasTrailing = true
      canTrail = false
    } else {
      detached.append(comment)
    }
    open = .none
    flushed += 1
  }

  /// The next token is on the line of the last one or of its comment: an only comment belongs to neither.
  mutating func detachOnlyComment() {
    guard flushed + (open == .none ? 0 : 1) == 1 else { return }
    if hasTrailing {
      detached.insert(trailing, at: 0)
      trailing = ByteRange()
    }
    flush()
  }

  mutating func end() {
    if open != .none { leading = ByteRange(from: start, to: bytes.count) }
  }
}
