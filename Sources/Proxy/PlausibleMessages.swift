import RPCurlBase
import RPCurlProtobuf
import RPCurlValidate

/// Messages of plausible values, by the names and the types of their fields and by the rules in the schema. The same seed gives the
/// same messages.
struct PlausibleMessages {
  /// How deep messages are nested.
  private static let depthLimit = 6
  /// How deep messages are nested if rules demand them.
  private static let demandedDepthLimit = 20
  /// How many fields a message has, with those of the messages in it.
  private static let fieldLimit = 1000
  /// The number of elements of lists and maps.
  private static let elementCount = 2
  /// The most elements, if rules demand them.
  private static let elementLimit = 10_000
  /// How often a value or a message that breaks a rule is made again.
  private static let attemptLimit = 40
  /// The same for all parts of a message together.
  private static let totalLimit = 2000

  private var values: PlausibleValues
  private let book = RuleBook()
  private let now: @Sendable () -> Int64
  private var fieldCount = 0
  private var attemptCount = 0

  /// - Parameters:
  ///   - seed: The seed; nil for a random one.
  ///   - now: The time in nanoseconds since 1970, for rules that depend on it.
  init(seed: UInt64?, now: @escaping @Sendable () -> Int64) {
    values = PlausibleValues(seed: seed)
    self.now = now
  }

  /// Makes a message. It obeys the rules, except for expressions that no attempt has met.
  ///
  /// - Throws: ``SchemaError`` or ``MessageParseError`` if the type has no such message.
  mutating func make(_ type: MessageType) throws -> Message {
    (fieldCount, attemptCount) = (0, 0)
    values.now = now()
    return try Message(type, json: Array(message(type, around: []).text.utf8))
  }

  // MARK: Messages

  private mutating func message(_ type: MessageType, around: [String]) throws -> JSONValue {
    if let known = try values.value(of: type) { return known }
    let rules = book.rules(of: type) { _ in }
    var made = try members(type, rules, around, attempt: 0)
    guard let rules, rules.hasMessageRules else { return made }
    for attempt in 1..<Self.attemptLimit {
      guard let message = Self.parse(type, made), breaks({ $0.validate(message) }), canTryAgain() else {
        break
      }
      // Rules about several fields often hold if some are not set.
      made = try members(type, rules, around, attempt: attempt)
    }
    return made
  }

  /// - Parameter attempt: How often the message was made before. In every second one, fields are set by chance.
  private mutating func members(
    _ type: MessageType, _ rules: TypeRules?, _ around: [String], attempt: Int
  ) throws -> JSONValue {
    let fields = try type.fields()
    let own = Dictionary((rules?.fields ?? []).map { ($0.field.number, $0.rules) }) { $1 }
    let inside = around + [type.name]
    let oneofs = Dictionary(grouping: fields.filter { $0.oneofIndex != nil }, by: \.oneofIndex)
      .sorted { ($0.key ?? 0) < ($1.key ?? 0) }.map(\.value)
    var excluded: Set<UInt32> = []
    for choice in oneofs + (rules?.choices.map(\.fields) ?? []) {
      let possible = choice.filter { !excluded.contains($0.number) }
      let chosen =
        possible.first { own[$0.number]?.isRequired == true }
        ?? possible.filter { !isTooDeep($0, own[$0.number], inside) }.randomElement(using: &values.random)
        ?? possible.first
      excluded.formUnion(choice.lazy.map(\.number).filter { $0 != chosen?.number })
    }
    var members: [JSONValue.Member] = []
    for field in fields where !excluded.contains(field.number) {
      let rules = own[field.number]
      let isRequired = field.isRequired || rules?.isRequired == true
      if attempt % 2 == 1, !isRequired, field.oneofIndex == nil, Bool.random(using: &values.random) {
        continue
      }
      if isTooDeep(field, rules, inside) { continue }
      fieldCount += 1
      if let value = try value(field, rules, type, inside, attempt: attempt) {
        members.append(JSONValue.Member(name: field.jsonName, value: value))
      }
    }
    return .object(members)
  }

  /// Whether a field is not set because of the messages in it.
  private func isTooDeep(_ field: Field, _ rules: ValueRules?, _ inside: [String]) -> Bool {
    guard !field.isRequired, let type = (field.isMap ? field.mapValue : field)?.messageType else {
      return false
    }
    if let rules, rules.isRequired || rules.counts.lowerBound > 0 {
      return inside.count >= Self.demandedDepthLimit
    }
    return inside.contains(type.name) || inside.count >= Self.depthLimit || fieldCount >= Self.fieldLimit
  }

  // MARK: Fields

  /// A value of a field; nil if all break a rule, and none does not.
  private mutating func value(
    _ field: Field, _ rules: ValueRules?, _ type: MessageType, _ inside: [String], attempt: Int
  ) throws -> JSONValue? {
    // Rules of a message may be about fields that have none.
    var made = try value(field, rules, inside, attempt: rules == nil ? attempt : 0)
    guard let rules else { return made }
    for attempt in 1..<Self.attemptLimit {
      let member = JSONValue.object([JSONValue.Member(name: field.jsonName, value: made)])
      if let message = Self.parse(type, member), !breaks({ $0.validate(field, of: message, rules) }) {
        return made
      }
      guard canTryAgain() else { break }
      made = try value(field, rules, inside, attempt: attempt)
    }
    return field.isRequired || breaks { $0.validate(field, of: Message(type), rules) } ? made : nil
  }

