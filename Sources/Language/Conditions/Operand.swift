import RPCurlProtobuf

/// What follows an operator. It is kept as it is written, because the left side of the condition decides how it is read: as
/// text, or as JSON.
struct Operand: ConditionOperand, CustomStringConvertible, Equatable, Sendable {
  /// The operand as it is written. For one whose values are inserted, text that is read as the same operand.
  let description: String
  /// The operand of text: up to its end, or a string of JSON.
  private let text: String
  /// The operand of other values.
  let json: String
  /// The value that is the whole operand.
  private let value: JSONValue?
  /// The expressions whose values are not inserted.
  private let template: Template?
  /// The same in JSON; nil for an operand that does not begin as JSON.
  private let jsonTemplate: JSONTemplate?

  /// Parses an operand.
  ///
  /// - Parameter hasShortForm: Whether `$name.path` is an expression too.
  init(_ raw: Substring, hasShortForm: Bool) throws(LanguageError) {
    var template = try Template(parsing: raw)
    if hasShortForm, raw.utf8.first == UInt8(ascii: "$") {
      // Words such as `unordered` may follow.
      var body = raw
      let rules = (try? ComparisonRules(removedFrom: &body))?.text ?? ""
      if let expression = try Template(parsing: body).withShortForm().onlyExpression {
        template = Template(parts: [.value(expression)] + (rules.isEmpty ? [] : [.text(rules)]))
      }
    }
    let isJSON = raw.utf8.first.map { "{[\"".utf8.contains($0) } ?? false
    let parsed = isJSON ? try JSONTemplate(parsing: Array(raw.utf8), hasShortForm: hasShortForm) : nil
    if let literal = template.literal, parsed?.hasValues != true {
      (description, text, json) = (template.description, literal, literal)
      (self.template, jsonTemplate) = (nil, nil)
    } else {
      (description, text, json) = (String(raw), "", "")
      (self.template, jsonTemplate) = (template, parsed)
    }
    value = nil
  }

  private init(_ value: JSONValue) {
    json = value.text
    text = JSONValue.quoted(value.plainText)
    description = Template(literal: json).description
    self.value = value
    (template, jsonTemplate) = (nil, nil)
  }

  /// Makes an operand of text and JSON that contain values.
  private init(text: String, json: String) {
    self.text = text
    self.json = json
    var literal = json[...]
    _ = try? ComparisonRules(removedFrom: &literal)
    let isJSON = (try? JSONValue(parsing: Array(literal.utf8))) != nil
    description = Template(literal: isJSON ? json : text).description
    value = nil
    (template, jsonTemplate) = (nil, nil)
  }

  /// Whether it has no expressions.
  var isLiteral: Bool { template == nil }

  /// The expressions in it.
  var expressions: [Expression] { jsonTemplate?.expressions ?? template?.expressions ?? [] }

  /// The operand with the values of its expressions.
  func filled(_ values: any TemplateValues) throws(LanguageError) -> Operand {
    guard let template else { return self }
    if let expression = template.onlyExpression { return Operand(try values.value(of: expression)) }
    if template.parts.count == 2, case .value(let expression) = template.parts[0],
      case .text(let rules) = template.parts[1], ComparisonRules.areRules(rules)
    {
      let value = try values.value(of: expression)
      return Operand(text: JSONValue.quoted(value.plainText + rules), json: value.text + rules)
    }
    let text = JSONValue.quoted(try template.text(values))
    // Text may be no JSON, and then has no other form.
    guard let jsonTemplate else { return Operand(text: text, json: text) }
    let json = String(decoding: try jsonTemplate.json(values), as: UTF8.self)
    return Operand(text: description.utf8.first == UInt8(ascii: "\"") ? json : text, json: json)
  }

  /// The operand as the value of a text; null for a value that is absent.
  func plain() throws(LanguageError) -> JSONValue {
    if value == .null { return .null }
    return .string(try Self.plain(text[...]))
  }

  /// The words of an operand that is no text and no JSON, such as a duration.
  func words() throws(LanguageError) -> String { try Self.plain(text[...]) }

  /// A text, as it is or as a string of JSON.
  static func plain(_ text: Substring) throws(LanguageError) -> String {
    guard text.utf8.first == UInt8(ascii: "\"") else { return String(text) }
    guard case .string(let content)? = try? JSONValue(parsing: Array(text.utf8)) else {
      throw LanguageError(
        "\(text) starts with a quote, but is not a JSON string", hint: "write \\\" for a quote in a string")
    }
    return content
  }
}

