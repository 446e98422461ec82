import RPCurlBase
import RPCurlProtobuf

/// Compares JSON values under rules.
///
/// Values in order take linear time, and lists without order n log n: equal elements have one form. If numbers may differ, or
/// elements need only some of their fields, elements are assigned to each other instead; the number of comparisons for
/// that is limited.
package struct JSONComparison {
  /// How much of a value is compared.
  enum Extent {
    case all
    /// Objects may have more members, and lists more elements, in any order.
    case part
  }

  /// A member of two objects.
  package typealias Pair = (name: String, expected: JSONValue?, got: JSONValue?)

  /// The maximum number of values that are compared to assign elements to each other: about a second.
  static let limit = 1_000_000

  let rules: ComparisonRules
  let extent: Extent
  /// Whether an expected string may be the integer of a number: JSON has integers of 64 bits as strings, and the type of the
  /// expected value is not known.
  let readsIntegers: Bool
  /// Whether comparisons count, because each value may be compared with many.
  var isLimited = false
  private var remaining = Self.limit

  init(_ rules: ComparisonRules, _ extent: Extent = .all, readsIntegers: Bool = false) {
    self.rules = rules
    self.extent = extent
    self.readsIntegers = readsIntegers
  }

  /// Whether the elements of lists may have another order.
  var ignoresOrder: Bool { rules.isUnordered || extent == .part }
  /// Whether equal values have the same canonical form.
  private var isTransitive: Bool { rules.tolerance == nil && extent == .all && !readsIntegers }

  /// Whether a value is as expected.
  ///
  /// - Throws: ``LanguageError`` if the lists are too large to be compared without order.
  mutating func holds(_ expected: JSONValue, _ got: JSONValue) throws(LanguageError) -> Bool {
    if isLimited { try count(1) }
    switch (expected, got) {
    case (.null, .null): return true
    case (.bool(let one), .bool(let other)): return one == other
    case (.number(let one), .number(let other)): return agree(one, other)
    case (.string(let one), .number(let other)):
      return readsIntegers && Int128(one) != nil && agree(one, other)
    case (.string(let one), .string(let other)):
      if isLimited { try count(one.utf8.count / 64) }
      return one.hasBytes(of: other)
    // Of a part, an empty list is expected in an empty list or map only: all lists have its elements.
    case (.array(let some), _) where extent == .part && some.isEmpty: return got.isEmpty
    case (.array(let some), .array(let others)): return try elementsHold(some, others)
    case (.object(let some), .object(let others)):
      guard extent == .part || some.count == others.count else { return false }
      for pair in Self.pairs(some, others) {
        switch (pair.expected, pair.got) {
        case (let one?, let other?): guard try holds(one, other) else { return false }
        case (let one?, nil): guard extent == .part, one == .null else { return false }
        case (nil, _): guard extent == .part else { return false }
        }
      }
      return true
    default: return false
    }
  }

  private mutating func count(_ steps: Int) throws(LanguageError) {
    remaining -= steps
    guard remaining < 0 else { return }
    throw LanguageError(
      "the lists are too large to be compared without order", hint: "compare them in order, or a part of them"
    )
  }

  private mutating func elementsHold(
    _ expected: [JSONValue], _ got: [JSONValue]
  ) throws(LanguageError) -> Bool {
    guard extent == .part ? expected.count <= got.count : expected.count == got.count else { return false }
    if ignoresOrder { return try assignment(expected, got).allSatisfy { $0 != nil } }
    for (one, other) in zip(expected, got) {
      guard try holds(one, other) else { return false }
    }
    return true
  }

  // MARK: Numbers

  private func agree(_ expected: String, _ got: String) -> Bool {
    guard let tolerance = rules.tolerance, let one = Double(expected), let other = Double(got) else {
      return Self.canonical(number: expected) == Self.canonical(number: got)
    }
    let bound =
      switch tolerance {
      case .absolute(let bound): bound
      case .relative(let part): part * abs(one)
      }
    if let one = Int128(expected), let other = Int128(got) {
      let difference = one.subtractingReportingOverflow(other)
      return !difference.overflow && Double(difference.partialValue.magnitude) <= bound
    }
    // Decimal fractions are not exact: 1.1 is within 0.1 of 1.
    return abs(one - other) <= bound + max(abs(one), abs(other)) * Double.ulpOfOne * 2
  }

  /// One text for all forms of a number. Integers of 64 bits are exact; other numbers are those of a `double`.
  private static func canonical(number text: String) -> String {
    let real = Double(text)
    if let whole = Int128(text) ?? real.flatMap({ Int128(exactly: $0) }),
      (Int128(Int64.min)...Int128(UInt64.max)).contains(whole)
    {
      return "\(whole)"
    }
    return real.map { "\($0)" } ?? text
  }

  // MARK: Objects

  /// The members of two objects by name: those of the first in their order, then others of the second.
  package static func pairs(_ expected: [JSONValue.Member], _ got: [JSONValue.Member]) -> [Pair] {
    // Messages of one type have their fields in one order.
    if expected.count == got.count, zip(expected, got).allSatisfy({ $0.name.hasBytes(of: $1.name) }) {
      return zip(expected, got).map { ($0.name, $0.value, $1.value) }
    }
    var others = positions(of: got.map(\.name))
    var pairs: [Pair] = expected.map { member in
      (member.name, member.value, others[Array(member.name.utf8)]?.popLast().map { got[$0].value })
    }
    for index in others.values.joined().sorted() { pairs.append((got[index].name, nil, got[index].value)) }
    return pairs
  }

  /// The positions of each text, the first one last.
  private static func positions(of texts: [String]) -> [[UInt8]: [Int]] {
    // By bytes, because equality of strings normalizes characters.
    Dictionary(grouping: texts.indices.reversed()) { Array(texts[$0].utf8) }
  }

  // MARK: Lists without order

  /// For each expected element the position of an element that is as expected, each used once; nil for those that
  /// are missing. As many as possible are found.
  mutating func assignment(_ expected: [JSONValue], _ got: [JSONValue]) throws(LanguageError) -> [Int?] {
    guard !isTransitive else { return Self.assignment(canonical: expected, got) }
    let wasLimited = isLimited
    isLimited = true
    defer { isLimited = wasLimited }
    var found = [Int?](repeating: nil, count: expected.count)
    var owners = [Int?](repeating: nil, count: got.count)
    // Most elements are in their place.
    for index in expected.indices where index < got.count {
      guard try holds(expected[index], got[index]) else { continue }
      found[index] = index
      owners[index] = index
    }
    for index in expected.indices where found[index] == nil {
      try assign(index, expected, got, &found, &owners)
    }
    return found
  }

  /// Finds an element for one more expected element, and others for those that had it: an augmenting path.
  private mutating func assign(
    _ root: Int, _ expected: [JSONValue], _ got: [JSONValue], _ found: inout [Int?], _ owners: inout [Int?]
  ) throws(LanguageError) {
    // For each position of `got` that was reached, the expected element from which it was.
    var origins = [Int?](repeating: nil, count: got.count)
    var queue = [root]
    var next = 0
    while next < queue.count {
      let index = queue[next]
      next += 1
      for position in got.indices where origins[position] == nil {
        guard try holds(expected[index], got[position]) else { continue }
        origins[position] = index
        if let owner = owners[position] {
          queue.append(owner)
          continue
        }
        var free: Int? = position
        while let position = free, let index = origins[position] {
          free = found[index]
          found[index] = position
          owners[position] = index
        }
        return
      }
    }
  }

  private static func assignment(canonical expected: [JSONValue], _ got: [JSONValue]) -> [Int?] {
    var others = positions(of: got.map(canonical))
    return expected.map { others[Array(canonical($0).utf8)]?.popLast() }
  }

  /// One text for all values that are equal without order.
  private static func canonical(_ value: JSONValue) -> String {
    switch value {
    case .null, .bool, .string: return value.text
    case .number(let text): return canonical(number: text)
    case .array(let elements): return "[\(sorted(elements.map(canonical)))]"
    case .object(let members):
      return "{\(sorted(members.map { "\(JSONValue.quoted($0.name)):\(canonical($0.value))" }))}"
    }
  }

  /// Texts in the order of their bytes.
  private static func sorted(_ texts: [String]) -> String {
    texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: ",")
  }
}

extension JSONValue {
  /// The value, its numbers without fractions.
  var truncated: JSONValue {
    switch self {
    case .number(let text):
      guard Int128(text) == nil,
        let whole = Double(text).flatMap({ Int128(exactly: $0.rounded(.towardZero)) })
      else { return self }
      return .number("\(whole)")
    case .array(let elements): return .array(elements.map(\.truncated))
    case .object(let members):
      return .object(members.map { JSONValue.Member(name: $0.name, value: $0.value.truncated) })
    case .null, .bool, .string: return self
    }
  }

  fileprivate var isEmpty: Bool {
    switch self {
    case .array(let elements): elements.isEmpty
    case .object(let members): members.isEmpty
    case .null, .bool, .number, .string: false
    }
  }
}
