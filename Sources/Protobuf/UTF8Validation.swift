/// UTF-8 as RFC 3629 defines it: no surrogates, no over-long forms, nothing above U+10FFFF.
package enum UTF8Validation {
  package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    firstInvalid(bytes) == nil
  }

  /// The offset of the first byte of invalid UTF-8; nil if all bytes are valid.
  static func firstInvalid(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    let nonASCII: UInt64 = 0x8080_8080_8080_8080
    var index = 0
    let count = bytes.count
    while index < count {
      let rest = count &- index
      if rest >= 8 {
        if bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & nonASCII == 0 {
          index &+= 8
          continue
        }
      } else if Words.load(base + index, count: rest) & nonASCII == 0 {
        return nil
      }
      let length = sequenceLength(bytes, at: index)
      if length == 0 { return index }
      index += length
    }
    return nil
  }

  /// The length of the valid sequence at `index`, or 0.
  @inline(__always)
  static func sequenceLength(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
    let first = bytes[index]
    if first < 0x80 { return 1 }
    let rest = bytes.count - index
    func continues(_ offset: Int) -> Bool { bytes[index + offset] & 0xc0 == 0x80 }
    switch first {
    case 0xc2...0xdf:
      return rest >= 2 && continues(1) ? 2 : 0
    case 0xe0...0xef:
      guard rest >= 3, continues(1), continues(2) else { return 0 }
      let second = bytes[index + 1]
      if first == 0xe0 && second < 0xa0 || first == 0xed && second > 0x9f { return 0 }
      return 3
    case 0xf0...0xf4:
      guard rest >= 4, continues(1), continues(2), continues(3) else { return 0 }
      let second = bytes[index + 1]
      if first == 0xf0 && second < 0x90 || first == 0xf4 && second > 0x8f { return 0 }
      return 4
    default: return 0
    }
  }
}
