import RPCurlProtobuf

/// What a condition states.
enum Claim: Equatable, Sendable {
  /// The codes, as they are written.
  case status([Operand], isWanted: Bool)
  case count(Bound<Int>)
  case latency(Bound<Duration>)
  /// How long the certificate of the server is valid.
  case expiry(Bound<Duration>)
  case value(Property, ValueCondition)
}

/// A value of a call, or several.
enum Property: Equatable, Sendable {
  /// The message of the status.
  case error
  case header(String)
  case trailer(String)
  case connection(ConnectionProperty)
  /// A field of a detail of the status, or a whole detail if the path is nil.
  case detail(type: String, FieldPath?)
  case field(MessageSelection, FieldPath)
  /// The values of all messages, as a list.
  case list(FieldPath)
  /// A value that is not one of the call, such as a variable.
  case value(Expression)
}

/// A property of the connection of a call, as text.
package enum ConnectionProperty: String, CaseIterable, Sendable {
  /// The version of HTTP: `1.1`, `2` or `3`.
  case http
  /// The version of TLS, such as `1.3`.
  case tls
  /// The address and port of the server.
  case address
  /// The distinguished name of the owner of the certificate.
  case subject
  /// The distinguished name of the authority of the certificate.
  case issuer
  /// The names and addresses that the certificate is for.
  case name

  /// Those of the connection itself.
  static let ofConnection: [ConnectionProperty] = [.http, .tls, .address]
  /// Those of the certificate of the server.
  static let ofCertificate: [ConnectionProperty] = [.subject, .issuer, .name]
  /// The word after `certificate` for the time until it expires.
  static let expiry = "expires"
}

/// The messages of a response that a claim is about.
enum MessageSelection: Equatable, Sendable {
  case first, last, any, every
  /// The message with a number, from 0.
  case number(Int)
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
package enum ValueKind: String, CaseIterable, Sendable {
  case string, number, integer, bool, list, object, null, uuid, timestamp
}

// MARK: - Values

/// A part of a condition that may have expressions.
protocol ConditionOperand {
  /// Whether all its values are known.
  var isLiteral: Bool { get }
  /// The expressions in it.
  var expressions: [Expression] { get }
}

extension Expression: ConditionOperand {
  var isLiteral: Bool { if case .literal = self { true } else { false } }
  var expressions: [Expression] { isLiteral ? [] : [self] }
}

extension Template: ConditionOperand {
  var isLiteral: Bool { literal != nil }
}

extension Claim {
  /// The path in messages of the response; nil if it is not about them.
  var path: FieldPath? {
    switch self {
    case .value(.field(_, let path), _), .value(.list(let path), _): path
    default: nil
    }
  }

  /// Its parts that may have expressions.
  var operands: [any ConditionOperand] {
    switch self {
    case .status(let codes, _): codes
    case .count(let bound): [bound]
    case .latency(let bound), .expiry(let bound): [bound]
    case .value(.value(let expression), let condition): [expression] + condition.operands
    case .value(_, let condition): condition.operands
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
    switch self {
    case .status(let codes, let isWanted):
      var known: [Operand] = []
      for code in codes { known.append(try code.filled(values)) }
      return .status(known, isWanted: isWanted)
    case .count(let bound): return .count(try bound.filled(values))
    case .latency(let bound): return .latency(try bound.filled(values))
    case .expiry(let bound): return .expiry(try bound.filled(values))
    case .value(var property, let condition):
      if case .value(let expression) = property {
        property = .value(.literal(try values.value(of: expression)))
      }
      return .value(property, try condition.filled(values, path: path))
    }
  }
}

extension ValueCondition {
  /// Its parts that may have expressions.
  var operands: [any ConditionOperand] {
    switch test {
    case .compare(_, let operand), .contains(let operand): [operand]
    case .matches(let operand, _): [operand]
    case .size(let bound): [bound]
    case .golden(let path, _): [path]
    case .exists, .kind, .sorted: []
    }
  }

  /// The condition with the values of its expressions.
  func filled(
    _ values: any TemplateValues, path: (Template) throws(LanguageError) -> String
  ) throws(LanguageError) -> ValueCondition {
    let filled: Test =
      switch test {
      case .compare(let comparison, let operand): .compare(comparison, try operand.filled(values))
      case .contains(let operand): .contains(try operand.filled(values))
      case .matches(let operand, let isWanted): .matches(try operand.filled(values), isWanted: isWanted)
      case .size(let bound): .size(try bound.filled(values))
      case .golden(let file, let rules): .golden(Template(literal: try path(file)), rules)
      case .exists, .kind, .sorted: test
      }
    return ValueCondition(test: filled)
  }
}

extension Property {
  /// The name of the header or trailer; nil for other values.
  var metadataName: String? {
    switch self {
    case .header(let name), .trailer(let name): name
    default: nil
    }
  }
}

// MARK: - Text

extension Claim: CustomStringConvertible {
  /// The text of the claim; parsing it gives the same claim.
  var description: String {
    switch self {
    case .status(let codes, let isWanted):
      "status \(Self.comparison(codes, isWanted))\(codes.map(\.description).joined(separator: ","))"
    case .count(let bound): "count \(bound)"
    case .latency(let bound): "latency \(bound)"
    case .expiry(let bound): "certificate \(ConnectionProperty.expiry) \(bound)"
    case .value(let property, let condition): "\(property) \(condition)"
    }
  }

  /// The operator before codes, which can be omitted unless the first code would be read as one.
  private static func comparison(_ codes: [Operand], _ isWanted: Bool) -> String {
    guard isWanted else { return "!= " }
    var text = codes.first.map { $0.description[...] } ?? ""
    return Comparison.parse(from: &text) == nil ? "" : "== "
  }
}

extension Property: CustomStringConvertible {
  var description: String {
    func text(_ path: FieldPath) -> String { "\(path.isWhole ? "" : ".")\(path)" }
    return switch self {
    case .error: "error"
    case .header(let name): "header \(name)"
    case .trailer(let name): "trailer \(name)"
    case .connection(let property):
      "\(ConnectionProperty.ofConnection.contains(property) ? "connection" : "certificate") \(property.rawValue)"
    case .detail(let type, let path): "detail \(type)\(path.map { " \(text($0))" } ?? "")"
    case .field(.last, let path): text(path)
    case .field(.number(let number), let path): "message \(number) \(text(path))"
    case .field(let selection, let path): "\(selection) \(text(path))"
    case .list(let path): "list \(text(path))"
    case .value(let expression): "${\(expression)}"
    }
  }
}

extension ValueCondition: CustomStringConvertible {
  /// The text after the name of the value.
  var description: String { description { $0 } }

  /// The text after the name of the value.
  ///
  /// - Parameter shown: Redacts an operand. Expressions are shown as they are.
  func description(_ shown: (String) -> String) -> String {
    func text(_ operand: some ConditionOperand & CustomStringConvertible) -> String {
      operand.isLiteral ? shown(operand.description) : operand.description
    }
    return switch test {
    case .compare(let comparison, let operand): "\(comparison.rawValue) \(text(operand))"
    case .matches(let operand, let isWanted): "\(isWanted ? "=~" : "!~") \(text(operand))"
    case .contains(let operand): "contains \(text(operand))"
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
