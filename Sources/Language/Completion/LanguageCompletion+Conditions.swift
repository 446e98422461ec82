import RPCurlProtobuf

extension LanguageCompletion {
  /// Completes a condition.
  static func condition(_ typed: Substring, _ scope: LanguageScope) -> LanguageCompletion {
    let text = typed.drop(while: \.isWhitespace)
    if text.hasPrefix(".") { return claim(text, scope) }
    guard let (word, rest) = firstWord(of: text) else {
      let words = ConditionParser.Word.allCases.map { Candidate("\($0.rawValue) ", $0.summary) }
      return LanguageCompletion(text, words + paths(scope))
    }
    switch ConditionParser.Word(rawValue: String(word)) {
    case .status: return status(rest, scope)
    case .error: return test(rest, textTests, scope)
    case .detail: return detail(rest, scope)
    case .header: return named(rest, scope.last?.headers ?? [], textTests, scope)
    case .trailer: return named(rest, scope.last?.trailers ?? [], textTests, scope)
    case .connection:
      return named(rest, ConnectionProperty.ofConnection.map(\.rawValue), textTests, scope)
    case .certificate:
      let names = [ConnectionProperty.expiry] + ConnectionProperty.ofCertificate.map(\.rawValue)
      let isExpiry = firstWord(of: rest)?.word == Substring(ConnectionProperty.expiry)
      return named(rest, names, isExpiry ? tests(of: Duration.comparisons) : textTests, scope)
    case .count: return test(rest, tests(of: Int.comparisons), scope)
    case .latency: return test(rest, tests(of: Duration.comparisons), scope)
    case .list: return claim(rest, scope, isList: true)
    case .first, .last, .any, .every: return claim(rest, scope)
    case .message: return firstWord(of: rest).map { claim($0.rest, scope) } ?? none
    case nil: return none
    }
  }

  /// The first word and what follows the white space after it; nil if the word has no end.
  private static func firstWord(of text: Substring) -> (word: Substring, rest: Substring)? {
    guard let end = text.firstIndex(where: \.isWhitespace) else { return nil }
    return (text[..<end], text[end...].drop(while: \.isWhitespace))
  }

  // MARK: Parts

  private static func status(_ rest: Substring, _ scope: LanguageScope) -> LanguageCompletion {
    let start =
      rest.lastIndex { $0 == "," || $0.isWhitespace }.map { rest.index(after: $0) } ?? rest.startIndex
    let names = scope.statuses.names.map { Candidate($0) }
    return LanguageCompletion(
      rest[start...], names + (start == rest.startIndex ? tests(of: [.equal, .unequal]) : []))
  }

  /// Completes a name and the test of its values.
  static func named(
    _ rest: Substring, _ names: [String], _ tests: [Candidate], _ scope: LanguageScope
  ) -> LanguageCompletion {
    guard let (_, rest) = firstWord(of: rest) else {
      return LanguageCompletion(rest, names.map { Candidate("\($0) ") })
    }
    return test(rest, tests, scope)
  }

  private static func detail(_ rest: Substring, _ scope: LanguageScope) -> LanguageCompletion {
    guard let (name, rest) = firstWord(of: rest) else {
      return LanguageCompletion(rest, scope.last?.detailNames(end: " ") ?? [])
    }
    var scope = scope
    scope.types = scope.last?.detailType(String(name)).map { [$0] } ?? []
    guard rest.isEmpty || !rest.hasPrefix(".") else { return claim(rest, scope) }
    return LanguageCompletion(rest, tests([.exists, .absent]) + paths(scope))
  }

  private static func paths(_ scope: LanguageScope) -> [Candidate] {
    path("", scope, end: " ").candidates.map { Candidate(".\($0.text)", $0.note) }
  }

  /// Completes a path, the test after it, or what it is compared with.
  private static func claim(
    _ text: Substring, _ scope: LanguageScope, isList: Bool = false
  ) -> LanguageCompletion {
    guard text.hasPrefix(".") else { return LanguageCompletion(text, paths(scope)) }
    let end = text.endOfFieldPath
    guard end < text.endIndex else { return path(text, scope, end: " ") }
    guard let path = try? FieldPath(afterFullStop: String(text[..<end])) else { return none }
    let leaves = scope.types.compactMap { try? path.leaf(in: $0) }
    let rest = text[end...].drop(while: \.isWhitespace)
    let golden = "\(ValueCondition.Word.golden) "
    let found = leaves.flatMap { tests($0, isList: isList) }
    return test(rest, found.filter { scope.files != nil || $0.text != golden }, scope, leaves)
  }

  // MARK: Tests

