import RPCurlCEL
import RPCurlLanguage
import RPCurlProtobuf

/// The compiled rules of a field, or of the elements, keys or values of one.
package struct ValueRules: Sendable {
  /// Whether nothing is validated, not even the messages in it.
  var isIgnored = false
  /// Whether the rules do not apply to a field that is not set, or to an element that is zero.
  var ignoresZero = false
  /// Whether the rules do not apply to a zero value that is set either.
  var ignoresEmpty = false
  /// Whether the field must be set.
  package internal(set) var isRequired = false
  /// The rules of the value; those of a list or map apply to it as a whole.
  var rules: [Rule] = []
  /// The rules of the elements of a list; empty or one.
  package internal(set) var items: [ValueRules] = []
  /// The rules of the keys of a map; empty or one.
  package internal(set) var keys: [ValueRules] = []
  /// The rules of the values of a map; empty or one.
  package internal(set) var values: [ValueRules] = []
  /// Whether the messages in it are validated by the rules of their types.
  var validatesMessages = false

  /// What the rules demand.
  package var demands: [Demand] { rules.compactMap(\.demand) }

  /// Whether there is nothing to validate.
  var isEmpty: Bool {
    isIgnored
      || !isRequired && !validatesMessages && rules.isEmpty && items.isEmpty && keys.isEmpty && values.isEmpty
  }
}

/// Compiles the rules of fields. Rules that cannot be compiled are reported, and skipped.
struct RuleCompiler {
  /// The number of the extensions `field`, `message` and `oneof` of `buf.validate`.
  static let extensionNumber: UInt32 = 1159

  /// The types of `buf.validate.FieldRules` by the numbers of their fields.
  private static let names: [UInt32: String] = [
    1: "float", 2: "double", 3: "int32", 4: "int64", 5: "uint32", 6: "uint64", 7: "sint32", 8: "sint64",
    9: "fixed32", 10: "fixed64", 11: "sfixed32", 12: "sfixed64", 13: "bool", 14: "string", 15: "bytes",
    16: "enum", 18: "repeated", 19: "map", 20: "any", 21: "duration", 22: "timestamp", 28: "field_mask",
  ]

  private static let kinds: [FieldKind: UInt32] = [
    .float: 1, .double: 2, .int32: 3, .int64: 4, .uint32: 5, .uint64: 6, .sint32: 7, .sint64: 8, .fixed32: 9,
    .fixed64: 10, .sfixed32: 11, .sfixed64: 12, .bool: 13, .string: 14, .bytes: 15, .enumeration: 16,
  ]

  private static let messages: [String: UInt32] = [
    "google.protobuf.Any": 20, "google.protobuf.Duration": 21, "google.protobuf.Timestamp": 22,
    "google.protobuf.FieldMask": 28,
  ]

  /// The type that has the fields.
  let type: MessageType
  /// Why rules were skipped, with the names of fields.
  private(set) var problems: [String] = []
  /// Whether the rules of protoc-gen-validate do not apply.
  private let olderAreDisabled: Bool

  /// Makes a compiler for the fields of a type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - olderAreDisabled: Whether only fields with rules of protovalidate are validated.
  init(_ type: MessageType, olderAreDisabled: Bool) {
    self.type = type
    self.olderAreDisabled = olderAreDisabled
  }

  /// Compiles the rules of a field.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - place: The name of the field with its type, for problems.
  mutating func compile(_ field: Field, place: String) -> ValueRules {
    let all = WireFields(field.options)
    let older = olderAreDisabled ? nil : OlderRules.translated(all, isInOneof: field.oneofIndex != nil)
    let options = all.message(Self.extensionNumber) ?? older
    if olderAreDisabled, options == nil { return ValueRules() }
    guard field.isRepeated else { return compile(options, of: field, place: place) }
    var result = ValueRules()
    if let options { compileCommon(options, of: field, place: place, into: &result) }
    let own: UInt32 = field.isMap ? 19 : 18
    let typed = options.flatMap { rules(of: $0, expected: own, field, place: place) }
    if let typed, field.isMap {
      result.rules += sizes(typed, 1, 2) { (order, bound) in
        ("map.\(order)_pairs", "map must be at \(order == "min" ? "least" : "most") \(bound) entries")
      }
    } else if let typed {
      result.rules += sizes(typed, 1, 2) { (order, bound) in
        (
          "repeated.\(order)_items",
          "must contain \(order == "min" ? "at least" : "no more than") \(bound) item(s)"
        )
      }
      if typed.flag(3) { compileUnique(field, place: place, into: &result) }
    }
    if let typed { result.rules += predefined(typed, own, field, place: place) }
    if let key = field.mapKey, let value = field.mapValue {
      result.keys = element(typed?.message(4), of: key, place: "the keys of \(place)")
      result.values = element(typed?.message(5), of: value, place: "the values of \(place)")
    } else {
      result.items = element(typed?.message(4), of: field, place: "the items of \(place)")
    }
    return result
  }

  private mutating func element(_ options: WireFields?, of field: Field, place: String) -> [ValueRules] {
    let rules = compile(options, of: field, place: place)
    return rules.isEmpty ? [] : [rules]
  }

  /// Compiles the rules of a single value.
  private mutating func compile(_ options: WireFields?, of field: Field, place: String) -> ValueRules {
    var result = ValueRules()
    let type = field.messageType
    // The well-known types have no rules of their own.
    result.validatesMessages = type.map { !$0.name.hasPrefix("google.protobuf.") } ?? false
    guard let options else { return result }
    compileCommon(options, of: field, place: place, into: &result)
    if options.flag(OlderRules.skip) { result.validatesMessages = false }
    var kind = field.kind
    var wrapped: Field?
    if let type, case .wrapper? = try? type.wellKnown(), let value = try? type.fields().first {
      wrapped = value
      kind = value.kind
    }
    let expected = Self.kinds[kind] ?? type.flatMap { Self.messages[$0.name] } ?? 0
    guard let typed = rules(of: options, expected: expected, field, place: place) else { return result }
    var found: [String] = []
    let rules = standardRules(typed, number: expected, kind: kind, field, problems: &found)
    problems += found.map { "\(place): \($0)" }
    result.rules += wrapped.map { value in rules.map { $0.unwrapping(value) } } ?? rules
    result.rules += predefined(typed, expected, field, place: place)
    return result
  }

