import RPCurlProtobuf

/// Parses conditions.
struct ConditionParser {
  /// A word that a condition can start with, instead of a path.
  enum Word: String, CaseIterable {
    case status, error, detail, header, trailer, connection, certificate, count, latency, first, last, any,
      every, message, list
  }

  private let text: Substring
  /// The text that is not parsed yet.
  var rest: Substring
  private let statuses: StatusNames
  let hasShortForm: Bool

  /// - Parameter hasShortForm: Whether `$name.path` is an expression too.
  init(_ text: some StringProtocol, _ statuses: StatusNames = StatusNames([]), hasShortForm: Bool = false) {
    self.text = Substring(text).stripped
    rest = self.text
    self.statuses = statuses
    self.hasShortForm = hasShortForm
  }

  mutating func parse() throws(LanguageError) -> Claim {
    if startsWithPath { return try field(.last) }
    if let (expression, end) = try value() {
      rest = rest[end...].stripped
      return .value(.value(expression), try test(isText: false))
    }
    let word = rest.firstWord.prefix { !"=!<>".contains($0) }
    rest = rest[word.endIndex...].stripped
    switch Word(rawValue: String(word)) {
    case .status: return try status()
    case .error: return .value(.error, try test(isText: true))
    case .detail: return try detail()
    case .header:
      let (name, test) = try named(before: "header ", isName: \.isHeaderName)
      return .value(.header(name.lowercased()), test)
    case .trailer:
      let (name, test) = try named(before: "trailer ", isName: \.isHeaderName)
      return .value(.trailer(name.lowercased()), test)
    case .connection: return try connection(ConnectionProperty.ofConnection, "such as connection http == 2")
    case .certificate:
      if property == ConnectionProperty.expiry { return try expiry() }
      return try connection(ConnectionProperty.ofCertificate, "such as certificate expires > 30d")
    case .count:
      do throws(LanguageError) {
        return .count(try Bound<Int>(rest, hasShortForm: hasShortForm))
      } catch {
        throw LanguageError("count \(error.reason)", hint: fieldHint)
      }
    case .latency: return .latency(try Bound<Duration>(rest, hasShortForm: hasShortForm))
    case .list: return .value(.list(try path()), try test(isText: false))
    case .first: return try field(.first)
    case .last: return try field(.last)
    case .any: return try field(.any)
    case .every: return try field(.every)
    case .message: return try message()
    case nil: throw unknown(word)
    }
  }

  private var startsWithPath: Bool { rest.utf8.first == UInt8(ascii: ".") }

  private mutating func word() -> Substring {
    let word = rest.firstWord
    rest = rest[word.endIndex...].stripped
    return word
  }

  private func unknown(_ word: Substring) -> LanguageError {
    guard !text.isEmpty else {
      return LanguageError("missing condition", hint: "such as status ok, or .name == Ada")
    }
    let nearest = DescriptorPool.nearestNames(to: String(word), among: Word.allCases.map(\.rawValue))
    let names = nearest.joined(separator: ", or ")
    return LanguageError(
      "unknown condition \(String(text[..<text.endOfFieldPath].shortened).debugDescription)",
      hint: nearest.isEmpty
        ? fieldHint ?? "such as status ok, or .name == Ada"
        : "did you mean \(names)?" + (fieldHint.map { " A\($0.dropFirst())" } ?? ""))
  }

  /// What to write for a field that has the name of a property; nil if the text is no path with a condition.
  private var fieldHint: String? {
    let path = text[..<text.endOfFieldPath]
    var rest = text[path.endIndex...].stripped
    guard let steps = try? FieldPath(String(path)).steps, case .field? = steps.first else { return nil }
    if rest.isEmpty { return "a path starts with a full stop, as in .\(path.shortened) exists" }
    let word = rest.firstWord
    guard Comparison.parse(from: &rest) != nil || word.hasPrefix("=") || ValueCondition.startsCondition(word)
    else { return nil }
    return "a path starts with a full stop: .\(text.shortened)"
  }

  // MARK: Parts

  /// The expression that the condition begins with, and its end; nil if it begins with a word.
  private func value() throws(LanguageError) -> (Expression, end: Substring.Index)? {
    guard rest.utf8.first == UInt8(ascii: "$") else { return nil }
    let text = Array(rest.utf8)
    guard let (expression, end) = try Expression.parse(in: text, at: 0, hasShortForm: hasShortForm) else {
      return nil
    }
    return (expression, rest.utf8.index(rest.startIndex, offsetBy: end))
  }

