/// A position in a JSON text with readers of tokens. Strict: RFC 8259 without extensions.
struct JSONScanner: TokenScanner {
  let start: UnsafePointer<UInt8>
  var cursor: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>

  init(_ bytes: UnsafeRawBufferPointer) {
    let reader = WireReader(bytes)
    start = reader.cursor
    cursor = start
    end = reader.end
  }

  // MARK: Structure

  @inline(__always)
  mutating func skipSpace() {
    if cursor < end, cursor.pointee > 0x20 { return }
    _ = peekAfterSpace()
  }

  @inline(__always)
  mutating func peek() -> UInt8 {
    if cursor < end, cursor.pointee > 0x20 { return cursor.pointee }
    return peekAfterSpace()
  }

  @inline(never)
  private mutating func peekAfterSpace() -> UInt8 {
    while cursor < end {
      switch cursor.pointee {
      case 0x20, 0x0a, 0x0d, 0x09: cursor += 1
      case let byte: return byte
      }
    }
    return 0
  }

  /// Whether a byte and a key follow, without white space.
  @inline(__always)
  func startsKey(after separator: UInt8) -> Bool {
    end - cursor >= 2 && cursor[0] == separator && cursor[1] == UInt8(ascii: "\"")
  }

  /// Reads a key and its colon if they are at `place` exactly as given.
  @inline(__always)
  mutating func accept(_ key: KeyBytes, at place: UnsafePointer<UInt8>) -> Bool {
    let count = key.count &- 1
    guard end - place >= count &+ 8, Words.areEqualPadded(place, key.withColon, count: count) else {
      return false
    }
    cursor = place + count
    return true
  }

  mutating func expectEnd() throws(ReadFailure) {
    skipSpace()
    if position < bytes.count { throw failure(.trailingData) }
  }

  mutating func openObject() throws(ReadFailure) {
    guard accept(UInt8(ascii: "{")) else { throw expected("an object") }
  }

  /// Whether another key follows in an object after `count` keys; reads the comma or the end.
  @inline(__always)
  mutating func nextKey(after count: Int) throws(ReadFailure) -> Bool {
    let next = peek()
    if next == UInt8(ascii: "}") {
      cursor += 1
      return false
    }
    if count > 0 {
      guard next == UInt8(ascii: ",") else { throw expected("\",\" or \"}\"") }
      cursor += 1
    }
    guard peek() == UInt8(ascii: "\"") else { throw expected(count > 0 ? "a key" : "a key or \"}\"") }
    return true
  }

  @inline(__always)
  mutating func expectColon() throws(ReadFailure) {
    guard accept(UInt8(ascii: ":")) else { throw expected("\":\"") }
  }

  @inline(__always)
  mutating func openArray() throws(ReadFailure) {
    guard accept(UInt8(ascii: "[")) else { throw wrongType("a list") }
  }

  /// Whether another element follows in an array after `count` elements; reads the comma or the end.
  @inline(__always)
  mutating func nextElement(after count: Int) throws(ReadFailure) -> Bool {
    let next = peek()
    if next == UInt8(ascii: "]") {
      cursor += 1
      return false
    }
    if count > 0 {
      guard next == UInt8(ascii: ",") else { throw expected("\",\" or \"]\"") }
      cursor += 1
      guard peek() != UInt8(ascii: "]") else { throw expected("a value") }
    }
    return true
  }

  // MARK: Strings

  /// Reads a string. The result is a part of the text, or of `scratch` if the string has escapes, and is
  /// valid until `scratch` is used again.
  @inline(__always)
  mutating func string(scratch: inout OutputBuffer) throws(ReadFailure) -> UnsafeRawBufferPointer {
    guard accept(UInt8(ascii: "\"")) else { throw wrongType("a string") }
    let first = cursor
    var place = first
    while end - place >= 8 {
      let word = UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
      let marks = Words.endsOfPlainText(word)
      if marks == 0 {
        place += 8
        continue
      }
      place += marks.trailingZeroBitCount &>> 3
      guard place.pointee == UInt8(ascii: "\"") else { break }
      cursor = place + 1
      return UnsafeRawBufferPointer(start: first, count: place - first)
    }
    return try otherString(from: first, at: place, scratch: &scratch)
  }

  /// Continues with a string that has escapes or is near the end of the text.
  @inline(never)
  private mutating func otherString(
    from first: UnsafePointer<UInt8>, at place: UnsafePointer<UInt8>, scratch: inout OutputBuffer
  ) throws(ReadFailure) -> UnsafeRawBufferPointer {
    var place = place
    while place < end {
      if end - place >= 8 {
        let word = UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
        let marks = Words.endsOfPlainText(word)
        place += marks == 0 ? 8 : marks.trailingZeroBitCount &>> 3
        if marks == 0 { continue }
      }
      let byte = place.pointee
      if byte == UInt8(ascii: "\"") {
        cursor = place + 1
        return UnsafeRawBufferPointer(start: first, count: place - first)
      }
      if byte == UInt8(ascii: "\\") {
        return try escapedString(from: first - start, at: place - start, scratch: &scratch)
      }
      if byte < 0x20 { throw failure(.controlCharacter, at: place - start) }
      if byte < 0x80 {
        place += 1
      } else {
        let length = UTF8Validation.sequenceLength(bytes, at: place - start)
        if length == 0 { throw failure(.invalidUTF8, at: place - start) }
        place += length
      }
    }
    cursor = end
    throw failure(.unexpectedEnd)
  }

