import RPCurlProtobuf

/// Writes the lines in which two JSON values differ under rules.
struct JSONDiff {
  /// The largest number of pairs of elements that are compared to find those that were inserted or removed.
  private static let pairLimit = 40_000

  private var comparison: JSONComparison
  private var lines: DiffLines

  /// The lines that differ, with some lines around them; nil if the value is as expected.
  ///
  /// - Parameters:
  ///   - context: The number of equal lines before and after each difference.
  ///   - limitBytes: The length at which the text may end early.
  static func text(
    _ expected: JSONValue, _ got: JSONValue, _ comparison: JSONComparison, context: Int = 3,
    limitBytes: Int = Mismatch.limitBytes
  ) throws(LanguageError) -> String? {
    var diff = JSONDiff(comparison, DiffLines(context: context, limitBytes: limitBytes))
    guard try !diff.comparison.holds(expected, got) else { return nil }
    do throws(LanguageError) {
      try diff.writeDifference(expected, got, Place(name: "", level: 0, isLast: true))
      return diff.lines.text
    } catch {
      return diff.lines.text + "\n… (\(error.reason))"
    }
  }

  private init(_ comparison: JSONComparison, _ lines: DiffLines) {
    self.comparison = comparison
    self.lines = lines
  }

  /// Where a value is.
  private struct Place {
    /// The name of the member, with a colon.
    let name: String
    let level: Int
    let isLast: Bool

    /// What follows the value.
    var end: String { isLast ? "" : "," }
  }

  private mutating func write(_ expected: JSONValue, _ got: JSONValue, _ place: Place) throws(LanguageError) {
    if lines.isFull { return }
    guard try !comparison.holds(expected, got) else {
      // Of a part, the rest is not compared.
      return add(.same, comparison.extent == .part ? expected : got, place)
    }
    try writeDifference(expected, got, place)
  }

  private mutating func writeDifference(
    _ expected: JSONValue, _ got: JSONValue, _ place: Place
  ) throws(LanguageError) {
    switch (expected, got) {
    case (.object(let some), .object(let others)):
      let pairs = JSONComparison.pairs(some, others)
        .filter { comparison.extent == .all || $0.expected != nil }
      lines.add(.same, place.level, "\(place.name){")
      for (index, pair) in pairs.enumerated() {
        let inner = Place(
          name: "\(JSONValue.quoted(pair.name)): ", level: place.level + 1, isLast: index == pairs.count - 1)
        try write(pair.expected, pair.got, inner)
      }
      lines.add(.same, place.level, "}\(place.end)")
    case (.array(let some), .array(let others)) where comparison.extent == .all || !some.isEmpty:
      lines.add(.same, place.level, "\(place.name)[")
      let pairs = comparison.ignoresOrder ? try unordered(some, others) : try ordered(some, others)
      for (index, pair) in pairs.enumerated() {
        let inner = Place(name: "", level: place.level + 1, isLast: index == pairs.count - 1)
        try write(pair.expected, pair.got, inner)
      }
      lines.add(.same, place.level, "]\(place.end)")
    default:
      add(.expected, expected, place)
      add(.got, got, place)
    }
  }

  private mutating func write(_ expected: JSONValue?, _ got: JSONValue?, _ place: Place)
    throws(LanguageError)
  {
    switch (expected, got) {
    case (let one?, let other?): try write(one, other, place)
    // A part expects `null` where the value has no member.
    case (.null?, nil) where comparison.extent == .part: add(.same, .null, place)
    case (let one?, nil): add(.expected, one, place)
    case (nil, let other?): add(.got, other, place)
    case (nil, nil): break
    }
  }

  private mutating func add(_ mark: DiffLines.Mark, _ value: JSONValue, _ place: Place) {
    value.forEachLine(level: place.level, name: place.name, end: place.end) { level, line in
      lines.add(mark, level, line)
    }
  }

  // MARK: Lists

  private typealias Pair = (expected: JSONValue?, got: JSONValue?)

  /// The elements that correspond to each other, in the order of the expected list, then those that are not expected.
  private mutating func unordered(_ expected: [JSONValue], _ got: [JSONValue]) throws(LanguageError)
    -> [Pair]
  {
    let found = try comparison.assignment(expected, got)
    var isUsed = [Bool](repeating: false, count: got.count)
    for case let position? in found { isUsed[position] = true }
    var others = got.indices.filter { !isUsed[$0] }
    // Of one element on each side, the difference is shown.
    let missing = found.count { $0 == nil }
    let single = others.count == 1 && missing == 1 ? others.first : nil
    // Of a part, the others are shown where an element is missing.
    if single != nil || comparison.extent == .part && missing == 0 { others = [] }
    var pairs: [Pair] = []
    for (element, position) in zip(expected, found) {
      pairs.append((element, (position ?? single).map { got[$0] }))
    }
    for position in others { pairs.append((nil, got[position])) }
    return pairs
  }

