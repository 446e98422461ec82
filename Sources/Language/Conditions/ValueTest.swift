import RPCurlBase
import RPCurlProtobuf

/// A condition, prepared for values of a type.
struct ValueTest {
  /// The largest golden file, in bytes.
  private static let goldenLimitBytes = 64 << 20

  private let condition: ValueCondition
  private let type: ValueType
  /// Whether the condition is about a list of values of the type.
  private let isList: Bool
  private let files: any GoldenFiles
  /// The content of the golden file; nil without one.
  private var content: [UInt8]?
  /// The expected value; nil if the condition has no value, or its golden file does not exist yet.
  private var expected: JSONValue?
  private var comparable: ComparableValue?
  private var rules = ComparisonRules.exact

  /// Prepares a condition.
  ///
  /// - Throws: ``LanguageError`` if it cannot be met by values of the type.
  init(
    _ condition: ValueCondition, _ type: ValueType, isList: Bool, _ files: any GoldenFiles
  ) throws(LanguageError) {
    self.condition = condition
    self.type = type
    self.isList = isList
    self.files = files
    switch condition.test {
    case .compare(let comparison, let operand):
      if comparison.isAboutOrder, isList || type.isList {
        throw LanguageError("\(comparison.rawValue) is not a comparison of lists")
      }
      var literal: JSONValue
      (literal, rules) = try type.read(operand, isList: isList, isPart: false)
      guard comparison.isAboutOrder else {
        (expected, comparable) = try normal(literal)
        try checkTolerance()
        return
      }
      guard rules == .exact else {
        throw LanguageError("\(comparison.rawValue) cannot be followed by unordered or within")
      }
      if case .text = type, case .string(let text) = literal, ComparableValue(number: text) != nil {
        literal = .number(text)
      }
      (expected, comparable) = try normal(literal)
      guard comparable == nil else { return }
      throw LanguageError(
        "\(comparison.rawValue) requires a number, text, bytes, an enum, a timestamp or a duration")
    case .contains(let operand):
      let (literal, rules) = try type.read(operand, isList: isList, isPart: true)
      self.rules = rules
      expected = try part(literal)
      try checkTolerance()
    case .golden(let path, let rules):
      self.rules = rules
      try readGolden(path.literal ?? "")
      try checkTolerance()
    case .sorted where !isList && !type.isList:
      guard case .field(let field, _, _) = type, field.messageType == nil || field.isMap else { return }
      throw LanguageError("\(condition) requires a list", hint: "[] in a path means all elements")
    case .matches, .exists, .kind, .size, .sorted: return
    }
  }

  // MARK: The expected value

  private func normal(_ literal: JSONValue) throws(LanguageError) -> (JSONValue, ComparableValue?) {
    guard isList else { return try normal(one: literal) }
    guard case .array(let elements) = literal else {
      throw LanguageError(
        "the values are compared with a JSON list, not with \(literal.text.cut(toBytes: 200))")
    }
    var normal: [JSONValue] = []
    for element in elements { normal.append(try self.normal(one: element).0) }
    return (.array(normal), nil)
  }

  /// A value of the type in the form in which it is compared.
  ///
  /// - Parameter isPart: Whether only what the literal names is compared.
  private func normal(
    one literal: JSONValue, isPart: Bool = false
  ) throws(LanguageError) -> (JSONValue, ComparableValue?) {
    // The number of an integer may have a fraction, if others are near.
    let isNear = rules.tolerance != nil
    let (full, comparable) = try type.normal(isNear ? literal.truncated : literal, options(isPart: isPart))
    guard isPart || isNear else { return (full, comparable) }
    return (type.merge(literal, full, isPart: isPart, isNear: isNear), comparable)
  }

  /// The form in which values are compared: 64-bit integers are numbers. Zeros are written if they are parts, or if others are
  /// near.
  private func options(isPart: Bool) -> JSONEncodingOptions {
    JSONEncodingOptions(emitDefaults: isPart || rules.tolerance != nil, int64s: .numbers)
  }

  /// Throws if a tolerance has no effect.
  private func checkTolerance() throws(LanguageError) {
    guard rules.tolerance != nil, !type.hasNumbers else { return }
    throw LanguageError(
      "within is for numbers, which the value does not contain",
      hint: "for times, write two conditions with > and <")
  }

  /// The part that a value is expected to contain.
  private func part(_ literal: JSONValue) throws(LanguageError) -> JSONValue {
    var literal = literal
    let isAboutList = isList || type.isList
    if isAboutList {
      // One element needs no brackets.
      if case .array = literal {} else { literal = .array([literal]) }
    } else if case .string = literal {
      return literal
    }
    if type.isAny, literal["@type"] == nil { return literal }
    guard isList, case .array(let elements) = literal else { return try normal(one: literal, isPart: true).0 }
    var parts: [JSONValue] = []
    for element in elements { parts.append(try normal(one: element, isPart: true).0) }
    return .array(parts)
  }