  private mutating func value(
    _ field: Field, _ rules: ValueRules?, _ inside: [String], attempt: Int
  ) throws -> JSONValue {
    if field.isMap, let key = field.mapKey, let value = field.mapValue {
      var members: [JSONValue.Member] = []
      for name in try keys(key, rules, attempt) {
        let value = try element(value, rules?.values.first, named: field.name, inside)
        members.append(JSONValue.Member(name: name, value: value))
      }
      return .object(members)
    }
    guard field.isRepeated else {
      return try single(field, rules?.demands ?? [], named: field.name, inside, attempt: attempt)
    }
    let isUnique = rules?.demands.contains { if case .unique = $0 { true } else { false } } ?? false
    var elements: [JSONValue] = []
    var seen: Set<String> = []
    for index in 0..<count(rules, attempt) {
      var made = try element(field, rules?.items.first, named: field.name, inside)
      for attempt in 1..<Self.attemptLimit where isUnique && seen.contains(made.text) {
        guard canTryAgain() else { break }
        // Values by names are few.
        made =
          rules?.items.isEmpty == false
          ? try element(field, rules?.items.first, named: field.name, inside, attempt: attempt)
          : values.numbered(made, index, field)
      }
      seen.insert(made.text)
      elements.append(made)
    }
    return .array(elements)
  }

  private mutating func keys(_ key: Field, _ rules: ValueRules?, _ first: Int) throws -> [String] {
    var names: [String] = []
    for index in 0..<count(rules, first) {
      for attempt in 0..<Self.attemptLimit {
        let simple: JSONValue =
          key.kind == .bool
          ? .bool(index == 0) : key.kind == .string ? .string("key-\(index + 1)") : .number("\(index + 1)")
        let made =
          attempt == 0
          ? simple : try element(key, rules?.keys.first, named: "key", [], attempt: attempt)
        let isValid = rules?.keys.first.map { rules in
          Value(made, key).map { value in !breaks { $0.validate(element: value, rules) } } ?? false
        }
        guard isValid ?? true, !names.contains(made.plain) else {
          guard canTryAgain() else { break }
          continue
        }
        names.append(made.plain)
        break
      }
    }
    return names
  }

  private mutating func count(_ rules: ValueRules?, _ attempt: Int) -> Int {
    let counts = rules?.counts ?? 0...UInt64.max
    let usual = attempt == 0 ? Self.elementCount : Int.random(in: 0...6, using: &values.random)
    let count = min(max(UInt64(usual), counts.lowerBound), counts.upperBound)
    return Int(min(count, UInt64(Self.elementLimit)))
  }

  /// An element of a list, or a key or a value of a map.
  private mutating func element(
    _ field: Field, _ rules: ValueRules?, named name: String, _ inside: [String], attempt first: Int = 0
  ) throws -> JSONValue {
    let demands = rules?.demands ?? []
    var made = try single(field, demands, named: name, inside, attempt: first)
    guard let rules else { return made }
    for attempt in (first + 1)..<(first + Self.attemptLimit) {
      if let value = Value(made, field), !breaks({ $0.validate(element: value, rules) }) { break }
      guard canTryAgain() else { break }
      made = try single(field, demands, named: name, inside, attempt: attempt)
    }
    return made
  }

  private mutating func single(
    _ field: Field, _ demands: [Demand], named name: String, _ inside: [String], attempt: Int
  ) throws -> JSONValue {
    if let type = field.messageType, try type.wellKnown() == nil { return try message(type, around: inside) }
    return try values.value(of: field, named: name, attempt == 0 ? [] : demands, attempt)
  }

  // MARK: Rules

  private static func parse(_ type: MessageType, _ json: JSONValue) -> Message? {
    try? Message(type, json: Array(json.text.utf8), options: JSONDecodingOptions(allowPartial: true))
  }

  private func breaks(_ validate: (inout MessageValidator) -> Void) -> Bool {
    // The messages in a message were validated when they were made.
    var validator = MessageValidator(book, now: values.now, isShallow: true) { _ in }
    validate(&validator)
    return !validator.violations.isEmpty || validator.hasSkippedRule
  }

  private mutating func canTryAgain() -> Bool {
    attemptCount += 1
    return attemptCount < Self.totalLimit
  }
}

extension ValueRules {
  /// The numbers of elements that the rules allow.
  fileprivate var counts: ClosedRange<UInt64> {
    demands.reduce(0...UInt64.max) { counts, demand in
      if case .count(let other) = demand { counts.clamped(to: other) } else { counts }
    }
  }
}

extension JSONValue {
  /// The name of a member of an object.
  fileprivate var plain: String { if case .string(let text) = self { text } else { text } }
}

extension Value {
  /// The value of a field that is not a list; nil if the JSON is not one.
  fileprivate init?(_ json: JSONValue, _ field: Field) {
    if let type = field.messageType {
      guard
        let message = try? Message(
          type, json: Array(json.text.utf8), options: JSONDecodingOptions(allowPartial: true))
      else { return nil }
      self = .message(message)
      return
    }
    func number<Number>(_ make: (String) -> Number?, _ value: (Number) -> Value) -> Value? {
      make(json.plain).map(value)
    }
    let found: Value? =
      switch field.kind {
      case .bool: .bool(json.plain == "true")
      case .string: .string(json.plain)
      case .bytes: Base64.decode(json.plain).map { .bytes($0) }
      case .enumeration: number(Int32.init, Value.enum)
      case .double: number(Double.init, Value.double)
      case .float: number(Float.init, Value.float)
      case .int32, .sint32, .sfixed32: number(Int32.init, Value.int32)
      case .int64, .sint64, .sfixed64: number(Int64.init, Value.int64)
      case .uint32, .fixed32: number(UInt32.init, Value.uint32)
      case .uint64, .fixed64: number(UInt64.init, Value.uint64)
      case .message, .group: nil
      }
    guard let found else { return nil }
    self = found
  }
}
