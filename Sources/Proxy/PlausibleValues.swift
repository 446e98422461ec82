import RPCurlBase
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlValidate

/// Plausible values of fields that are not messages of the schema.
struct PlausibleValues {
  /// The first second of 2026.
  private static let begin: Int64 = 1_767_225_600
  private static let secondsOfYear: Int64 = 31_536_000

  var random: SeededGenerator
  /// The time in nanoseconds since 1970.
  var now: Int64 = 0

  init(seed: UInt64?) { random = SeededGenerator(seed: seed) }

  /// A value.
  ///
  /// - Parameters:
  ///   - field: The field, or an element of it.
  ///   - name: The name of the field.
  ///   - demands: What the value should meet; without demands, it is chosen by the name.
  ///   - attempt: How many values were made before.
  mutating func value(
    of field: Field, named name: String, _ demands: [Demand], _ attempt: Int
  ) throws -> JSONValue {
    if let made = demanded(demands) { return made }
    let words = Set(name.lowercased().split(separator: "_").map(String.init))
    if let type = field.messageType { return try message(type, words, demands, attempt) }
    switch field.kind {
    case .bool: return .bool(Bool.random(using: &random))
    case .string:
      if demands.isEmpty, attempt % 3 == 0 { return .string(text(words)) }
      var maker = DemandedText(demands, random)
      defer { random = maker.random }
      return .string(maker.text(around: text(words), attempt))
    case .bytes:
      if demands.isEmpty { return .string(Base64.encode(bytes(8))) }
      var maker = DemandedText(demands, random)
      defer { random = maker.random }
      return .string(Base64.encode(maker.bytes(attempt)))
    case .enumeration:
      let values = field.enumType.map { Array($0.values) } ?? []
      let isZeroToo = attempt % 4 == 3
      let chosen = values.filter { isZeroToo || $0.number != 0 }.randomElement(using: &random) ?? values.first
      return field.enumType?.name == "google.protobuf.NullValue" ? .null : .number("\(chosen?.number ?? 0)")
    case .double, .float: return .number(real(field.kind, words, demands))
    default:
      guard let range = demands.range else {
        // Small numbers meet more expressions.
        let few = field.kind.isUnsigned ? 0...3 : -1...3
        return .number("\(attempt % 3 == 1 ? Int.random(in: few, using: &random) : whole(words))")
      }
      return .number("\(whole(in: range, Self.limits(field.kind), step: 1))")
    }
  }

  /// The value of a well-known type; nil for other types.
  mutating func value(of type: MessageType) throws -> JSONValue? {
    try type.wellKnown() == nil ? nil : message(type, [], [], 0)
  }

  /// The value with a number, for lists whose elements differ.
  mutating func numbered(_ value: JSONValue, _ number: Int, _ field: Field) -> JSONValue {
    switch field.kind {
    case .string: .string("\(value.plainText)-\(number + 1)")
    case .bytes: .string(Base64.encode(bytes(8)))
    case .enumeration:
      field.enumType?.values.randomElement(using: &random).map { .number("\($0.number)") } ?? value
    case .bool: .bool(number % 2 == 0)
    default: .number("\(number + 1)")
    }
  }

  /// One of the values that rules list.
  private mutating func demanded(_ demands: [Demand]) -> JSONValue? {
    var lists: [[JSONValue]] = []
    for demand in demands { if case .anyOf(let list) = demand { lists.append(list) } }
    guard let first = lists.first else { return nil }
    return first.filter { value in lists.allSatisfy { $0.contains(value) } }.randomElement(using: &random)
  }

  // MARK: Numbers

  private mutating func whole(_ words: Set<String>) -> Int {
    let ranges: [(words: Set<String>, range: ClosedRange<Int>)] = [
      (["year"], 2000...2030), (["month"], 1...12), (["day"], 1...28), (["age"], 18...90),
      (["percent", "percentage", "progress"], 0...100), (["port"], 1024...49151),
      (["price", "amount", "cents", "cost"], 100...99_999), (["id", "number"], 1...9999),
      (["count", "quantity", "size", "total", "length"], 1...20),
    ]
    let range = ranges.first { !$0.words.isDisjoint(with: words) }?.range ?? 1...100
    return Int.random(in: range, using: &random)
  }

