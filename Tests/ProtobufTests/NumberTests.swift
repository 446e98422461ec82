import Testing

@testable import RPCurlProtobuf

/// Compares number conversions with those of the standard library.
struct NumberTests {
  /// Bit patterns across all exponents, and neighbours of powers of two and ten.
  private static func patterns(_ count: Int) -> [UInt64] {
    var generator = SystemRandomNumberGenerator()
    var patterns: [UInt64] = (0..<count).map { _ in generator.next() }
    for exponent in 0..<2047 {
      for offset in [0, 1, UInt64.max] { patterns.append(UInt64(exponent) << 52 &+ offset) }
    }
    for exponent in -323...308 {
      let value = Double("1e\(exponent)") ?? 0
      for offset in [0, 1, UInt64.max] { patterns.append(value.bitPattern &+ offset) }
    }
    for _ in 0..<count / 4 {
      patterns.append(Double(Int.random(in: 0..<10_000_000)).bitPattern)
      patterns.append((Double(Int.random(in: 0..<10_000_000)) / 1000).bitPattern)
      // Few decimals, and neighbours: numbers below 10^9 with up to six decimals are printed in another way.
      let digits = Double(Int.random(in: 0..<2_000_000_000_000_000) >> Int.random(in: 0..<50))
      let decimal = (digits / [1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7][Int.random(in: 0..<7)]).bitPattern
      patterns += [decimal, decimal &+ 1, decimal &- 1]
    }
    return patterns
  }

  private static func expected(_ description: String) -> String {
    description.hasSuffix(".0") && description != "-0.0" ? String(description.dropLast(2)) : description
  }

  @Test func printsDoublesAsTheStandardLibrary() {
    for pattern in NumberTests.patterns(20_000) {
      let value = Double(bitPattern: pattern)
      guard value.isFinite else { continue }
      var buffer = OutputBuffer()
      JSONText.append(value, to: &buffer)
      let text = String(decoding: buffer.copyBytes(), as: UTF8.self)
      if text != NumberTests.expected(value.description) {
        Issue.record("\(value) is printed as \(text)")
      }
    }
  }

  @Test func printsFloatsAsTheStandardLibrary() {
    for pattern in NumberTests.patterns(20_000) {
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: pattern >> 32))
      guard value.isFinite else { continue }
      var buffer = OutputBuffer()
      JSONText.append(value, to: &buffer)
      let text = String(decoding: buffer.copyBytes(), as: UTF8.self)
      if text != NumberTests.expected(value.description) {
        Issue.record("\(value) is printed as \(text)")
      }
    }
  }

  @Test func readsDoublesAsTheStandardLibrary() {
    var texts = NumberTests.patterns(20_000).map { Double(bitPattern: $0).magnitude }.filter(\.isFinite)
      .map(\.description)
    for _ in 0..<20_000 {
      let digits = String(UInt64.random(in: 0...UInt64.max)).prefix(Int.random(in: 1...19))
      guard digits.first != "0" || digits.count == 1 else { continue }
      texts.append("\(digits)e\(Int.random(in: -340...308))")
      texts.append("\(digits.first ?? "1").\(digits)")
      texts.append("0.00\(digits)")
    }
    // Half-way cases and their neighbours.
    for whole in [UInt64(1) << 53, 1 << 54, 1 << 60, 1 << 63] {
      for offset in 0..<UInt64(100) { texts.append("\(whole + offset)") }
    }
    texts += ["9007199254740993.0", "1e22", "1e23", "1.7976931348623157e308", "2.2250738585072014e-308"]
    for text in texts {
      let bytes = Array((text + ",").utf8)
      let read = bytes.withUnsafeBufferPointer { buffer -> Double? in
        guard let start = buffer.baseAddress else { return nil }
        let found = DecimalReader.double(start, start + buffer.count)
        return found?.end == start + buffer.count - 1 ? found?.value : nil
      }
      guard let read, let expected = Double(text) else { continue }
      if read != expected { Issue.record("\(text) is read as \(read)") }
    }
  }

  @Test func writesIntegersOfAllLengths() {
    var value: UInt64 = 1
    for _ in 0..<20 {
      for number in [value &- 1, value, value &+ 1, value &* 7, UInt64.max] {
        var buffer = OutputBuffer()
        JSONText.appendInteger(number, to: &buffer)
        #expect(String(decoding: buffer.copyBytes(), as: UTF8.self) == String(number))
      }
      value = value &* 10
    }
  }

  @Test func readsVarintsOfAllLengths() throws {
    for bits in 0..<64 {
      for value in [UInt64(1) << UInt64(bits), (UInt64(1) << UInt64(bits)) &- 1, UInt64.max >> UInt64(bits)] {
        for padding in [0, 12] {
          var buffer = OutputBuffer()
          buffer.appendVarint(value)
          let length = buffer.count
          for _ in 0..<padding { buffer.append(0xff) }
          let (read, offset) = try buffer.withBytes { (bytes) throws(DecodeError) in
            var reader = WireReader(bytes)
            return (try reader.varint(), reader.offset)
          }
          #expect(read == value)
          #expect(offset == length)
        }
      }
    }
  }
}