/// The operand of `=~` and `!~`: an expression, in which values are literal text.
struct PatternOperand: ConditionOperand, CustomStringConvertible, Equatable, Sendable {
  /// The operand as it is written.
  let description: String
  private let template: Template
  /// The compiled expression; nil until values are inserted.
  let pattern: TextPattern?

  init(_ raw: Substring) throws(LanguageError) {
    // An expression may start with a quote.
    let source = (try? Operand.plain(raw)) ?? String(raw)
    let template = try Template(parsing: source)
    let pattern = try template.literal.map { source throws(LanguageError) in try TextPattern(source) }
    self.init(description: String(raw), template: template, pattern: pattern)
  }

  private init(description: String, template: Template, pattern: TextPattern?) {
    self.description = description
    self.template = template
    self.pattern = pattern
  }

  var isLiteral: Bool { pattern != nil }
  var expressions: [Expression] { template.expressions }

  func filled(_ values: any TemplateValues) throws(LanguageError) -> PatternOperand {
    guard pattern == nil else { return self }
    var source = ""
    for piece in try template.pieces(values) {
      switch piece {
      case .typed(let text): source += text
      case .value(let value): source += TextPattern.quoted(value.plainText)
      }
    }
    return PatternOperand(
      description: Template(literal: source).description, template: Template(literal: source),
      pattern: try TextPattern(source))
  }
}

/// A bound on a measure, such as `3`, `>= 2` or `< 1.5s`.
struct Bound<Measure: BoundMeasure>: ConditionOperand, CustomStringConvertible, Equatable, Sendable {
  private let comparison: Comparison
  private let operand: Operand
  /// The limit; nil until its value is inserted.
  private let limit: Measure?

  /// Parses a bound.
  init(_ text: Substring, hasShortForm: Bool) throws(LanguageError) {
    var rest = text
    guard let comparison = Comparison.parse(from: &rest) ?? Measure.impliedComparison,
      Measure.comparisons.contains(comparison)
    else { throw Measure.invalid(text) }
    try self.init(comparison, try Operand(rest.stripped, hasShortForm: hasShortForm))
  }

  private init(_ comparison: Comparison, _ operand: Operand) throws(LanguageError) {
    self.comparison = comparison
    self.operand = operand
    limit = operand.isLiteral ? try Measure(limit: try operand.words()) : nil
  }

  func filled(_ values: any TemplateValues) throws(LanguageError) -> Bound {
    try Bound(comparison, operand.filled(values))
  }

  /// Whether the bound includes a measure.
  func allows(_ measure: Measure) -> Bool {
    limit.map { comparison.holds(Order(measure, $0)) ?? false } ?? false
  }

  var isLiteral: Bool { limit != nil }
  var expressions: [Expression] { operand.expressions }

  var description: String {
    var text = operand.description[...]
    return comparison == Measure.impliedComparison && Comparison.parse(from: &text) == nil
      ? operand.description : "\(comparison.rawValue) \(operand.description)"
  }
}

/// A measure that can have a bound.
protocol BoundMeasure: Comparable, Sendable {
  /// The comparisons of a bound.
  static var comparisons: [Comparison] { get }
  /// The comparison of a bound that has none; nil if each has one.
  static var impliedComparison: Comparison? { get }
  /// The error of a text that is no bound.
  static func invalid(_ text: Substring) -> LanguageError

  /// Parses a limit.
  init(limit text: String) throws(LanguageError)
}

extension Int: BoundMeasure {
  static var comparisons: [Comparison] { Comparison.allCases.filter { $0.holds(.same) != nil } }
  static var impliedComparison: Comparison? { .equal }

  static func invalid(_ text: Substring) -> LanguageError {
    LanguageError("must be a number such as 3, or a bound such as >= 2")
  }

  init(limit text: String) throws(LanguageError) {
    guard let count = Int(text), count >= 0 else { throw Self.invalid(text[...]) }
    self = count
  }
}

extension Duration: BoundMeasure {
  static var comparisons: [Comparison] { Comparison.allCases.filter(\.isAboutOrder) }
  static var impliedComparison: Comparison? { nil }

  static func invalid(_ text: Substring) -> LanguageError {
    let bound = text.drop { "=<".contains($0) || $0.isWhitespace }
    return LanguageError(
      "latency requires a bound",
      hint: text.hasPrefix("=<") ? "write latency <= \(bound)" : "such as latency < 1.5s, or latency < 250ms")
  }

  init(limit text: String) throws(LanguageError) { self = try Duration(withUnit: text) }
}