  private func status() throws(LanguageError) -> Claim {
    var list = rest
    let comparison = Comparison.parse(from: &list) ?? .equal
    guard comparison == .equal || comparison == .unequal else {
      throw LanguageError("status is compared with == or != only", hint: fieldHint)
    }
    var codes: [Operand] = []
    let hint = fieldHint
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let code = try Operand(part.stripped, hasShortForm: hasShortForm)
      if code.isLiteral { _ = try statuses.number(of: code, hint: hint) }
      codes.append(code)
    }
    return .status(codes, isWanted: comparison == .equal)
  }

  /// Parses a property of the connection, and the condition on it.
  private mutating func connection(
    _ properties: [ConnectionProperty], _ hint: String
  ) throws(LanguageError) -> Claim {
    let name = property
    guard let property = ConnectionProperty(rawValue: String(name)), properties.contains(property) else {
      let kind = properties == ConnectionProperty.ofConnection ? "connection" : "certificate"
      let names = properties.map(\.rawValue) + (kind == "certificate" ? [ConnectionProperty.expiry] : [])
      throw LanguageError(
        name.isEmpty ? "\(kind) requires a property" : "a \(kind) has no property \(name)",
        hint: (rest.isEmpty ? nil : fieldHint) ?? "one of \(names.joined(separator: ", ")), \(hint)")
    }
    rest = rest[name.endIndex...].stripped
    return .value(
      .connection(property),
      rest.isEmpty ? ValueCondition(test: .exists(isWanted: true)) : try test(isText: true))
  }

  /// The name of a property at the start of the rest.
  private var property: Substring { rest.firstWord.prefix { !"=!<>".contains($0) } }

  /// Parses a bound on the time until the certificate expires.
  private mutating func expiry() throws(LanguageError) -> Claim {
    rest = rest[property.endIndex...].stripped
    var bound = rest
    guard let comparison = Comparison.parse(from: &bound), comparison.isAboutOrder else {
      throw LanguageError(
        "certificate expires requires a bound", hint: "such as certificate expires > 30d")
    }
    return .expiry(try Bound<Duration>(rest, hasShortForm: hasShortForm))
  }

  private mutating func detail() throws(LanguageError) -> Claim {
    let type = String(word())
    guard !type.isEmpty, !type.hasPrefix(".") else {
      throw LanguageError(
        "detail requires a type", hint: "such as detail google.rpc.BadRequest .fieldViolations exists")
    }
    if startsWithPath { return .value(.detail(type: type, try path()), try test(isText: false)) }
    switch rest {
    case "", "exists": return .value(.detail(type: type, nil), ValueCondition(test: .exists(isWanted: true)))
    case "absent": return .value(.detail(type: type, nil), ValueCondition(test: .exists(isWanted: false)))
    case "missing": throw LanguageError("unknown condition \"missing\"", hint: "write absent")
    default:
      throw LanguageError(
        "expected a path after the type of the detail",
        hint: "it starts with a full stop, as in .reason exists")
    }
  }

  /// Parses a name and the condition on its values; nothing means that it has one.
  ///
  /// - Parameters:
  ///   - word: What precedes the name, for hints.
  ///   - isName: Whether a text is a name.
  mutating func named(
    before word: String, isName: (Substring) -> Bool
  ) throws(LanguageError) -> (name: String, ValueCondition) {
    let name = String(try rest.takeName(isName, before: word))
    return (name, rest.isEmpty ? ValueCondition(test: .exists(isWanted: true)) : try test(isText: true))
  }

  private mutating func field(_ selection: MessageSelection) throws(LanguageError) -> Claim {
    .value(.field(selection, try path()), try test(isText: false))
  }

  private mutating func message() throws(LanguageError) -> Claim {
    let number = word()
    guard let index = Int(number), index >= 0 else {
      throw LanguageError(
        "message requires the number of a message, from 0",
        hint: fieldHint ?? "such as message 2 .id == 3")
    }
    return try field(.number(index))
  }

  /// Parses a path, which a condition follows.
  private mutating func path() throws(LanguageError) -> FieldPath {
    guard startsWithPath else {
      throw LanguageError(
        "expected a path, which starts with a full stop",
        hint: "such as .user.name; a single full stop is the message")
    }
    let text = rest[..<rest.endOfFieldPath]
    rest = rest[text.endIndex...].stripped
    try FieldPath.refuseValues(
      in: String(text), hint: "a condition can begin with a value: ${last.labels[${KEY}]} == X")
    let path: FieldPath
    do throws(FieldPathError) {
      path = try FieldPath(afterFullStop: String(text))
    } catch {
      throw LanguageError("\(text) is not a path: \(error)", hint: "such as .user.items[0].name")
    }
    guard !rest.isEmpty else {
      throw LanguageError(
        "missing condition after \(text)", hint: "such as \(text) exists, or \(text) == VALUE")
    }
    return path
  }
}

extension StatusNames {
  /// The number of the code in an operand.
  ///
  /// - Parameter hint: What to do with a word that is no code and like none.
  func number(of operand: Operand, hint: String? = nil) throws(LanguageError) -> Int {
    let name = try operand.words()
    if let number = number(of: name) { return number }
    let nearest = name.utf8.count < 4 ? [] : DescriptorPool.nearestNames(to: name.lowercased(), among: names)
    let other = hint.map { "; \($0)" } ?? ""
    let codes = name.split { $0.isWhitespace }
    if codes.count > 1, codes.allSatisfy({ number(of: $0) != nil }) {
      throw LanguageError(
        "codes are separated by commas", hint: "write status \(codes.joined(separator: ","))")
    }
    throw LanguageError(
      name.isEmpty ? "status requires a code" : "\(name) is not a status code",
      hint: nearest.isEmpty
        ? "such as ok, not_found or 5\(name.isEmpty ? "" : other)"
        : "did you mean \(nearest.joined(separator: ", or "))?")
  }
}

extension Substring {
  /// Whether it is a token (RFC 9110, section 5.6.2), as the name of a header is.
  fileprivate var isHeaderName: Bool {
    let symbols = "!#$%&'*+-.^_`|~"
    return !isEmpty
      && unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
          || symbols.unicodeScalars.contains($0)
      }
  }

  /// The start of a text, for hints.
  fileprivate var shortened: Substring { prefix(60) }

  /// The text without white space at both ends, line feeds included.
  package var stripped: Substring {
    // By scalars: a combining one after white space is not a part of it.
    let start = unicodeScalars.drop(while: \.properties.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.properties.isWhitespace }) else { return "" }
    return Substring(start[...last])
  }

  /// The text up to the first white space.
  var firstWord: Substring { Substring(unicodeScalars.prefix { !$0.properties.isWhitespace }) }

  /// The end of a field path at the start: the first white space or operator outside of brackets.
  package var endOfFieldPath: Index {
    FieldPath.firstIndex(in: self) { !$1 && " \t\r\n=!<>".utf8.contains($0) } ?? endIndex
  }
}