  @inline(never)
  private mutating func escapedString(
    from start: Int, at firstEscape: Int, scratch: inout OutputBuffer
  ) throws(ReadFailure) -> UnsafeRawBufferPointer {
    scratch.truncate(to: 0)
    scratch.append(UnsafeRawBufferPointer(rebasing: bytes[start..<firstEscape]))
    position = firstEscape
    while position < bytes.count {
      if end - cursor >= 8 {
        let word = UInt64(littleEndian: UnsafeRawPointer(cursor).loadUnaligned(as: UInt64.self))
        let marks = Words.endsOfPlainText(word)
        scratch.reserve(8)
        UnsafeMutableRawPointer(scratch.end).storeBytes(of: word.littleEndian, as: UInt64.self)
        let plain = marks == 0 ? 8 : marks.trailingZeroBitCount &>> 3
        scratch.advance(by: plain)
        cursor += plain
        if plain == 8 { continue }
      }
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        position += 1
        return UnsafeRawBufferPointer(start: scratch.base, count: scratch.count)
      }
      if byte == UInt8(ascii: "\\") {
        try escape(scratch: &scratch)
      } else if byte < 0x20 {
        throw failure(.controlCharacter)
      } else {
        let length = UTF8Validation.sequenceLength(bytes, at: position)
        if length == 0 { throw failure(.invalidUTF8) }
        scratch.append(UnsafeRawBufferPointer(rebasing: bytes[position..<position + length]))
        position += length
      }
    }
    throw failure(.unexpectedEnd)
  }

  private mutating func escape(scratch: inout OutputBuffer) throws(ReadFailure) {
    guard position + 1 < bytes.count else {
      position = bytes.count
      throw failure(.unexpectedEnd)
    }
    let character = bytes[position + 1]
    let simple: UInt8
    switch character {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): simple = character
    case UInt8(ascii: "b"): simple = 8
    case UInt8(ascii: "f"): simple = 12
    case UInt8(ascii: "n"): simple = 10
    case UInt8(ascii: "r"): simple = 13
    case UInt8(ascii: "t"): simple = 9
    case UInt8(ascii: "u"):
      let start = position
      var code = try hexEscape()
      if code & 0xf800 == 0xd800 {
        guard code < 0xdc00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
          bytes[position + 1] == UInt8(ascii: "u")
        else { throw failure(.loneSurrogate, at: start) }
        let low = try hexEscape()
        guard low & 0xfc00 == 0xdc00 else { throw failure(.loneSurrogate, at: start) }
        code = 0x10000 + (code & 0x3ff) << 10 + low & 0x3ff
      }
      guard let scalar = UnicodeScalar(code) else { throw failure(.loneSurrogate, at: start) }
      for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { scratch.append(unit) }
      return
    default: throw failure(.invalidEscape)
    }
    scratch.append(simple)
    position += 2
  }

  private mutating func hexEscape() throws(ReadFailure) -> UInt32 {
    guard position + 6 <= bytes.count else { throw failure(.invalidEscape) }
    var code: UInt32 = 0
    for index in position + 2..<position + 6 {
      let byte = bytes[index]
      switch byte {
      case 48...57: code = code << 4 | UInt32(byte - 48)
      case 65...70: code = code << 4 | UInt32(byte - 55)
      case 97...102: code = code << 4 | UInt32(byte - 87)
      default: throw failure(.invalidEscape)
      }
    }
    position += 6
    return code
  }

  // MARK: Numbers

  /// Reads a number token.
  @inline(__always)
  mutating func number() throws(ReadFailure) -> UnsafeRawBufferPointer {
    skipSpace()
    let length = JSONNumber.length(UnsafeRawBufferPointer(rebasing: bytes[position...]))
    guard length > 0 else { throw failure(.invalidNumber) }
    let token = UnsafeRawBufferPointer(rebasing: bytes[position..<position + length])
    if position + length < bytes.count, isWordByte(bytes[position + length]) || bytes[position + length] == 46
    {
      throw failure(.invalidNumber)
    }
    position += length
    return token
  }

  // MARK: Skipping

  /// Skips a value of any kind.
  mutating func skipValue(depth: Int, scratch: inout OutputBuffer) throws(ReadFailure) {
    guard depth <= nestingLimit else { throw failure(.tooDeep) }
    switch peek() {
    case UInt8(ascii: "{"):
      try openObject()
      var count = 0
      while try nextKey(after: count) {
        _ = try string(scratch: &scratch)
        try expectColon()
        try skipValue(depth: depth + 1, scratch: &scratch)
        count += 1
      }
    case UInt8(ascii: "["):
      try openArray()
      var count = 0
      while try nextElement(after: count) {
        try skipValue(depth: depth + 1, scratch: &scratch)
        count += 1
      }
    case UInt8(ascii: "\""): _ = try string(scratch: &scratch)
    case UInt8(ascii: "-"), 48...57: _ = try number()
    default:
      guard acceptWord("null") || acceptWord("true") || acceptWord("false") else { throw expected("a value") }
    }
  }
}