  /// Reads the golden file. One that does not exist, or has no value of the type, is not an error if it is updated.
  private mutating func readGolden(_ path: String) throws(LanguageError) {
    do throws(SystemError) { content = try files.read(path) } catch {
      throw LanguageError("\(path): \(error.reason)")
    }
    guard let content else {
      if files.isUpdating { return }
      throw LanguageError("\(path) does not exist", hint: "--update writes it")
    }
    guard content.count <= Self.goldenLimitBytes else {
      throw LanguageError("\(path) is larger than \(Self.goldenLimitBytes >> 20) MiB")
    }
    do {
      expected = try normal(JSONValue(parsing: content)).0
    } catch {
      if files.isUpdating { return }
      let error = error as? LanguageError ?? LanguageError("\(error)")
      throw LanguageError("\(path): \(error.reason)", hint: error.hint ?? "--update writes it")
    }
  }

  // MARK: Values

  /// Checks values: one, or those of a list. If golden files are updated, the file gets values that differ from it.
  ///
  /// - Parameters:
  ///   - values: The values.
  ///   - areLast: Whether no other values can meet the condition: a golden file may be equal to those.
  /// - Returns: What differs; nil if the condition holds.
  func check(_ values: [CheckedValue], areLast: Bool = true) throws(LanguageError) -> Mismatch? {
    if let typed = typed(for: values) { return try typed.check(values, areLast: areLast) }
    guard case .golden(let path, _) = condition.test, files.isUpdating else { return try mismatch(values) }
    // Values before these may have changed the file.
    let current = try ValueTest(condition, type, isList: isList, files)
    var content = current.content ?? []
    if let mismatch = try current.mismatch(values) {
      guard areLast else { return mismatch }
      content = Array((try json(values, JSONEncodingOptions()).prettyText + "\n").utf8)
    }
    let name = path.literal ?? ""
    do throws(SystemError) { try files.write(name, content) } catch {
      throw LanguageError("\(name): \(error.reason)")
    }
    return nil
  }

  /// The test with the type that values in the content of an Any have; nil without one, or if it cannot be met by values of
  /// this type.
  private func typed(for values: [CheckedValue]) -> ValueTest? {
    if case .untyped = type {
      let leaves = values.compactMap(\.leaf)
      guard let leaf = leaves.first, leaves.allSatisfy(leaf.isSame) else { return nil }
      return try? ValueTest(condition, ValueType(leaf), isList: isList, files)
    }
    // A part of an Any need not name its type.
    guard type.isAny, !isList, case .contains = condition.test, case .object(let members)? = expected,
      expected?["@type"] == nil, let name = try? json(values)["@type"]
    else { return nil }
    var typed = self
    guard let part = try? part(.object([JSONValue.Member(name: "@type", value: name)] + members)) else {
      return nil
    }
    typed.expected = part
    return typed
  }

  private func mismatch(_ values: [CheckedValue]) throws(LanguageError) -> Mismatch? {
    switch condition.test {
    case .compare(let comparison, _) where !comparison.isAboutOrder:
      return try compare(values, isWanted: comparison == .equal)
    case .compare(let comparison, _):
      if let comparable, let value = values.first?.comparable(isNumber: comparable.isNumber),
        comparison.holds(value.order(to: comparable)) == true
      {
        return nil
      }
    case .exists(let isWanted): if values.contains(where: \.isSet) == isWanted { return nil }
    case .golden: return try compare(values, isWanted: true)
    case .contains: return try contains(values)
    case .matches(let operand, let isWanted):
      if try text(values).map({ operand.pattern?.isFound(in: $0) == true }) ?? false == isWanted {
        return nil
      }
    case .kind(let kind): if kind.includes(try json(values), values.first?.comparable()) { return nil }
    case .size(let bound):
      let size = try size(values)
      return size.map(bound.allows) == true
        ? nil : Mismatch("\(condition)", got: size.map { "size \($0)" } ?? "no value")
    case .sorted(let isAscending):
      guard let disorder = try disorder(values, isAscending: isAscending) else { return nil }
      return Mismatch("\(condition)", got: disorder)
    }
    return Mismatch("\(condition)", got: try shown(values))
  }

  private func json(
    _ values: [CheckedValue], _ options: JSONEncodingOptions = JSONEncodingOptions(int64s: .numbers)
  ) throws(LanguageError) -> JSONValue {
    var found: [JSONValue] = []
    for value in values { found.append(try value.json(options)) }
    return isList ? .array(found) : found.first ?? .null
  }

