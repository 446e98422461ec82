/// The identity of a trace: 16 bytes.
struct TraceID: Sendable, Hashable {
  let high: UInt64
  let low: UInt64

  /// The bytes, most significant first.
  var bytes: [UInt8] { SpanID.bytes(high) + SpanID.bytes(low) }

  /// 32 hexadecimal digits.
  var text: String { SpanID.text(high) + SpanID.text(low) }
}

/// Spans have an identity of 8 bytes, never 0.
enum SpanID {
  /// The bytes, most significant first.
  static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - $0 * 8)) }
  }

  /// 16 hexadecimal digits in lower case.
  static func text(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// The header `traceparent` (W3C Trace Context, section 3.2): the trace and the span that a request belongs to.
struct TraceParent: Sendable, Hashable {
  let traceID: TraceID
  let spanID: UInt64
  /// The flags that are defined: sampled, and random trace ID.
  let flags: UInt8

  /// Whether the caller may have recorded the trace.
  var isSampled: Bool { flags & 1 != 0 }

  /// Makes the parent of what a span causes.
  init(traceID: TraceID, spanID: UInt64, flags: UInt8) {
    self.traceID = traceID
    self.spanID = spanID
    self.flags = flags
  }

  /// Parses a value; nil if it is invalid (section 3.2.2), also for one of a later version that does not begin as this
  /// version does (section 4.2).
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    let dash = UInt8(ascii: "-")
    guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
      let version = Self.number(bytes[0..<2]), version != 0xff,
      bytes.count == 55 || (version > 0 && bytes[55] == dash),
      let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high | low != 0,
      let span = Self.number(bytes[36..<52]), span != 0,
      let flags = Self.number(bytes[53..<55])
    else { return nil }
    self.init(
      traceID: TraceID(high: high, low: low), spanID: span, flags: UInt8(truncatingIfNeeded: flags) & 3)
  }

  /// The value of the header, in version 00.
  var text: String { "00-\(traceID.text)-\(SpanID.text(spanID))-0\(flags)" }

  /// Reads hexadecimal digits, which must be in lower case.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"):
        number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }
}

/// The header `tracestate` (section 3.3): what vendors add to a trace. It is forwarded unchanged.
enum TraceState {
  /// Joins the values of the header.
  ///
  /// - Returns: The list without empty members; nil if it is invalid, has more than 32 members or a key twice.
  static func parse(_ values: [String]) -> String? {
    var members: [String] = []
    var keys: Set<Substring> = []
    for member in values.joined(separator: ",").split(separator: ",") {
      let member = trim(member)
      guard !member.isEmpty else { continue }
      guard let equals = member.firstIndex(of: "="), isKey(member[..<equals]),
        isValue(member[member.index(after: equals)...]), keys.insert(member[..<equals]).inserted
      else { return nil }
      members.append(String(member))
    }
    return members.count <= 32 ? members.joined(separator: ",") : nil
  }

  private static func trim(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }

  private static func isKey(_ key: Substring) -> Bool {
    guard (1...256).contains(key.utf8.count), let first = key.utf8.first else { return false }
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    return isAlphanumeric(first) && key.utf8.allSatisfy { isAlphanumeric($0) || "_-*/@".utf8.contains($0) }
  }

  private static func isValue(_ value: Substring) -> Bool {
    (1...256).contains(value.utf8.count)
      && value.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") }
  }
}