  private static func limits(_ kind: FieldKind) -> ClosedRange<Int128> {
    switch kind {
    case .int32, .sint32, .sfixed32: Int128(Int32.min)...Int128(Int32.max)
    case .uint32, .fixed32: 0...Int128(UInt32.max)
    case .uint64, .fixed64: 0...Int128(UInt64.max)
    default: Int128(Int64.min)...Int128(Int64.max)
    }
  }

  /// A number between bounds, near one of them; or outside of them, if the lower one is above the upper one.
  private mutating func whole(
    in range: DemandedRange, _ limits: ClosedRange<Int128>, step: Int128
  ) -> Int128 {
    var lower = range.lower.flatMap {
      $0.value.whole.map { value in range.lower?.isIncluded == true ? value : value + 1 }
    }
    var upper = range.upper.flatMap {
      $0.value.whole.map { value in range.upper?.isIncluded == true ? value : value - 1 }
    }
    if let low = lower, let high = upper, low > high {
      if Bool.random(using: &random) { lower = nil } else { upper = nil }
    }
    let low = max(lower ?? (upper ?? 0) - 100 * step, limits.lowerBound)
    let high = min(upper ?? low + 100 * step, limits.upperBound)
    guard low < high else { return low }
    let made = low + Int128.random(in: 0...min(high - low, 1000 * step), using: &random)
    // A time has whole seconds, if one of them is between the bounds.
    let rounded = made / step * step
    return rounded >= low && rounded <= high ? rounded : made
  }

  private mutating func real(_ kind: FieldKind, _ words: Set<String>, _ demands: [Demand]) -> String {
    guard let range = demands.range else {
      let range = words.contains("latitude") || words.contains("lat") ? -90...90 : 0...200
      return "\(Int.random(in: range, using: &random)).\(Int.random(in: 10...99, using: &random))"
    }
    var (lower, upper) = (range.lower?.value.real, range.upper?.value.real)
    if let low = lower, let high = upper, low > high {
      if Bool.random(using: &random) { lower = nil } else { upper = nil }
    }
    let part = Double(Int.random(in: 0...100, using: &random)) / 100
    let made: Double =
      switch (lower, upper) {
      case (let low?, let high?): low + (high - low) * part
      case (let low?, nil): low + max(abs(low), 100) * part
      case (nil, let high?): high - max(abs(high), 100) * part
      case (nil, nil): part
      }
    return kind == .float ? "\(Float(made))" : "\(made)"
  }

  // MARK: Text

  private static let texts: [(words: Set<String>, values: [String])] = [
    (["email", "mail"], ["ada@example.com", "grace@example.com", "alan@example.com"]),
    (["first", "given"], ["Ada", "Grace", "Alan"]),
    (["last", "family", "surname"], ["Lovelace", "Hopper", "Turing"]),
    (["user", "author", "owner", "customer", "name"], ["Ada Lovelace", "Grace Hopper", "Alan Turing"]),
    (["title", "subject", "label"], ["Jacquard loom", "Analytical engine", "Difference engine"]),
    (["url", "uri", "link", "website"], ["https://example.com/a", "https://example.com/b"]),
    (["phone", "mobile"], ["+1 555 0100", "+1 555 0101"]), (["city"], ["London", "Paris", "Oslo"]),
    (["country"], ["GB", "FR", "NO"]), (["currency"], ["EUR", "USD", "GBP"]),
    (["language", "locale"], ["en", "de", "fr"]),
    (["street", "address"], ["1 Main Street", "22 High Street"]),
    (["color", "colour"], ["red", "green", "blue"]),
    (["status", "state"], ["active", "pending", "done"]), (["version"], ["1.0.0", "1.2.3"]),
    (
      ["description", "message", "text", "comment", "note", "summary", "body", "content"],
      ["A text of a few words.", "Another text.", "The quick brown fox jumps over the lazy dog."]
    ),
  ]

