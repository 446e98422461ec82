import RPCurlProtobuf

/// What a condition states.
enum Claim: Equatable, Sendable {
  /// The codes, as they are written.
  case status([Operand], isWanted: Bool)
  case error(ValueCondition)
  case detail(type: String, DetailClaim)
  case header(String, ValueCondition)
  case trailer(String, ValueCondition)
  case count(Bound<Int>)
  case latency(Bound<Duration>)
  case field(MessageSelection, ValueClaim)
  /// About the values of all messages, as a list.
  case list(ValueClaim)
}

/// What is stated about a detail of a status.
enum DetailClaim: Equatable, Sendable {
  case exists(isWanted: Bool)
  case field(ValueClaim)
}

/// The messages of a response that a claim is about.
enum MessageSelection: Equatable, Sendable {
  case first, last, any, every
  /// The message with a number, from 0.
  case number(Int)
}

/// A condition on the value at a path of a message.
struct ValueClaim: Equatable, Sendable {
  /// The path without its first full stop; nil for the whole message.
  let path: FieldPath
  let condition: ValueCondition

  /// Whether the path leads to the values of all elements of a list.
  var selectsMany: Bool { path.hasEach }
}

/// A condition on a value.
struct ValueCondition: Equatable, Sendable {
  enum Test: Equatable, Sendable {
    case compare(Comparison, Operand)
    case matches(PatternOperand, isWanted: Bool)
    case contains(Operand)
    case exists(isWanted: Bool)
    case kind(ValueKind)
    case size(Bound<Int>)
    case sorted(isAscending: Bool)
    case golden(Template, ComparisonRules)
  }

  let test: Test

  /// Whether each of several values has to meet the condition, instead of one.
  var isNegated: Bool {
    switch test {
    case .compare(.unequal, _), .matches(_, isWanted: false): true
    default: false
    }
  }
}

/// How values are compared.
struct ComparisonRules: Equatable, Sendable {
  /// A difference of numbers that is accepted.
  enum Tolerance: Equatable, Sendable {
    case absolute(Double)
    /// As a part of the expected number: 0.01 for 1 %.
    case relative(Double)
  }

  /// Whether the order of the elements of lists is ignored.
  var isUnordered = false
  var tolerance: Tolerance?
  /// The words of the rules, with a space before each.
  var text = ""

  static let exact = ComparisonRules()
}

/// A type of values.
enum ValueKind: String, CaseIterable, Sendable {
  case string, number, integer, bool, list, object, null, uuid, timestamp
}

// MARK: - Values

extension Claim {
  /// The path in messages of the response; nil if it is not about them.
  var path: FieldPath? {
    switch self {
    case .field(_, let claim), .list(let claim): claim.path
    default: nil
    }
  }

  /// The expressions in its operands.
  var expressions: [Expression] {
    switch self {
    case .status(let codes, _): codes.flatMap(\.expressions)
    case .count(let bound): bound.operand.expressions
    case .latency(let bound): bound.operand.expressions
    case .error(let condition), .header(_, let condition), .trailer(_, let condition): condition.expressions
    case .field(_, let claim), .list(let claim), .detail(_, .field(let claim)): claim.condition.expressions
    case .detail(_, .exists): []
    }
  }

  /// Whether all values are known.
  var isLiteral: Bool {
    switch self {
    case .status(let codes, _): codes.allSatisfy(\.isLiteral)
    case .count(let bound): bound.isLiteral
    case .latency(let bound): bound.isLiteral
    case .error(let condition), .header(_, let condition), .trailer(_, let condition): condition.isLiteral
    case .field(_, let claim), .list(let claim), .detail(_, .field(let claim)): claim.condition.isLiteral
    case .detail(_, .exists): true
    }
  }

