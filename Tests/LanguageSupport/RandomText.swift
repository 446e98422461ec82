import RPCurlProtobuf

@testable import RPCurlLanguage

/// Random paths, templates, conditions and regular expressions. All are valid; ``mutated(_:)`` changes them to text that may
/// not be. The tests take their numbers from a seed, and the fuzzer from the bytes of its input.
package struct RandomText<Numbers: RandomNumberGenerator> {
  private var numbers: Numbers
  // No field after `last` or `request` is a header.
  private static var names: [String] { ["a", "user", "b_1", "é", "status", "first", "X"] }
  private static var texts: [String] {
    [
      "", "a", "b c", "é", "\u{301}", "\"", "'", "\\", "\n", "$", "}", "]", ")", ",", "1", "null", "within 1",
      "unordered",
    ]
  }

  /// Makes text of random numbers.
  package init(_ numbers: Numbers) { self.numbers = numbers }

  // MARK: Choices

  private mutating func below(_ count: Int) -> Int { Int(numbers.next() % UInt64(count)) }
  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
  private mutating func name() -> String { pick(Self.names) }
  private mutating func text() -> String {
    (0..<below(4)).reduce(into: "") { text, _ in text += pick(Self.texts) }
  }
  private mutating func quoted() -> String { JSONValue.quoted(text()) }

  // MARK: Wrong text

  /// Text in which bytes are deleted, doubled, swapped or inserted.
  package mutating func mutated(_ text: String) -> String {
    var bytes = Array(text.utf8)
    for _ in 0...below(3) where !bytes.isEmpty {
      let start = below(bytes.count)
      let range = start..<min(start + 1 + below(4), bytes.count)
      switch below(4) {
      case 0: bytes.removeSubrange(range)
      case 1: bytes.insert(contentsOf: Array(bytes[range]), at: start)
      case 2: bytes.swapAt(start, below(bytes.count))
      default: bytes.insert(contentsOf: pick(Self.pieces).utf8, at: start)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static var pieces: [String] {
    texts + ["${", "$${", "[", "{", "(", "\\\"", "..", "[]", " == ", "absent", "\u{0}", "|*", "\u{10FFFF}"]
  }

  // MARK: Paths

  /// A path.
  package mutating func path() -> String {
    let path = steps(isFirst: true)
    return below(2) == 0 && !path.hasPrefix(".") ? ".\(path)" : path
  }

  private mutating func steps(isFirst: Bool) -> String {
    (0...below(4)).reduce(into: "") { path, index in
      switch below(9) {
      case 0: path += "[\(pick(["0", "-1", "12", "18446744073709551615"]))]"
      case 1: path += "[\(quoted())]"
      case 2: path += "[]"
      case 3: path += "[\(pick(["pkg.ext", ".ext", "a.b.é"]))]"
      case 4: path += "[type.googleapis.com/pkg.\(name())]"
      case 5: path += "[\(pick(["true", "false"]))]"
      default: path += isFirst && index == 0 ? name() : ".\(name())"
      }
    }
  }

  // MARK: Values

  /// A template.
  package mutating func template() -> String {
    (0...below(3)).reduce(into: "") { text, _ in
      switch below(4) {
      case 0: text += self.text().replacing("$", with: "")
      case 1: text += "$${"
      default: text += "${\(expression(depth: 3))}"
      }
    }
  }

  private mutating func expression(depth: Int) -> String {
    let blank = pick(["", "", " "])
    return blank + bareExpression(depth: depth) + blank
  }

  private mutating func bareExpression(depth: Int) -> String {
    switch below(depth > 0 ? 8 : 4) {
    case 0: pick(["0", "-1.5", "2e9", "true", "false", "null"])
    case 1: "'\(text().replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    case 2: quoted()
    case 3: reference()
    case 4: "row[${\(expression(depth: depth - 1))}]\(below(2) == 0 ? steps(isFirst: false) : "")"
    case 5: "[${\(expression(depth: 0))}, \(json(depth: depth - 1))]"
    default: call(depth: depth - 1)
    }
  }

  private mutating func json(depth: Int) -> String {
    switch below(depth > 0 ? 4 : 2) {
    case 0: pick(["1", "null", "true"])
    case 1: JSONValue.quoted(text().replacing("$", with: ""))
    case 2: "[\(json(depth: depth - 1)),\(json(depth: depth - 1))]"
    default: "{\(JSONValue.quoted(name())):\(json(depth: depth - 1))}"
    }
  }

  private mutating func reference() -> String {
    let path = steps(isFirst: false)
    switch pick(Reference.Root.allCases.map(Optional.some) + [nil, nil]) {
    case .env: return "env.\(pick(["HOME", "_x9"]))"
    case .row: return "row\(path)"
    case .last: return "last\(property(CallValue.Word.ofLast) ?? number() + path)"
    case .request: return "request\(property(CallValue.Word.ofRequest) ?? path)"
    case nil: return name() + (below(2) == 0 ? path : "")
    }
  }

  private mutating func number() -> String { pick(["", "[0]", "[-1]"]) }

  private mutating func property(_ words: [CallValue.Word]) -> String? {
    guard below(2) == 0 else { return nil }
    let word = pick(words)
    switch word {
    case .status, .method, .count: return ".\(word)"
    case .header, .trailer: return ".\(word).\(pick(["x-id", "a", "grpc-status-details-bin"]))"
    case .detail:
      return
        ".detail\(pick([".ErrorInfo", "[google.rpc.BadRequest]"]))\(below(2) == 0 ? steps(isFirst: false) : "")"
    }
  }

  private mutating func call(depth: Int) -> String {
    let function = pick(Function.allCases)
    let counts = function.argumentCounts
    var arguments: [String] = []
    for index in 0..<(counts.lowerBound + below(counts.count)) {
      arguments.append(
        function.isWord(at: index)
          ? pick(["+1h", "a b", "a]b", "{a", "'x,y'", "\"x)\"", "pkg.T"])
          : function == .regex && index == 1
            ? pick(["'a(b)'", "'\\\\d+'", name()]) : expression(depth: depth))
    }
    return "\(function.rawValue)(\(arguments.joined(separator: pick([",", ", "]))))"
  }

  // MARK: Conditions

  /// A condition.
  package mutating func condition() -> String {
    let word = pick(ConditionParser.Word.allCases.map(Optional.some) + [nil, nil])
    switch word {
    case nil: return claim()
    case .status:
      return
        "status \(pick(["", "== ", "!= ", "!="]))\(pick(["ok", "NOT_FOUND,5", "ok, ${x}", "${last.status}"]))"
    case .error: return "error \(test(isText: true))"
    case .header, .trailer:
      return "\(word?.rawValue ?? "") x-id\(below(4) == 0 ? "" : " \(test(isText: true))")"
    case .connection: return "connection \(pick(ConnectionProperty.ofConnection)) \(test(isText: true))"
    case .certificate:
      return below(2) == 0
        ? "certificate \(pick(ConnectionProperty.ofCertificate)) \(test(isText: true))"
        : "certificate expires \(pick(["<", "> ", ">="]))\(pick(["30d", "1.5h", "${x}"]))"
    case .detail: return "detail google.rpc.ErrorInfo\(pick(["", " exists", " absent", " \(claim())"]))"
    case .count: return "count \(bound())"
    case .latency:
      return "latency \(pick(["<", "<= ", "> ", ">="]))\(pick(["1.5s", "250ms", "${x}", "100us"]))"
    case .first, .last, .any, .every, .list: return "\(word?.rawValue ?? "") \(claim())"
    case .message: return "message \(below(200)) \(claim())"
    }
  }

  private mutating func claim() -> String {
    "\(pick([".", ".\(steps(isFirst: true))"])) \(test(isText: false))"
  }

  private mutating func bound() -> String {
    pick(["", "== ", "!=", "<= ", "> "]) + pick(["0", "3", "${x}", "12"])
  }

  private mutating func test(isText: Bool) -> String {
    if below(2) == 0 {
      let comparison = pick(Comparison.allCases)
      let isPattern = comparison == .matches || comparison == .differs
      return comparison.rawValue + pick(["", " "]) + (isPattern ? pattern() : operand(isText: isText))
    }
    let word = pick(ValueCondition.Word.allCases.filter { !isText || $0.isForText })
    switch word {
    case .exists, .absent, .ascending, .descending: return word.rawValue
    case .contains: return "contains \(operand(isText: isText))"
    case .is: return "is \(pick(ValueKind.allCases).rawValue)"
    case .size: return "size \(bound())"
    case .golden: return "golden \(pick(["a.json", "\"a b.json\"", "${x}.json"]))\(rules())"
    }
  }

  private mutating func rules() -> String {
    let words = ComparisonRules.Word.allCases.filter { _ in below(3) == 0 }
    return words.map { $0 == .within ? " within \(pick(["1", "0.5%", "1e3"]))" : " \($0.rawValue)" }.joined()
  }

  private mutating func operand(isText: Bool) -> String {
    switch below(6) {
    case 0: pick(["Ada", "a b", "null", "3", "-1.5e3", "DONE", "é\u{301}", "$100", "a\"b", "1 within 2"])
    case 1: quoted()
    case 2: "${\(expression(depth: 2))}"
    case 3: "x${\(expression(depth: 1))}$${y"
    case 4 where !isText: "[1, \(json(depth: 2))]\(rules())"
    case 5 where !isText: "{\"a\": ${\(expression(depth: 1))}}\(rules())"
    default: pick(["true", "x"])
    }
  }

  // MARK: Regular expressions

  /// A regular expression.
  package mutating func pattern() -> String { alternatives(depth: 2) }

  private mutating func alternatives(depth: Int) -> String {
    (0...below(2)).map { _ in sequence(depth: depth) }.joined(separator: "|")
  }

  private mutating func sequence(depth: Int) -> String {
    (0...below(3)).reduce(into: "") { text, _ in
      let repeats = pick(["", "", "*", "+", "?", "*?", "{2}", "{1,3}", "{0,}"])
      text += atom(depth: depth) + repeats
    }
  }

  private mutating func atom(depth: Int) -> String {
    switch below(depth > 0 ? 8 : 6) {
    case 0: pick(["a", "é", "1", "-"])
    case 1: "."
    case 2: pick(["[a-z]", "[^0-9a]", "[[:alpha:]_]", "[\\d\\]]"])
    case 3: pick(["\\d", "\\W", "\\.", "\\x41", "\\pL", "\\Q+\\E"])
    case 4: pick(["(?:^)", "(?:$)", "(?:\\b)"])
    case 5: "x"
    case 6: "(\(alternatives(depth: depth - 1)))"
    default: "(?i:\(alternatives(depth: depth - 1)))"
    }
  }
}

