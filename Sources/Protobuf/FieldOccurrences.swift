/// The fields and oneofs that were set in the messages being read, innermost last: each may occur once in a message.
struct FieldOccurrences {
  /// A message being read.
  struct Level {
    /// Its first word in `words`.
    fileprivate let first: Int
    /// The index of its set in `extensions`, or -1.
    fileprivate var extensions = -1
  }

  /// A bit for each number.
  private var words: [UInt64] = []
  /// The numbers of extensions, of the messages that have any.
  private var extensions: [Set<UInt32>] = []

  /// Begins a message, in the one begun last.
  @inline(__always)
  func open() -> Level { Level(first: words.count) }

  /// Ends the innermost message.
  @inline(__always)
  mutating func close(_ level: Level) {
    if words.count > level.first { words.removeSubrange(level.first...) }
    if level.extensions >= 0 { extensions.removeLast() }
  }

  /// Adds a small number, of a field or a oneof, to the innermost message; returns false if it was there.
  @inline(never)
  mutating func insert(_ number: Int, in level: Level) -> Bool {
    let index = level.first + number / 64
    while words.count <= index { words.append(0) }
    let bit: UInt64 = 1 << UInt64(number % 64)
    defer { words[index] |= bit }
    return words[index] & bit == 0
  }

  /// Adds the number of an extension to the innermost message; returns false if it was there.
  @inline(never)
  mutating func insert(extension number: UInt32, in level: inout Level) -> Bool {
    if level.extensions < 0 {
      level.extensions = extensions.count
      extensions.append([])
    }
    return extensions[level.extensions].insert(number).inserted
  }
}