  /// Reads what all types have in common.
  private mutating func compileCommon(
    _ options: WireFields, of field: Field, place: String, into result: inout ValueRules
  ) {
    result.isRequired = options.flag(25)
    result.ignoresEmpty = options.bits(27) == OlderRules.ignoresEmpty
    result.ignoresZero = options.bits(27) == 1 || result.ignoresEmpty
    result.isIgnored = options.bits(27) == 3
    result.rules = CELRules.compile(options, texts: 29, rules: 23, field) {
      problems.append("\(place): \($0)")
    }
  }

  /// The rules of the type of a field; nil, with a problem, if the options have those of another type.
  private mutating func rules(
    of options: WireFields, expected: UInt32, _ field: Field, place: String
  ) -> WireFields? {
    guard let number = options.records.last(where: { Self.names[$0.number] != nil })?.number else {
      return nil
    }
    guard number == expected else {
      let type =
        field.isMap ? "a map" : field.isRepeated ? "a list" : field.messageType?.name ?? field.kind.protoName
      problems.append("\(place): the rules are for \(Self.names[number] ?? ""), but the type is \(type)")
      return nil
    }
    return options.message(number)
  }

  /// The predefined rules among the rules of a type.
  private mutating func predefined(
    _ options: WireFields, _ number: UInt32, _ field: Field, place: String
  ) -> [Rule] {
    // The names of the types of rules: `Int32Rules`, `UInt64Rules`, `FieldMaskRules`.
    let name = Self.names[number] ?? ""
    let words = name.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    let prefixed = ["u", "s"].contains(name.prefix(1)) && name.contains("int") || name.hasPrefix("sfixed")
    let typeName = prefixed ? name.prefix(2).uppercased() + name.dropFirst(2) : words
    return CELRules.predefined(options, typeName: "buf.validate.\(typeName)Rules", field, in: type) {
      problems.append("\(place): \($0)")
    }
  }

  private func sizes(
    _ options: WireFields, _ least: UInt32, _ most: UInt32,
    _ texts: (_ order: String, _ bound: UInt64) -> (id: String, message: String)
  ) -> [Rule] {
    [(least, "min"), (most, "max")].compactMap { number, order in
      guard let bound = options.bits(number) else { return nil }
      let (id, message) = texts(order, bound)
      return Rule(id, demanding: .count(order == "min" ? bound...UInt64.max : 0...bound)) { contents, _ in
        let count = UInt64(contents.count)
        return (order == "min" ? count >= bound : count <= bound) ? nil : message
      }
    }
  }

  private mutating func compileUnique(_ field: Field, place: String, into result: inout ValueRules) {
    guard field.messageType == nil else {
      problems.append("\(place): repeated.unique does not apply to messages")
      return
    }
    result.rules.append(
      Rule("repeated.unique", demanding: .unique) { contents, _ in
        guard case .list(let values) = contents else { return nil }
        var seen: Set<[UInt8]> = []
        let isUnique = values.allSatisfy { value in value.identity.map { seen.insert($0).inserted } ?? true }
        return isUnique ? nil : "repeated value must contain unique items"
      })
  }

  private func standardRules(
    _ options: WireFields, number: UInt32, kind: FieldKind, _ field: Field, problems: inout [String]
  ) -> [Rule] {
    switch number {
    case 1...12: OrderRules.compile(options, name: Self.names[number] ?? "", kind: kind, form: .number)
    case 13: OtherRules.bool(options)
    case 14: TextRules.compile(options, isText: true, problems: &problems)
    case 15: TextRules.compile(options, isText: false, problems: &problems)
    case 16: OtherRules.enumeration(options, field.enumType)
    case 20: OtherRules.any(options)
    case 21: OrderRules.compile(options, name: "duration", kind: .message, form: .duration)
    case 22: OrderRules.compile(options, name: "timestamp", kind: .message, form: .timestamp)
    case 28: OtherRules.fieldMask(options)
    default: []
    }
  }
}

extension FieldContents {
  /// The number of elements of a list or of entries of a map.
  var count: Int {
    switch self {
    case .list(let values): values.count
    case .map(let entries): entries.count
    case .unset, .value: 0
    }
  }
}

extension Rule {
  /// The rule for the value in a message such as `google.protobuf.StringValue`.
  fileprivate func unwrapping(_ field: Field) -> Rule {
    Rule(id, demanding: demand) { [test] (contents, run) throws(LanguageError) in
      guard case .value(.message(let message)) = contents else { return nil }
      var inner = message.contents(of: field)
      if case .unset = inner, let zero = field.defaultValue { inner = .value(zero) }
      return try test(inner, &run)
    }
  }
}

extension Value {
  /// Bytes that are equal for equal scalars of one type; nil if the value equals no other.
  fileprivate var identity: [UInt8]? {
    switch self {
    case .bool(let value): [value ? 1 : 0]
    case .string(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    case .message: nil
    default:
      switch Ordinal(self) {
      case .integer(let number)?: Array("\(number)".utf8)
      // Zero equals minus zero.
      case .real(let number)?: number.isNaN ? nil : Array("\((number + 0).bitPattern)".utf8)
      case nil: nil
      }
    }
  }
}
