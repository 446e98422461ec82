import RPCurlProtobuf

extension ValueCondition {
  /// A word that a condition can start with, instead of an operator.
  enum Word: String, CaseIterable {
    case contains, exists, absent, `is`, size, ascending, descending, golden

    /// Whether it is for text that is not in a message, too.
    var isForText: Bool {
      switch self {
      case .contains, .exists, .absent, .is, .size: true
      case .ascending, .descending, .golden: false
      }
    }
  }

  /// Words of earlier forms, with those that replace them.
  fileprivate static let replaced = ["missing": "absent", "length": "size"]

  /// Whether a condition can start with a word.
  static func startsCondition(_ word: Substring) -> Bool {
    Word(rawValue: String(word)) != nil || replaced[String(word)] != nil
  }
}

extension ConditionParser {
  /// Parses the rest as the condition on a value.
  ///
  /// - Parameter isText: Whether the value is text that is not in a message.
  mutating func test(isText: Bool) throws(LanguageError) -> ValueCondition {
    if let comparison = Comparison.parse(from: &rest) {
      rest = rest.stripped
      return ValueCondition(test: try test(comparison, isText: isText))
    }
    let word = rest.firstWord
    rest = rest[word.endIndex...].stripped
    return ValueCondition(test: try test(word, isText: isText))
  }

  private func test(_ comparison: Comparison, isText: Bool) throws(LanguageError) -> ValueCondition.Test {
    guard !rest.isEmpty else {
      throw LanguageError("missing value after \(comparison.rawValue)", hint: "an empty text is \"\"")
    }
    if comparison == .matches || comparison == .differs {
      return .matches(try PatternOperand(rest), isWanted: comparison == .matches)
    }
    return .compare(comparison, try operand(isText: isText))
  }

  private func test(_ word: Substring, isText: Bool) throws(LanguageError) -> ValueCondition.Test {
    switch ValueCondition.Word(rawValue: String(word)) {
    case .exists where rest.isEmpty: return .exists(isWanted: true)
    case .absent where rest.isEmpty: return .exists(isWanted: false)
    case .contains where !rest.isEmpty: return .contains(try operand(isText: isText))
    case .is: return .kind(try kind())
    case .size:
      do throws(LanguageError) {
        return .size(try Bound<Int>(rest, hasShortForm: hasShortForm))
      } catch {
        throw LanguageError("size \(error.reason)", hint: "such as size 3")
      }
    case .ascending where rest.isEmpty && !isText: return .sorted(isAscending: true)
    case .descending where rest.isEmpty && !isText: return .sorted(isAscending: false)
    case .golden where !isText: return try golden()
    default: throw unknown(word, isText: isText)
    }
  }

  private func unknown(_ word: Substring, isText: Bool) -> LanguageError {
    let known = ValueCondition.Word.allCases.filter { !isText || $0.isForText }.map(\.rawValue)
    let list = "conditions are \((Comparison.allCases.map(\.rawValue) + known).joined(separator: ", "))"
    if word.isEmpty { return LanguageError("missing condition", hint: list) }
    if known.contains(String(word)) {
      return LanguageError(
        rest.isEmpty ? "missing value after \(word)" : "unexpected text after \(word): \(rest)",
        hint: rest.isEmpty ? "an empty text is \"\"" : "write \(word) alone")
    }
    let nearest = DescriptorPool.nearestNames(to: String(word), among: known)
    let hint =
      if let other = ValueCondition.replaced[String(word)] {
        "write \(other)\(rest.isEmpty ? "" : " \(rest)")"
      } else if word.hasPrefix("=") {
        "== compares, and =~ matches a regular expression"
      } else {
        nearest.isEmpty ? list : "did you mean \(nearest.joined(separator: ", or "))?"
      }
    return LanguageError("unknown condition \(String(word).debugDescription)", hint: hint)
  }

  private func operand(isText: Bool) throws(LanguageError) -> Operand {
    let operand = try Operand(rest, hasShortForm: hasShortForm)
    if isText, operand.isLiteral { _ = try operand.plain() }
    return operand
  }

  private func kind() throws(LanguageError) -> ValueKind {
    guard let kind = ValueKind(rawValue: String(rest)) else {
      throw LanguageError(
        "\(rest.isEmpty ? "missing type" : "unknown type \(rest)") after is",
        hint: "types are \(ValueKind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return kind
  }

  private func golden() throws(LanguageError) -> ValueCondition.Test {
    var file = rest
    let rules = try ComparisonRules(removedFrom: &file)
    guard !file.isEmpty else {
      throw LanguageError("golden requires a file", hint: "such as golden user.json")
    }
    let path = try Template(parsing: Operand.plain(file))
    return .golden(hasShortForm ? try path.withShortForm() : path, rules)
  }
}

extension ComparisonRules {
  /// A word that can follow JSON.
  enum Word: String, CaseIterable {
    case unordered, within
  }

  /// Removes `unordered` and `within NUMBER` from the end of a text that is not JSON as a whole, such as a string that ends
  /// in `within 3`.
  init(removedFrom text: inout Substring) throws(LanguageError) {
    guard (try? JSONValue(parsing: Array(text.utf8))) == nil else { return }
    while true {
      let (before, last) = Self.lastWord(of: text)
      if last == Word.unordered.rawValue, !isUnordered {
        isUnordered = true
        self.text = " unordered\(self.text)"
        text = before
        continue
      }
      let (start, word) = Self.lastWord(of: before)
      guard word == Word.within.rawValue, tolerance == nil else { return }
      tolerance = try Self.tolerance(last)
      self.text = " within \(last)\(self.text)"
      text = start
    }
  }

  /// Whether a text is rules and nothing else.
  static func areRules(_ text: String) -> Bool {
    var rest = text[...]
    return text.first?.isWhitespace == true && (try? ComparisonRules(removedFrom: &rest)) != nil
      && rest.isEmpty
  }

  private static func lastWord(of text: Substring) -> (before: Substring, word: Substring) {
    guard let space = text.unicodeScalars.lastIndex(where: \.properties.isWhitespace) else {
      return (text[..<text.startIndex], text)
    }
    return (text[..<space].stripped, text[text.unicodeScalars.index(after: space)...])
  }

  private static func tolerance(_ text: Substring) throws(LanguageError) -> Tolerance {
    let isRelative = text.utf8.last == UInt8(ascii: "%")
    guard let number = Double(isRelative ? text.dropLast() : text), number >= 0, number.isFinite else {
      throw LanguageError(
        "\(text) is not a number after within", hint: "such as within 0.01, or within 1%")
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

  /// The form of a JSON value that is not of a field; nil if it is no number and no text.
  init?(_ json: JSONValue) {
    switch json {
    case .number(let text): self.init(number: text)
    case .string(let text): self = .text(text)
    case .null, .bool, .array, .object: return nil
    }
  }
}
