/// The ProtoJSON form of timestamps and durations.
enum TimeText {
  static let timestampSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
  /// Nanoseconds may exceed both ends: duration.proto limits each part separately.
  static let durationSeconds: ClosedRange<Int64> = -315_576_000_000...315_576_000_000

  // MARK: Reading

  /// Reads `2024-05-01T12:00:00.123Z` or one with an offset such as `+02:00`.
  static func timestamp(_ text: UnsafeRawBufferPointer) -> (seconds: Int64, nanos: Int32)? {
    guard let time = prefix(text), time.length == text.count else { return nil }
    return (time.seconds, time.nanos)
  }

  /// Reads a timestamp at the start of a text.
  static func prefix(_ text: UnsafeRawBufferPointer) -> (seconds: Int64, nanos: Int32, length: Int)? {
    guard text.count >= 20, let start = text.baseAddress,
      // `2024-05-` and `01T12:00`, eight bytes at a time.
      let date = pairs(start.loadUnaligned(as: UInt64.self), between: 0x2d00_002d_0000_0000),
      let dayAndTime = pairs(
        start.loadUnaligned(fromByteOffset: 8, as: UInt64.self), between: 0x0000_3a00_0054_0000),
      let second = pair(text, 17)
    else { return nil }
    let year = (date & 0xff) &* 100 &+ date &>> 16 & 0xff
    let month = date &>> 40 & 0xff
    let day = dayAndTime & 0xff
    let hour = dayAndTime &>> 24 & 0xff
    let minute = dayAndTime &>> 48 & 0xff
    guard text[16] == UInt8(ascii: ":"), year >= 1, month >= 1, month <= 12, day >= 1,
      day <= 28 || day <= daysInMonth(year, month), hour < 24, minute < 60, second < 60
    else { return nil }
    var index = 19
    guard let nanos = fraction(text, &index), index < text.count else { return nil }
    var offset: Int64 = 0
    switch text[index] {
    case UInt8(ascii: "Z"): index += 1
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      guard text.count - index >= 6, text[index + 3] == UInt8(ascii: ":"), let hours = pair(text, index + 1),
        let minutes = pair(text, index + 4), hours < 24, minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * (text[index] == UInt8(ascii: "-") ? -60 : 60)
      index += 6
    default: return nil
    }
    let seconds =
      daysSinceEpoch(year, month, day) &* 86400
      &+ Int64(truncatingIfNeeded: hour &* 3600 &+ minute &* 60) &+ second &- offset
    return timestampSeconds.contains(seconds) ? (seconds, nanos, index) : nil
  }