  private mutating func text(_ words: Set<String>) -> String {
    if words.contains("uuid") || words.contains("guid") { return DemandedText.uuid(&random) }
    if words.contains("id") { return "id-\(Int.random(in: 1000...9999, using: &random))" }
    if words.contains("date") { return String(time().prefix(10)) }
    if !words.isDisjoint(with: ["time", "at", "timestamp"]) { return time() }
    let values = Self.texts.first { !$0.words.isDisjoint(with: words) }?.values ?? ["alpha", "beta", "gamma"]
    return values.randomElement(using: &random) ?? ""
  }

  private mutating func time() -> String {
    CivilTime.secondsText(Self.begin + Int64.random(in: 0..<Self.secondsOfYear, using: &random)) + "Z"
  }

  // MARK: Well-known types

  private mutating func message(
    _ type: MessageType, _ words: Set<String>, _ demands: [Demand], _ attempt: Int
  ) throws -> JSONValue {
    switch try type.wellKnown() {
    case .any:
      for case .types(let urls) in demands {
        guard let url = urls.randomElement(using: &random) else { continue }
        let name = url.split(separator: "/").last.map(String.init) ?? ""
        let type = try? type.relative(named: name)
        let member = JSONValue.Member(name: "@type", value: .string(url))
        // An empty message, or the JSON of a well-known type.
        guard let type, try type.wellKnown() != nil else { return .object([member]) }
        return .object([member, .init(name: "value", value: try message(type, words, [], 0))])
      }
      // A message of no type, if the schema lacks this one.
      guard (try? type.relative(named: "google.protobuf.Empty")) != nil else { return .object([]) }
      return .object([
        JSONValue.Member(name: "@type", value: .string("type.googleapis.com/google.protobuf.Empty"))
      ])
    case .timestamp:
      guard !demands.isEmpty else { return .string(time()) }
      return Ordinal.integer(time(demands)).json(.timestamp)
    case .duration:
      guard let range = demands.range else { return .string("\(Int.random(in: 1...60, using: &random))s") }
      let limit = Int128(315_576_000_000) * 1_000_000_000
      return Ordinal.integer(whole(in: range, -limit...limit, step: 1_000_000_000)).json(.duration)
    case .fieldMask: return .string("")
    case .structure: return .object([])
    case .value: return .string("value")
    case .listValue: return .array([])
    case .wrapper:
      guard let field = try type.fields().first else { return .null }
      return try value(of: field, named: words.sorted().joined(separator: "_"), demands, attempt)
    case nil: return .object([])
    }
  }

  /// A time in nanoseconds.
  private mutating func time(_ demands: [Demand]) -> Int128 {
    let second: Int128 = 1_000_000_000
    let year = Int128(Self.secondsOfYear) * second
    var (low, high) = (Int128(Self.begin) * second, Int128(Self.begin + Self.secondsOfYear) * second)
    for demand in demands {
      switch demand {
      case .range(let lower, let upper, .timestamp):
        let limits = Int128(-62_135_596_800) * second...Int128(253_402_300_799) * second
        let made = whole(in: DemandedRange(lower: lower, upper: upper), limits, step: second)
        (low, high) = (made, made)
      // Far from now, so that they do not depend on it.
      case .before: (low, high) = (low - 10 * year, min(low, Int128(now)))
      case .after:
        low = max(low + 70 * year, Int128(now))
        high = low + 10 * year
      case .near(let distance): (low, high) = (Int128(now) - distance / 2, Int128(now) + distance / 2)
      default: break
      }
    }
    return low < high ? Int128.random(in: low...high, using: &random) : low
  }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}

/// The bounds of a number or a time.
private struct DemandedRange {
  var lower: Demand.Bound?
  var upper: Demand.Bound?
}

extension [Demand] {
  fileprivate var range: DemandedRange? {
    for case .range(let lower, let upper, _) in self { return DemandedRange(lower: lower, upper: upper) }
    return nil
  }
}

extension Ordinal {
  fileprivate var whole: Int128? { if case .integer(let value) = self { value } else { nil } }
  fileprivate var real: Double? { if case .real(let value) = self, value.isFinite { value } else { nil } }
}

extension FieldKind {
  fileprivate var isUnsigned: Bool {
    switch self {
    case .uint32, .uint64, .fixed32, .fixed64: true
    default: false
    }
  }
}
