import Protobuf

extension ValueCondition {
  static let words = ["contains", "exists", "absent", "is", "size"]
  static let wordsOfJSON = ["ascending", "descending", "golden"]

  /// Parses a condition.
  ///
  /// - Parameters:
  ///   - text: The text after the name of the value.
  ///   - isJSON: Whether operands are JSON; otherwise they are text up to the end, which may be quoted as in JSON.
  init(_ text: Substring, isJSON: Bool) throws(LanguageError) {
    self.text = String(text)
    var rest = text
    if let comparison = Comparison.parse(from: &rest) {
      test = try Self.comparison(comparison, rest.stripped, isJSON: isJSON)
      return
    }
    let word = text.prefix { !$0.isWhitespace }
    rest = text[word.endIndex...].stripped
    switch word {
    case "exists" where rest.isEmpty: test = .exists(isWanted: true)
    case "absent" where rest.isEmpty: test = .exists(isWanted: false)
    case "contains" where isJSON:
      let (literal, rules) = try Self.literal(rest)
      test = .contains(literal, rules)
    case "contains" where !rest.isEmpty: test = .contains(.string(try Self.plain(rest)), .exact)
    case "is": test = .kind(try Self.kind(rest))
    case "size":
      do throws(LanguageError) {
        test = .size(try CountBound(rest))
      } catch {
        throw LanguageError("size \(error.reason)")
      }
    case "ascending" where rest.isEmpty && isJSON: test = .sorted(isAscending: true)
    case "descending" where rest.isEmpty && isJSON: test = .sorted(isAscending: false)
    case "golden" where isJSON:
      var path = rest
      let rules = Self.isJSON(path) ? .exact : try Self.rules(from: &path)
      guard !path.isEmpty else {
        throw LanguageError("golden requires a file", hint: "such as golden user.json")
      }
      test = .golden(try Self.plain(path), rules)
    default: throw Self.unknown(String(word), rest, isJSON: isJSON)
    }
  }

  private static func unknown(_ word: String, _ rest: Substring, isJSON: Bool) -> LanguageError {
    let known = isJSON ? words + wordsOfJSON : words
    let list = "conditions are ==, !=, <, <=, >, >=, =~, !~, \(known.joined(separator: ", "))"
    if word.isEmpty { return LanguageError("missing condition", hint: list) }
    if known.contains(word) {
      return LanguageError(
        rest.isEmpty ? "missing value after \(word)" : "unexpected text after \(word): \(rest)")
    }
    let nearest = DescriptorPool.nearestNames(to: word, among: known)
    return LanguageError(
      "unknown condition \(word.debugDescription)",
      hint: word.hasPrefix("=")
        ? "== compares, and =~ matches a regular expression"
        : nearest.isEmpty ? list : "did you mean \(nearest.joined(separator: ", or "))?")
  }

  // MARK: Operands

  private static func comparison(
    _ comparison: Comparison, _ operand: Substring, isJSON: Bool
  ) throws(LanguageError) -> Test {
    guard !operand.isEmpty else {
      throw LanguageError(
        "missing value after \(comparison.rawValue)", hint: isJSON ? nil : "an empty text is \"\"")
    }
    if comparison == .matches || comparison == .differs {
      do throws(LanguageError) {
        return .matches(try TextPattern(try pattern(operand)), isWanted: comparison == .matches)
      } catch {
        throw LanguageError(error.reason)
      }
    }
    guard isJSON else {
      let text = try plain(operand)
      let number = comparison.isAboutOrder ? ComparableValue(number: text) : nil
      return .compare(comparison, number == nil ? .string(text) : .number(text), .exact)
    }
    let (literal, rules) = try Self.literal(operand)
    guard !comparison.isAboutOrder || rules == .exact else {
      throw LanguageError("\(comparison.rawValue) cannot be followed by unordered or within")
    }
    return .compare(comparison, literal, rules)
  }