  /// Completes an operator, a word, or what follows it.
  private static func test(
    _ rest: Substring, _ tests: [Candidate], _ scope: LanguageScope, _ leaves: [FieldPath.Leaf] = []
  ) -> LanguageCompletion {
    guard let (word, operand) = firstWord(of: rest) else { return LanguageCompletion(rest, tests) }
    switch (Comparison(rawValue: String(word)), ValueCondition.Word(rawValue: String(word))) {
    case (.matches, _), (.differs, _): return none
    case (.some, _), (_, .contains):
      guard operand.isEmpty || !operand.contains(where: \.isWhitespace) else {
        return rules(after: operand, leaves)
      }
      return LanguageCompletion(operand, leaves.flatMap(values))
    case (_, .is): return LanguageCompletion(operand, ValueKind.allCases.map { Candidate($0.rawValue) })
    case (_, .size): return LanguageCompletion(operand, self.tests(of: Int.comparisons))
    case (_, .golden):
      if !operand.contains(where: \.isWhitespace) { return scope.files?(String(operand)) ?? none }
      return rules(after: operand, leaves)
    case (_, .exists), (_, .absent), (_, .ascending), (_, .descending), (nil, nil): return none
    }
  }

  /// Completes the words that follow JSON or a golden file.
  private static func rules(after operand: Substring, _ leaves: [FieldPath.Leaf]) -> LanguageCompletion {
    guard leaves.contains(where: { !$0.isText }),
      let blank = operand.lastIndex(where: \.isWhitespace)
    else { return none }
    return LanguageCompletion(
      operand[operand.index(after: blank)...],
      ComparisonRules.Word.allCases.map {
        $0 == .within ? Candidate("\($0.rawValue) ", "a difference, as 0.1 or 1%") : Candidate($0.rawValue)
      })
  }

  /// The tests of text that is not in a message.
  static let textTests =
    tests(of: Comparison.allCases) + tests(ValueCondition.Word.allCases.filter(\.isForText))

  static func tests(of comparisons: [Comparison]) -> [Candidate] {
    comparisons.map { Candidate("\($0.rawValue) ", $0.holds(.same) == nil ? "regular expression" : "") }
  }

  private static func tests(_ words: [ValueCondition.Word]) -> [Candidate] {
    words.map { Candidate($0.isWhole ? $0.rawValue : "\($0.rawValue) ") }
  }

  /// The tests of what a path leads to.
  private static func tests(_ leaf: FieldPath.Leaf, isList: Bool) -> [Candidate] {
    let isList = isList || leaf.isList
    let comparisons = Comparison.allCases.filter { comparison in
      comparison == .equal || comparison == .unequal
        || !isList && (comparison.isAboutOrder ? leaf.hasOrder : leaf.isText)
    }
    return tests(of: comparisons)
      + tests(ValueCondition.Word.allCases.filter { $0.fits(leaf, isList: isList) })
  }

  /// The values of an enum, or `true` and `false`.
  static func values(_ leaf: FieldPath.Leaf) -> [Candidate] {
    guard let field = leaf.field else { return [] }
    if field.kind == .bool { return [Candidate("true"), Candidate("false")] }
    return field.enumType?.values.map { Candidate($0.name, "\($0.number)") } ?? []
  }
}

extension ConditionParser.Word {
  /// What it is about.
  fileprivate var summary: String {
    switch self {
    case .status: "of the call"
    case .error: "message of the status"
    case .detail: "of the status"
    case .header, .trailer: "of the response"
    case .connection: "of the call"
    case .certificate: "of the server"
    case .count: "number of messages"
    case .latency: "duration of the call"
    case .first, .last, .any, .every: "message"
    case .message: "message with a number"
    case .list: "values of all messages"
    }
  }
}

extension ValueCondition.Word {
  /// Whether nothing follows it.
  fileprivate var isWhole: Bool {
    switch self {
    case .exists, .absent, .ascending, .descending: true
    case .contains, .is, .size, .golden: false
    }
  }

  /// Whether values at a path can meet it.
  fileprivate func fits(_ leaf: FieldPath.Leaf, isList: Bool) -> Bool {
    switch self {
    case .exists, .absent, .is: true
    case .contains: isList || leaf.isText || leaf.isMessage
    case .size: isList || leaf.isText || leaf.isMap
    case .ascending, .descending: isList
    case .golden: isList || leaf.isMessage
    }
  }
}

extension FieldPath.Leaf {
  /// The field of a single value; nil for a list, a map, and a message that is no field.
  fileprivate var field: Field? {
    guard case .field(let field, _, let isElement) = self, isElement || !field.isRepeated else { return nil }
    return field
  }

  fileprivate var isMap: Bool {
    guard case .field(let field, _, _) = self else { return false }
    return field.isMap
  }

  fileprivate var isList: Bool {
    guard case .field(let field, _, let isElement) = self else { return false }
    return field.isRepeated && !field.isMap && !isElement
  }

  /// Whether it is text, or text in JSON: the content of an Any may be anything.
  fileprivate var isText: Bool {
    if case .dynamic = self { return true }
    switch field?.kind {
    case .string, .bytes, .enumeration: return true
    default: return field?.messageType.map { ((try? $0.wellKnown()) ?? nil) != nil } ?? false
    }
  }

  /// Whether it is a message, a map or a list.
  fileprivate var isMessage: Bool { field == nil || field?.messageType != nil }

  fileprivate var hasOrder: Bool {
    if case .dynamic = self { return true }
    guard let field, field.kind != .bool else { return false }
    return field.messageType == nil || isText
  }
}