/// What holds for text of the language: what it is parsed as is printed as text that is parsed as the same. Other text is an
/// error that says what to do.
package enum LanguageProperty {
  private static let statuses = StatusNames([
    "ok", "canceled", "unknown", "invalid_argument", "timeout", "not_found",
  ])

  /// What does not hold for a path; nil if all does.
  package static func path(_ text: String, isValid: Bool = true) -> String? {
    failure(text, isValid) {
      let path = try FieldPath(text)
      return try FieldPath("\(path)") == path ? nil : "\(path)"
    }
  }

  /// The same for a template, which is one too in a string of JSON.
  package static func template(_ text: String, isValid: Bool = true) -> String? {
    failure(text, isValid) {
      let template = try Template(parsing: text)
      guard try Template(parsing: "\(template)") == template else { return "\(template)" }
      let json = try JSONTemplate(parsing: Array(JSONValue.quoted(text).utf8))
      return json.expressions == template.expressions ? nil : "\(json)"
    }
  }

  /// The same for a condition.
  package static func condition(_ text: String, isValid: Bool = true) -> String? {
    failure(text, isValid) {
      let condition = try Condition(parsing: text, statuses: statuses)
      return try Condition(parsing: "\(condition)", statuses: statuses).claim == condition.claim
        ? nil : "\(condition)"
    }
  }

  /// The same for a regular expression, which searches a text in a number of steps that is linear in its length.
  package static func pattern(_ text: String, isValid: Bool = true) -> String? {
    failure(text, isValid) {
      let pattern = try TextPattern(text)
      for count in [16, 256] {
        var budget = count * 4 * TextPattern.stepLimit
        guard pattern.isFound(in: String(repeating: "aé1-", count: count), budget: &budget) != nil else {
          return "takes too many steps"
        }
      }
      return nil
    }
  }

  private static func failure(
    _ text: String, _ isValid: Bool, _ check: () throws -> String?
  ) -> String? {
    do {
      return try check().map { "\(text): \($0)" }
    } catch let error as LanguageError where !isValid {
      return error.reason.isEmpty || error.hint == nil ? "\(text): \(error.reason)" : nil
    } catch is FieldPathError where !isValid {
      return nil
    } catch {
      return "\(text): \(error)"
    }
  }
}