  /// A text, as it is or as a quoted JSON string.
  private static func plain(_ text: Substring) throws(LanguageError) -> String {
    guard text.utf8.first == UInt8(ascii: "\"") else { return String(text) }
    guard case .string(let content)? = try? JSONValue(parsing: Array(text.utf8)) else {
      throw LanguageError("\(text) starts with a quote, but is not a JSON string")
    }
    return content
  }

  private static func pattern(_ text: Substring) throws(LanguageError) -> String {
    do throws(LanguageError) {
      return try plain(text)
    } catch {
      // An expression may start with a quote.
      return String(text)
    }
  }

  private static func kind(_ text: Substring) throws(LanguageError) -> ValueKind {
    guard let kind = ValueKind(rawValue: String(text)) else {
      throw LanguageError(
        "\(text.isEmpty ? "missing type" : "unknown type \(text)") after is",
        hint: "types are \(ValueKind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return kind
  }

  /// JSON with the words that may follow it.
  private static func literal(_ text: Substring) throws(LanguageError) -> (JSONValue, ComparisonRules) {
    var json = text
    let rules = isJSON(json) ? .exact : try rules(from: &json)
    guard !json.isEmpty else {
      throw LanguageError("missing value", hint: "such as 3, \"Ada\" or {\"id\":3}")
    }
    do throws(MessageParseError) {
      return (try JSONValue(parsing: Array(json.utf8)), rules)
    } catch {
      let isBare = json.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || $0 == "_" || $0 == " " }
      throw LanguageError(
        "\(String(json).cut(toBytes: 200)) is not JSON: \(error.message)",
        hint: isBare && !json.isEmpty
          ? "text and names are quoted: \(JSONValue.quoted(String(json)))" : error.hint)
    }
  }

  /// Whether the whole text is JSON, such as a string that ends in `within 3`. No words follow it then.
  private static func isJSON(_ text: Substring) -> Bool {
    (try? JSONValue(parsing: Array(text.utf8))) != nil
  }

  /// Removes `unordered` and `within NUMBER` from the end of a text that is not JSON as a whole.
  private static func rules(from text: inout Substring) throws(LanguageError) -> ComparisonRules {
    var rules = ComparisonRules()
    while true {
      let (before, last) = lastWord(of: text)
      if last == "unordered" {
        rules.isUnordered = true
        rules.text = " unordered\(rules.text)"
        text = before
        continue
      }
      let (start, word) = lastWord(of: before)
      guard word == "within" else { return rules }
      rules.tolerance = try tolerance(last)
      rules.text = " within \(last)\(rules.text)"
      text = start
    }
  }

  private static func lastWord(of text: Substring) -> (before: Substring, word: Substring) {
    guard let space = text.lastIndex(where: { $0.isWhitespace }) else {
      return (text[..<text.startIndex], text)
    }
    return (text[..<space].stripped, text[text.index(after: space)...])
  }

  private static func tolerance(_ text: Substring) throws(LanguageError) -> ComparisonRules.Tolerance {
    let isRelative = text.utf8.last == UInt8(ascii: "%")
    guard let number = Double(isRelative ? text.dropLast() : text), number >= 0, number.isFinite else {
      throw LanguageError("\(text) is not a number after within", hint: "such as within 0.01, or within 1%")
    }
    return isRelative ? .relative(number / 100) : .absolute(number)
  }
}

extension ComparableValue {
  /// Parses a number; nil for other text.
  init?(number text: some StringProtocol) {
    if let integer = Int128(text) {
      self = .integer(integer)
    } else if let real = Double(text) {
      self = .real(real)
    } else {
      return nil
    }
  }

  /// The form of a JSON value that is not of a field; nil if it is `null`, a list or an object.
  init?(_ json: JSONValue) {
    switch json {
    case .bool(let value): self = .bool(value)
    case .number(let text): self.init(number: text)
    case .string(let text): self = .text(text)
    case .null, .array, .object: return nil
    }
  }
}