  /// The values for people.
  private func shown(_ values: [CheckedValue]) throws(LanguageError) -> String {
    if !isList, case .missing? = values.first { return "no value" }
    return try json(values).text
  }

  // MARK: Comparisons

  private func comparison(_ extent: JSONComparison.Extent) -> JSONComparison {
    // The parts of an Any that do not name its type are as they are written.
    let readsIntegers = if case .untyped = type { true } else { extent == .part && type.isAny }
    return JSONComparison(rules, extent, readsIntegers: readsIntegers)
  }

  private func compare(
    _ values: [CheckedValue], isWanted: Bool
  ) throws(LanguageError) -> Mismatch? {
    guard let expected else { return Mismatch("\(condition)", got: try shown(values)) }
    var comparison = self.comparison(.all)
    let got = try json(values, options(isPart: false))
    guard try comparison.holds(expected, got) != isWanted else { return nil }
    guard isWanted else { return Mismatch("!= \(expected.text)\(rules.text)", got: try shown(values)) }
    return try mismatch(expected, got, shown: shown(values), comparison)
  }

  private func mismatch(
    _ expected: JSONValue, _ got: JSONValue, shown: String, _ comparison: JSONComparison
  ) throws(LanguageError) -> Mismatch {
    let words = comparison.extent == .part ? "a value that contains \(expected.text)" : expected.text
    let hasLines =
      switch (expected, got) {
      case (.object, .object), (.array, .array): true
      default: false
      }
    return Mismatch(
      words + comparison.rules.text, got: shown,
      diff: hasLines ? try JSONDiff.text(expected, got, comparison) : nil)
  }

  private func contains(_ values: [CheckedValue]) throws(LanguageError)
    -> Mismatch?
  {
    guard let expected else { return nil }
    let got = try json(values, options(isPart: true))
    var comparison = self.comparison(.part)
    switch (got, expected) {
    case (.null, _): break
    case (.string(let text), .string(let part)):
      if type.isBytes {
        guard let bytes = Base64.decode(part) else {
          throw LanguageError("\(expected.text) is not base64, as the value is")
        }
        if Base64.decode(text)?.contains(bytes) == true { return nil }
      } else if text.contains(part) {
        return nil
      }
    case (.array, .array), (.object, .object): if try comparison.holds(expected, got) { return nil }
    // A list in a Value: one element needs no brackets.
    case (.array, _): if try comparison.holds(.array([expected]), got) { return nil }
    default:
      throw LanguageError(
        "\(got.kindName) cannot contain \(expected.kindName)",
        hint: "contains is for a part of text, elements of a list, or members of an object")
    }
    return try mismatch(expected, got, shown: shown(values), comparison)
  }

  // MARK: Properties

  /// The text of a scalar; nil if it is missing.
  private func text(_ values: [CheckedValue]) throws(LanguageError) -> String? {
    let value = try json(values)
    switch value {
    case .null: return nil
    case .string(let text): return text
    case .bool, .number: return value.text
    case .array, .object: throw LanguageError("a regular expression requires text, not \(value.kindName)")
    }
  }

  private func size(_ values: [CheckedValue]) throws(LanguageError) -> Int? {
    let value = try json(values)
    switch value {
    case .null: return nil
    case .string(let text):
      return type.isBytes ? Base64.decode(text)?.count : text.unicodeScalars.count
    case .array(let elements): return elements.count
    case .object(let members): return members.count
    case .bool, .number:
      throw LanguageError("size requires text, bytes, a list or a map, not \(value.kindName)")
    }
  }

  /// The first two neighbors in another order; nil if all have the order.
  private func disorder(_ values: [CheckedValue], isAscending: Bool) throws(LanguageError) -> String? {
    var elements = isList ? values.map { $0.comparable() } : nil
    if elements == nil { elements = try values.first?.elements() }
    guard let elements else {
      if case .missing? = values.first { return "no value" }
      throw LanguageError("\(condition) requires a list", hint: "[] in a path means all elements")
    }
    for index in elements.indices.dropFirst() {
      guard let one = elements[index - 1], let other = elements[index] else {
        throw LanguageError("\(condition) requires values that have an order, such as numbers and text")
      }
      switch isAscending ? one.order(to: other) : other.order(to: one) {
      case .before, .same: continue
      case .after, .none:
        guard case .array(let shown) = try json(values), shown.indices.contains(index) else { return "" }
        return "\(shown[index - 1].text) before \(shown[index].text), at index \(index)"
      }
    }
    return nil
  }
}