  /// The value of two digits; nil for other bytes.
  @inline(__always)
  private static func pair(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int64? {
    let high = text[start] &- 48
    let low = text[start &+ 1] &- 48
    return high > 9 || low > 9 ? nil : Int64(high &* 10 &+ low)
  }

  /// The values of consecutive pairs of digits, each at the byte of its first digit; nil unless all bytes
  /// except those in `separators` are digits.
  @inline(__always)
  private static func pairs(_ text: UInt64, between separators: UInt64) -> UInt64? {
    // All ones in the bytes of separators, which have no highest bit.
    let mask = ((separators &+ 0x7f7f_7f7f_7f7f_7f7f) & 0x8080_8080_8080_8080) &>> 7 &* 0xff
    guard text & mask == separators else { return nil }
    let digits = text & ~mask | mask & 0x3030_3030_3030_3030
    guard Words.areDigits(digits) else { return nil }
    let values = digits &- 0x3030_3030_3030_3030
    return values &* 10 &+ values &>> 8
  }

  /// Reads `1.5s`.
  static func duration(_ text: UnsafeRawBufferPointer) -> (seconds: Int64, nanos: Int32)? {
    guard text.last == UInt8(ascii: "s") else { return nil }
    let number = UnsafeRawBufferPointer(rebasing: text.dropLast())
    let negative = number.first == UInt8(ascii: "-")
    var index = negative ? 1 : 0
    var seconds: Int64 = 0
    let start = index
    while index < number.count, (48...57).contains(number[index]) {
      seconds = seconds * 10 + Int64(number[index] - 48)
      guard seconds <= durationSeconds.upperBound else { return nil }
      index += 1
    }
    guard index > start, let nanos = fraction(number, &index), index == number.count else { return nil }
    return negative ? (-seconds, -nanos) : (seconds, nanos)
  }

  /// Reads a decimal point with one to nine digits as nanoseconds, if present.
  @inline(__always)
  private static func fraction(_ text: UnsafeRawBufferPointer, _ index: inout Int) -> Int32? {
    guard index < text.count, text[index] == UInt8(ascii: ".") else { return 0 }
    let first = index &+ 1
    if text.count &- first >= 8 {
      let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: first, as: UInt64.self))
      let count = Words.leadingDigits(word)
      if count > 0, count < 8 {
        index = first &+ count
        // As eight digits, the last of which are zeros.
        let mask = (1 as UInt64) &<< UInt64(truncatingIfNeeded: 8 &* count) &- 1
        return Int32(truncatingIfNeeded: Words.number(word & mask | 0x3030_3030_3030_3030 & ~mask) &* 10)
      }
    }
    guard let (nanos, end) = otherFraction(text, from: first) else { return nil }
    index = end
    return nanos
  }

  /// Reads one to nine digits that are near the end of the text, or more than seven.
  @inline(never)
  private static func otherFraction(
    _ text: UnsafeRawBufferPointer, from first: Int
  ) -> (nanos: Int32, end: Int)? {
    var nanos: Int32 = 0
    var place: Int32 = 100_000_000
    var index = first
    while index < text.count, text[index] &- 48 <= 9 {
      guard place > 0 else { return nil }
      nanos &+= Int32(text[index] &- 48) &* place
      place /= 10
      index &+= 1
    }
    return index > first ? (nanos, index) : nil
  }

  // MARK: Writing

  /// The room for writing a time, which is longer than any time.
  static let room = 64

  /// Writes a timestamp without quotes and returns its length; nil if it is out of range.
  static func writeTimestamp(seconds: Int64, nanos: Int32, at place: UnsafeMutablePointer<UInt8>) -> Int? {
    guard timestampSeconds.contains(seconds), (0...999_999_999).contains(nanos) else { return nil }
    // Days since 0000-03-01, so that nothing is negative.
    let sinceStart = UInt64(bitPattern: seconds &+ daysToEpoch &* 86400)
    let days = sinceStart / 86400
    let time = UInt32(truncatingIfNeeded: sinceStart &- days &* 86400)
    let (year, month, day) = date(days: UInt32(truncatingIfNeeded: days))
    let minutes = time / 60
    let hours = minutes / 60
    DecimalDigits.writePair(year / 100, at: place)
    DecimalDigits.writePair(year % 100, at: place + 2)
    place[4] = UInt8(ascii: "-")
    DecimalDigits.writePair(month, at: place + 5)
    place[7] = UInt8(ascii: "-")
    DecimalDigits.writePair(day, at: place + 8)
    place[10] = UInt8(ascii: "T")
    DecimalDigits.writePair(hours, at: place + 11)
    place[13] = UInt8(ascii: ":")
    DecimalDigits.writePair(minutes &- hours &* 60, at: place + 14)
    place[16] = UInt8(ascii: ":")
    DecimalDigits.writePair(time &- minutes &* 60, at: place + 17)
    let end = 19 &+ writeFraction(UInt32(bitPattern: nanos), at: place + 19)
    place[end] = UInt8(ascii: "Z")
    return end &+ 1
  }

  /// Writes a duration without quotes and returns its length; nil if it is out of range or its parts have
  /// different signs.
  static func writeDuration(seconds: Int64, nanos: Int32, at place: UnsafeMutablePointer<UInt8>) -> Int? {
    guard durationSeconds.contains(seconds), (-999_999_999...999_999_999).contains(nanos),
      seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0)
    else { return nil }
    var end = 0
    if seconds < 0 || nanos < 0 {
      place[0] = UInt8(ascii: "-")
      end = 1
    }
    end &+= DecimalDigits.write(seconds.magnitude, at: place + end)
    end &+= writeFraction(nanos.magnitude, at: place + end)
    place[end] = UInt8(ascii: "s")
    return end &+ 1
  }

  /// Writes a decimal point and three, six or nine digits, or nothing, and returns the length.
  private static func writeFraction(_ nanos: UInt32, at place: UnsafeMutablePointer<UInt8>) -> Int {
    if nanos == 0 { return 0 }
    let tens = nanos / 10
    let last = nanos &- tens &* 10
    let digits = DecimalDigits.eight(tens)
    place[0] = UInt8(ascii: ".")
    DecimalDigits.store(digits, at: place + 1)
    place[9] = 48 | UInt8(truncatingIfNeeded: last)
    if last != 0 || digits >= 1 &<< 48 { return 10 }
    return digits >= 1 &<< 24 ? 7 : 4
  }

  // MARK: The calendar (proleptic Gregorian, years 1 to 9999)

  private static func daysInMonth(_ year: UInt64, _ month: UInt64) -> UInt64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Years start in March, so that the leap day is the last day.
  @inline(__always)
  private static func daysSinceEpoch(_ year: UInt64, _ month: UInt64, _ day: UInt64) -> Int64 {
    let marchYear = UInt32(truncatingIfNeeded: month <= 2 ? year &- 1 : year)
    let month = UInt32(truncatingIfNeeded: month > 2 ? month &- 3 : month &+ 9)
    let dayOfYear = (153 &* month &+ 2) / 5 &+ UInt32(truncatingIfNeeded: day) &- 1
    let days = marchYear &* 365 &+ marchYear / 4 &- marchYear / 100 &+ marchYear / 400 &+ dayOfYear
    return Int64(days) &- daysToEpoch
  }

  /// The days from 0000-03-01 to 1970-01-01.
  private static let daysToEpoch: Int64 = 719_468

  /// The date of a day after 0000-03-01.
  ///
  /// Cassio Neri and Lorenz Schneider, “Euclidean affine functions and their application to calendar algorithms”, 2022.
  @inline(__always)
  private static func date(days: UInt32) -> (year: UInt32, month: UInt32, day: UInt32) {
    let centuryQuarters = 4 &* days &+ 3
    let century = centuryQuarters / 146_097
    let quarters = (centuryQuarters &- century &* 146_097) | 3
    let years = UInt64(quarters) &* 2_939_745
    let dayOfYear = UInt32(truncatingIfNeeded: years) / 2_939_745 / 4
    let months = dayOfYear &* 2141 &+ 197_913
    let isNextYear = dayOfYear >= 306
    let year = century &* 100 &+ UInt32(truncatingIfNeeded: years &>> 32) &+ (isNextYear ? 1 : 0)
    let month = months &>> 16 &- (isNextYear ? 12 : 0)
    return (year, month, (months & 0xffff) / 2141 &+ 1)
  }
}