  /// The claim with the values of its expressions.
  ///
  /// - Parameters:
  ///   - values: The values.
  ///   - path: Makes the path of a file of a template.
  func filled(
    _ values: any TemplateValues, path: (Template) throws(LanguageError) -> String
  ) throws(LanguageError) -> Claim {
    func filled(_ claim: ValueClaim) throws(LanguageError) -> ValueClaim {
      ValueClaim(path: claim.path, condition: try claim.condition.filled(values, path: path))
    }
    switch self {
    case .status(let codes, let isWanted):
      var known: [Operand] = []
      for code in codes { known.append(try code.filled(values)) }
      return .status(known, isWanted: isWanted)
    case .error(let condition): return .error(try condition.filled(values, path: path))
    case .detail(_, .exists): return self
    case .detail(let type, .field(let claim)): return .detail(type: type, .field(try filled(claim)))
    case .header(let name, let condition): return .header(name, try condition.filled(values, path: path))
    case .trailer(let name, let condition): return .trailer(name, try condition.filled(values, path: path))
    case .count(let bound): return .count(try bound.filled(values))
    case .latency(let bound): return .latency(try bound.filled(values))
    case .field(let selection, let claim): return .field(selection, try filled(claim))
    case .list(let claim): return .list(try filled(claim))
    }
  }
}

extension ValueCondition {
  /// The expressions in its operands.
  var expressions: [Expression] {
    switch test {
    case .compare(_, let operand), .contains(let operand): operand.expressions
    case .matches(let operand, _): operand.template.expressions
    case .size(let bound): bound.operand.expressions
    case .golden(let path, _): path.expressions
    case .exists, .kind, .sorted: []
    }
  }

  /// Whether its operands have no expressions.
  var isLiteral: Bool {
    switch test {
    case .compare(_, let operand), .contains(let operand): operand.isLiteral
    case .matches(let operand, _): operand.pattern != nil
    case .size(let bound): bound.isLiteral
    case .golden(let path, _): path.literal != nil
    case .exists, .kind, .sorted: true
    }
  }

  /// The condition with the values of its expressions.
  func filled(
    _ values: any TemplateValues, path: (Template) throws(LanguageError) -> String
  ) throws(LanguageError) -> ValueCondition {
    switch test {
    case .compare(let comparison, let operand):
      ValueCondition(test: .compare(comparison, try operand.filled(values)))
    case .contains(let operand): ValueCondition(test: .contains(try operand.filled(values)))
    case .matches(let operand, let isWanted):
      ValueCondition(test: .matches(try operand.filled(values), isWanted: isWanted))
    case .size(let bound): ValueCondition(test: .size(try bound.filled(values)))
    case .golden(let file, let rules):
      ValueCondition(test: .golden(Template(literal: try path(file)), rules))
    case .exists, .kind, .sorted: self
    }
  }
}

// MARK: - Text

extension Claim: CustomStringConvertible {
  /// The text of the claim; parsing it gives the same claim.
  var description: String {
    switch self {
    case .status(let codes, let isWanted):
      "status \(isWanted ? "" : "!= ")\(codes.map(\.description).joined(separator: ","))"
    case .error(let condition): "error \(condition)"
    case .detail(let type, .exists(let isWanted)): "detail \(type) \(isWanted ? "exists" : "absent")"
    case .detail(let type, .field(let claim)): "detail \(type) \(claim)"
    case .header(let name, let condition): "header \(name) \(condition)"
    case .trailer(let name, let condition): "trailer \(name) \(condition)"
    case .count(let bound): "count \(bound)"
    case .latency(let bound): "latency \(bound)"
    case .field(.last, let claim): "\(claim)"
    case .field(.number(let number), let claim): "message \(number) \(claim)"
    case .field(let selection, let claim): "\(selection) \(claim)"
    case .list(let claim): "list \(claim)"
    }
  }
}

extension ValueClaim: CustomStringConvertible {
  var description: String { "\(path.isWhole ? "" : ".")\(path) \(condition)" }
}

extension ValueCondition: CustomStringConvertible {
  /// The text after the name of the value.
  var description: String {
    switch test {
    case .compare(let comparison, let operand): "\(comparison.rawValue) \(operand.description)"
    case .matches(let operand, let isWanted): "\(isWanted ? "=~" : "!~") \(operand.description)"
    case .contains(let operand): "contains \(operand.description)"
    case .exists(let isWanted): isWanted ? "exists" : "absent"
    case .kind(let kind): "is \(kind.rawValue)"
    case .size(let bound): "size \(bound)"
    case .sorted(let isAscending): isAscending ? "ascending" : "descending"
    case .golden(let path, let rules): "golden \(Self.text(path))\(rules.text)"
    }
  }

  /// The path of a file, in quotes if it could be read in another way.
  private static func text(_ path: Template) -> String {
    let text = "\(path)"
    let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0.properties.isWhitespace || $0 == "\"" }
    return isPlain ? text : JSONValue.quoted(text)
  }
}
