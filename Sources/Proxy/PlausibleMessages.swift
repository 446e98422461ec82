import RPCurlBase
import RPCurlProtobuf

/// Messages of plausible values, by the names and the types of their fields. The same seed gives the same messages.
struct PlausibleMessages {
  /// How deep messages are nested.
  private static let depthLimit = 6
  /// How many fields a message has, with those of the messages in it.
  private static let fieldLimit = 1000
  /// The number of elements of lists and maps.
  private static let elementCount = 2
  /// The first second of 2026.
  private static let begin: Int64 = 1_767_225_600
  private static let secondsOfYear: Int64 = 31_536_000

  private var random: SeededGenerator
  private var fieldCount = 0

  init(seed: UInt64?) { random = SeededGenerator(seed: seed) }

  /// Makes a message.
  ///
  /// - Throws: ``SchemaError`` or ``MessageParseError`` if the type has no such message.
  mutating func make(_ type: MessageType) throws -> Message {
    fieldCount = 0
    return try Message(type, json: Array(message(type, around: []).text.utf8))
  }

  private mutating func message(_ type: MessageType, around: [String]) throws -> JSONValue {
    if let known = try wellKnown(type) { return known }
    let fields = try type.fields()
    var chosen: [Int: UInt32] = [:]
    for (oneof, members) in Dictionary(grouping: fields.filter { $0.oneofIndex != nil }, by: \.oneofIndex)
      .sorted(by: { ($0.key ?? 0) < ($1.key ?? 0) })
    {
      chosen[oneof ?? 0] = members.randomElement(using: &random)?.number
    }
    let inside = around + [type.name]
    var members: [JSONValue.Member] = []
    for field in fields where field.oneofIndex.map({ chosen[$0] == field.number }) ?? true {
      let element = field.isMap ? field.mapValue : field
      if let type = element?.messageType, !field.isRequired,
        inside.contains(type.name) || inside.count >= Self.depthLimit || fieldCount >= Self.fieldLimit
      {
        continue
      }
      fieldCount += 1
      members.append(JSONValue.Member(name: field.jsonName, value: try value(field, inside)))
    }
    return .object(members)
  }

  private mutating func value(_ field: Field, _ around: [String]) throws -> JSONValue {
    if field.isMap, let key = field.mapKey, let value = field.mapValue {
      var members: [JSONValue.Member] = []
      for index in 0..<(key.kind == .bool ? 1 : Self.elementCount) {
        let name = key.kind == .bool ? "true" : key.kind == .string ? "key-\(index + 1)" : "\(index + 1)"
        members.append(JSONValue.Member(name: name, value: try single(value, named: field.name, around)))
      }
      return .object(members)
    }
    guard field.isRepeated else { return try single(field, named: field.name, around) }
    var elements: [JSONValue] = []
    for _ in 0..<Self.elementCount { elements.append(try single(field, named: field.name, around)) }
    return .array(elements)
  }

  private mutating func single(_ field: Field, named name: String, _ around: [String]) throws -> JSONValue {
    if let type = field.messageType { return try message(type, around: around) }
    let words = Set(name.lowercased().split(separator: "_").map(String.init))
    switch field.kind {
    case .bool: return .bool(Bool.random(using: &random))
    case .string: return .string(text(words))
    case .bytes:
      return .string(Base64.encode((0..<8).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
    case .enumeration:
      let values = field.enumType.map { Array($0.values) } ?? []
      let named = values.filter { $0.number != 0 }.randomElement(using: &random) ?? values.first
      return field.enumType?.name == "google.protobuf.NullValue" ? .null : .number("\(named?.number ?? 0)")
    case .double, .float:
      let range = words.contains("latitude") || words.contains("lat") ? -90...90 : 0...200
      return .number("\(Int.random(in: range, using: &random)).\(Int.random(in: 10...99, using: &random))")
    default: return .number("\(whole(words))")
    }
  }

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
    if words.contains("uuid") || words.contains("guid") { return uuid() }
    if words.contains("id") { return "id-\(Int.random(in: 1000...9999, using: &random))" }
    if words.contains("date") { return String(time().prefix(10)) }
    if !words.isDisjoint(with: ["time", "at", "timestamp"]) { return time() }
    let values = Self.texts.first { !$0.words.isDisjoint(with: words) }?.values ?? ["alpha", "beta", "gamma"]
    return values.randomElement(using: &random) ?? ""
  }

  private mutating func uuid() -> String {
    let digits = String(random.next() | 1 << 63, radix: 16) + String(random.next() | 1 << 63, radix: 16)
    let parts = [(0, 8), (8, 4), (12, 3), (16, 3), (20, 12)].map {
      String(digits.dropFirst($0.0).prefix($0.1))
    }
    return "\(parts[0])-\(parts[1])-4\(parts[2])-a\(parts[3])-\(parts[4])"
  }

  private mutating func time() -> String {
    CivilTime.secondsText(Self.begin + Int64.random(in: 0..<Self.secondsOfYear, using: &random)) + "Z"
  }

  private mutating func wellKnown(_ type: MessageType) throws -> JSONValue? {
    switch try type.wellKnown() {
    case .any:
      return .object([
        JSONValue.Member(name: "@type", value: .string("type.googleapis.com/google.protobuf.Empty"))
      ])
    case .timestamp: return .string(time())
    case .duration: return .string("\(Int.random(in: 1...60, using: &random))s")
    case .fieldMask: return .string("")
    case .structure: return .object([])
    case .value: return .string("value")
    case .listValue: return .array([])
    case .wrapper: return try type.fields().first.map { try single($0, named: "", []) }
    case nil: return nil
    }
  }
}