  /// The elements that correspond to each other: a longest common subsequence, and between its elements as many
  /// pairs as there are.
  private mutating func ordered(_ expected: [JSONValue], _ got: [JSONValue]) throws(LanguageError) -> [Pair] {
    var start = 0
    let shorter = min(expected.count, got.count)
    while start < shorter, try comparison.holds(expected[start], got[start]) { start += 1 }
    var ends = (expected.count, got.count)
    while ends.0 > start, ends.1 > start, try comparison.holds(expected[ends.0 - 1], got[ends.1 - 1]) {
      ends = (ends.0 - 1, ends.1 - 1)
    }
    var pairs: [Pair] = (0..<start).map { (expected[$0], got[$0]) }
    var (one, other) = (start, start)
    for common in commonElements(expected[start..<ends.0], got[start..<ends.1]) + [ends] {
      let (removed, added) = (one..<common.0, other..<common.1)
      for offset in 0..<max(removed.count, added.count) {
        pairs.append(
          (
            offset < removed.count ? expected[removed.lowerBound + offset] : nil,
            offset < added.count ? got[added.lowerBound + offset] : nil
          ))
      }
      if common != ends { pairs.append((expected[common.0], got[common.1])) }
      (one, other) = (common.0 + 1, common.1 + 1)
    }
    for offset in 0..<(expected.count - ends.0) {
      pairs.append((expected[ends.0 + offset], got[ends.1 + offset]))
    }
    return pairs
  }

  /// The positions of a longest common subsequence; empty for large lists.
  private mutating func commonElements(
    _ expected: ArraySlice<JSONValue>, _ got: ArraySlice<JSONValue>
  ) -> [(Int, Int)] {
    guard !expected.isEmpty, !got.isEmpty, expected.count * got.count <= Self.pairLimit else { return [] }
    let wasLimited = comparison.isLimited
    comparison.isLimited = true
    defer { comparison.isLimited = wasLimited }
    // The lengths for the rest of both lists from each pair of positions on.
    let width = got.count + 1
    var lengths = [Int](repeating: 0, count: (expected.count + 1) * width)
    var isEqual = [Bool](repeating: false, count: lengths.count)
    for row in stride(from: expected.count - 1, through: 0, by: -1) {
      for column in stride(from: got.count - 1, through: 0, by: -1) {
        let place = row * width + column
        do throws(LanguageError) {
          isEqual[place] = try comparison.holds(
            expected[expected.startIndex + row], got[got.startIndex + column])
        } catch {
          return []
        }
        lengths[place] =
          isEqual[place]
          ? lengths[place + width + 1] + 1 : max(lengths[place + width], lengths[place + 1])
      }
    }
    var found: [(Int, Int)] = []
    var (row, column) = (0, 0)
    while row < expected.count, column < got.count {
      let place = row * width + column
      if isEqual[place] {
        found.append((expected.startIndex + row, got.startIndex + column))
        (row, column) = (row + 1, column + 1)
      } else if lengths[place + width] >= lengths[place + 1] {
        row += 1
      } else {
        column += 1
      }
    }
    return found
  }
}

extension Mismatch {
  /// How a value in JSON differs from another one.
  package init(_ expected: JSONValue, got: JSONValue) {
    let diff = (try? JSONDiff.text(expected, got, JSONComparison(ComparisonRules()))) ?? nil
    self.init(expected.text, got: got.text, diff: diff)
  }
}

/// The lines of a diff. Of equal lines, only those near a difference are kept.
private struct DiffLines {
  enum Mark: String {
    case same = "  "
    case expected = "- "
    case got = "+ "
  }

  private(set) var text = ""
  private let context: Int
  private let limitBytes: Int
  /// Equal lines that may precede a difference.
  private var before: [String] = []
  /// How many more equal lines follow the last difference.
  private var after = 0
  private var isSkipping = false

  init(context: Int, limitBytes: Int) {
    self.context = context
    self.limitBytes = limitBytes
  }

  var isFull: Bool { text.utf8.count > limitBytes }

  mutating func add(_ mark: Mark, _ level: Int, _ line: String) {
    guard !isFull else { return }
    let line = String(repeating: " ", count: level * 2) + line
    guard mark == .same, after == 0 else {
      if mark != .same {
        if isSkipping { append("  …") }
        isSkipping = false
        for line in before { append(Mark.same.rawValue + line) }
        before = []
        after = context
      } else {
        after -= 1
      }
      return append(mark.rawValue + line)
    }
    before.append(line)
    if before.count > context {
      before.removeFirst()
      isSkipping = true
    }
  }

  private mutating func append(_ line: String) {
    if !text.isEmpty { text += "\n" }
    text += line
  }
}

extension JSONValue {
  /// The text with each value on a line, indented by two blanks for each level.
  var prettyText: String {
    var lines: [String] = []
    forEachLine(level: 0, name: "", end: "") { level, line in
      lines.append(String(repeating: " ", count: level * 2) + line)
    }
    return lines.joined(separator: "\n")
  }

  /// Calls `body` with the level and the text of each line.
  ///
  /// - Parameters:
  ///   - level: The level of the value.
  ///   - name: What precedes the value.
  ///   - end: What follows the value.
  ///   - body: Receives a line.
  fileprivate func forEachLine(level: Int, name: String, end: String, _ body: (Int, String) -> Void) {
    let children: [(String, JSONValue)]
    let brackets: (String, String)
    switch self {
    case .array(let elements) where !elements.isEmpty:
      children = elements.map { ("", $0) }
      brackets = ("[", "]")
    case .object(let members) where !members.isEmpty:
      children = members.map { ("\(JSONValue.quoted($0.name)): ", $0.value) }
      brackets = ("{", "}")
    default: return body(level, name + text + end)
    }
    body(level, name + brackets.0)
    for (index, child) in children.enumerated() {
      child.1.forEachLine(
        level: level + 1, name: child.0, end: index == children.count - 1 ? "" : ",", body)
    }
    body(level, brackets.1 + end)
  }
}
