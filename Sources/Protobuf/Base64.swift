/// Base64 for protobuf's JSON and RPC metadata.
package enum Base64 {
  /// Encodes in the standard alphabet.
  package static func encode(_ bytes: [UInt8], padding: Bool = true) -> String {
    var buffer = OutputBuffer(capacity: bytes.count / 3 * 4 + 4)
    bytes.withUnsafeBytes { append($0, padding: padding, to: &buffer) }
    return buffer.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// Appends the text of bytes, with padding.
  package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
    text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
    // The whole would be a second copy of a large value.
    var buffer = OutputBuffer(capacity: min(bytes.count, blockBytes) / 3 * 4 + 4)
    bytes.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: bytes.count, by: blockBytes) {
        buffer.removeAll()
        let block = bytes[start..<min(start + blockBytes, bytes.count)]
        append(UnsafeRawBufferPointer(rebasing: block), padding: true, to: &buffer)
        buffer.withBytes { text.append(contentsOf: $0) }
      }
    }
  }

  /// A multiple of 3.
  private static let blockBytes = 48 << 10

  /// Decodes text in the standard or the URL-safe alphabet, with or without padding.
  ///
  /// - Returns: `nil` if the text contains any other character (also white space), mixes the alphabets, has
  ///   an impossible length, or is padded incorrectly.
  package static func decode(_ text: [UInt8]) -> [UInt8]? {
    var buffer = OutputBuffer(capacity: text.count / 4 * 3 + 3)
    guard text.withUnsafeBytes({ decode($0, into: &buffer) }) else { return nil }
    return buffer.copyBytes()
  }

  /// Decodes a string. See ``decode(_:)-([UInt8])``.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    decode(Array(text.utf8))
  }

  static func append(_ bytes: UnsafeRawBufferPointer, padding: Bool, to out: inout OutputBuffer) {
    out.reserve(bytes.count / 3 * 4 + 4)
    alphabet.withUTF8Buffer { alphabet in
      var index = 0
      while index + 3 <= bytes.count {
        let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
        out.appendReserved(alphabet[Int(group >> 18)])
        out.appendReserved(alphabet[Int(group >> 12 & 63)])
        out.appendReserved(alphabet[Int(group >> 6 & 63)])
        out.appendReserved(alphabet[Int(group & 63)])
        index += 3
      }
      let rest = bytes.count - index
      guard rest > 0 else { return }
      let group = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
      out.appendReserved(alphabet[Int(group >> 18)])
      out.appendReserved(alphabet[Int(group >> 12 & 63)])
      if rest == 2 { out.appendReserved(alphabet[Int(group >> 6 & 63)]) }
      if padding { for _ in rest..<3 { out.appendReserved(UInt8(ascii: "=")) } }
    }
  }

  /// Returns false, with an undefined number of bytes appended, if the text is not base64.
  static func decode(_ text: UnsafeRawBufferPointer, into out: inout OutputBuffer) -> Bool {
    var count = text.count
    if count > 0, count % 4 == 0, text[count - 1] == UInt8(ascii: "=") {
      count -= text[count - 2] == UInt8(ascii: "=") ? 2 : 1
    }
    guard count % 4 != 1 else { return false }
    out.reserve(count / 4 * 3 + 3)
    return values.withUnsafeBufferPointer { values in
      var seen: UInt8 = 0
      func group(of characters: Int, at index: Int) -> UInt32 {
        var group: UInt32 = 0
        for offset in 0..<characters {
          let value = values[Int(text[index &+ offset])]
          seen |= value
          group = group << 6 | UInt32(value & 63)
        }
        return group
      }
      var index = 0
      while index &+ 4 <= count {
        let group = group(of: 4, at: index)
        out.appendReserved(UInt8(truncatingIfNeeded: group >> 16))
        out.appendReserved(UInt8(truncatingIfNeeded: group >> 8))
        out.appendReserved(UInt8(truncatingIfNeeded: group))
        index &+= 4
      }
      let rest = group(of: count &- index, at: index)
      switch count &- index {
      case 2: out.appendReserved(UInt8(truncatingIfNeeded: rest >> 4))
      case 3:
        out.appendReserved(UInt8(truncatingIfNeeded: rest >> 10))
        out.appendReserved(UInt8(truncatingIfNeeded: rest >> 2))
      default: break
      }
      return seen & bad != bad
    }
  }

  /// Whether valid base64 is probably text that was not encoded: it is short, and lacks padding, has bits after its last
  /// byte, or is a word in small letters and digits that stands for bytes other than ASCII.
  package static func resemblesText(_ text: UnsafeRawBufferPointer) -> Bool {
    guard (1...64).contains(text.count) else { return false }
    guard text.count % 4 == 0, let bytes = decode(Array(text)) else { return true }
    guard text.last != UInt8(ascii: "=") else {
      return !encode(bytes).utf8.elementsEqual(text.lazy.map(Self.standard))
    }
    return text.dropFirst().allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
      && bytes.contains { $0 >= 0x80 }
  }

  /// A character of the URL-safe alphabet in the standard one.
  private static func standard(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: byte
    }
  }

  private static let alphabet: StaticString =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

  fileprivate static let bad: UInt8 = 0b1100_0000

  /// The six bits of each character. Bit 6 marks those of the standard alphabet only, bit 7 those of the other one only, and
  /// both of them invalid characters, as the marks of a text that mixes the alphabets do together.
  fileprivate static let values: [UInt8] = {
    var table = [UInt8](repeating: bad, count: 256)
    alphabet.withUTF8Buffer {
      for (value, character) in $0.enumerated() { table[Int(character)] = UInt8(value) }
    }
    table[Int(UInt8(ascii: "+"))] |= 64
    table[Int(UInt8(ascii: "/"))] |= 64
    table[Int(UInt8(ascii: "-"))] = 62 | 128
    table[Int(UInt8(ascii: "_"))] = 63 | 128
    return table
  }()
}

/// Decodes base64 that arrives in pieces of any size, and may have padding after any of its parts.
package struct Base64Decoder {
  /// The bits of the characters of an incomplete group, and their number.
  private var group: UInt32 = 0
  private var count = 0
  /// Whether the first of two characters of padding has arrived.
  private var isPadded = false

  /// Makes a decoder at the start of a text.
  package init() {}

  /// Decodes the next piece; returns false if it is not base64.
  package mutating func decode(_ text: RawSpan, into out: inout [UInt8]) -> Bool {
    out.reserveCapacity(out.count + text.byteCount / 4 * 3 + 3)
    return text.withUnsafeBytes { text in
      for character in text {
        if character == UInt8(ascii: "=") {
          guard count == 3 || count == 2 else { return false }
          if count == 2, !isPadded {
            isPadded = true
            continue
          }
          group <<= count == 3 ? 6 : 12
          append(bytes: count - 1, to: &out)
          continue
        }
        let value = Base64.values[Int(character)]
        guard value != Base64.bad, !isPadded else { return false }
        group = group << 6 | UInt32(value & 63)
        count += 1
        if count == 4 { append(bytes: 3, to: &out) }
      }
      return true
    }
  }

  /// Appends the first bytes of the group, and starts the next.
  private mutating func append(bytes: Int, to out: inout [UInt8]) {
    for index in 0..<bytes { out.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))) }
    (group, count, isPadded) = (0, 0, false)
  }
}
