/// Finds the ends of consecutive JSON values in a text that arrives in pieces.
///
/// It scans several bytes of a string at once, and does not store the text. The parser of a value checks what
/// is inside its brackets.
struct JSONValueBoundary: Sendable {
  private var depth = 0
  /// Whether a string of the value has no end yet.
  private(set) var isInString = false
  private var isEscaped = false
  private var isInWord = false
  /// Whether a value has begun.
  private(set) var isInside = false

  /// Continues at `index` and returns the end of the value: nil if it is not in `bytes`.
  ///
  /// Outside of a value, white space must already be skipped.
  mutating func end(of bytes: UnsafeRawBufferPointer, from index: Int) -> Int? {
    var index = index
    isInside = isInside || index < bytes.count
    while index < bytes.count {
      if isInString {
        guard let next = endOfString(bytes, from: index) else { return nil }
        index = next
        if depth == 0 { return finish(index) }
      } else if depth > 0 {
        index = nextString(bytes, from: index)
        if depth == 0 { return finish(index) }
      } else {
        let byte = bytes[index]
        if isInWord, !JSONValueBoundary.isWordByte(byte) { return finish(index) }
        index += 1
        if isInWord { continue }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth = 1
        // The start of an expression, which ends with its brace: `${name}`.
        case UInt8(ascii: "$"): continue
        default:
          // A byte that starts no value is returned alone, and the parser rejects it.
          guard JSONValueBoundary.isWordByte(byte) else { return finish(index) }
          isInWord = true
        }
      }
    }
    return nil
  }

  /// Reads up to the start of a string, or up to the end of the value; its depth is then 0.
  private mutating func nextString(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var index = start
    var depth = depth
    defer { self.depth = depth }
    while index < bytes.count {
      let byte = bytes[index]
      index &+= 1
      if byte == UInt8(ascii: "\"") {
        isInString = true
        return index
      }
      // The brackets differ from the braces in this bit.
      if byte | 0x20 == UInt8(ascii: "{") {
        depth &+= 1
      } else if byte | 0x20 == UInt8(ascii: "}") {
        depth &-= 1
        if depth == 0 { return index }
      }
    }
    return index
  }

  /// Whether the text may end here: a number or a word at the top level has no other end.
  var mayEndHere: Bool { isInWord }

  private mutating func finish(_ index: Int) -> Int {
    self = JSONValueBoundary()
    return index
  }

  private mutating func endOfString(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var index = start
    if isEscaped, index < bytes.count {
      isEscaped = false
      index += 1
    }
    while index < bytes.count {
      if index + 8 <= bytes.count {
        let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
        let marks =
          JSONValueBoundary.marks(of: UInt8(ascii: "\""), word)
          | JSONValueBoundary.marks(of: UInt8(ascii: "\\"), word)
        guard marks != 0 else {
          index += 8
          continue
        }
        index += marks.trailingZeroBitCount &>> 3
      }
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\"") {
        isInString = false
        return index
      }
      if byte == UInt8(ascii: "\\") {
        guard index < bytes.count else {
          isEscaped = true
          return nil
        }
        index += 1
      }
    }
    return nil
  }

  /// Marks a byte among eight. Only the lowest mark is reliable.
  @inline(__always)
  private static func marks(of byte: UInt8, _ word: UInt64) -> UInt64 {
    let difference = word ^ (0x0101_0101_0101_0101 &* UInt64(byte))
    return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), 48...57, 65...90, 97...122: true
    default: false
    }
  }
}
