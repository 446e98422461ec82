import RPCurlLanguage

/// Parses expressions of the Common Expression Language (the specification's section "Syntax"). Messages as literals
/// and optional fields are not supported.
package struct CELParser {
  private static let depthLimit = 100
  private static let nodeLimit = 2000

  private let tokens: [CELLexer.Token]
  private var position = 0
  private var depth = 0
  private var nodes = 0
  /// The names of the variables that are visible.
  private var scope: [String]

  /// Parses an expression.
  ///
  /// - Parameters:
  ///   - text: The expression.
  ///   - variables: The names of its variables, in the order of their values.
  package static func parse(_ text: String, variables: [String]) throws(LanguageError) -> CELNode {
    var parser = CELParser(tokens: try CELLexer.tokens(of: text), scope: variables)
    let node = try parser.expression()
    guard parser.token == .end else {
      throw LanguageError("unexpected \(parser.tokenText) in the expression")
    }
    return node
  }

  private init(tokens: [CELLexer.Token], scope: [String]) {
    self.tokens = tokens
    self.scope = scope
  }

  private var token: CELLexer.Token { position < tokens.count ? tokens[position] : .end }

  private var tokenText: String {
    switch token {
    case .name(let text), .symbol(let text): text
    case .end: "end"
    default: "literal"
    }
  }

  private mutating func accept(_ symbol: String) -> Bool {
    guard token == .symbol(symbol) else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ symbol: String) throws(LanguageError) {
    guard accept(symbol) else {
      throw LanguageError("expected \(symbol) before \(tokenText) in the expression")
    }
  }

  /// Counts a node: the limit of the size also limits the depth, since chains of operators grow to the left.
  private mutating func count() throws(LanguageError) {
    nodes += 1
    guard nodes <= Self.nodeLimit else { throw LanguageError("the expression is too large") }
  }

  // MARK: Operators

  private mutating func expression() throws(LanguageError) -> CELNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else { throw LanguageError("the expression is nested too deeply") }
    let condition = try binary(0)
    guard accept("?") else { return condition }
    let one = try binary(0)
    try expect(":")
    return .conditional(condition, one, try expression())
  }

  private static let levels: [[String]] = [
    ["||"], ["&&"], ["==", "!=", "<", "<=", ">", ">=", "in"], ["+", "-"], ["*", "/", "%"],
  ]

  private mutating func binary(_ level: Int) throws(LanguageError) -> CELNode {
    guard level < Self.levels.count else { return try unary() }
    var left = try binary(level + 1)
    while true {
      let name = token == .name("in") ? "in" : tokenText
      guard Self.levels[level].contains(name), token == .symbol(name) || token == .name("in") else {
        return left
      }
      position += 1
      try count()
      let right = try binary(level + 1)
      left = level == 0 ? .or(left, right) : level == 1 ? .and(left, right) : .call(name, [left, right])
    }
  }

  private mutating func unary() throws(LanguageError) -> CELNode {
    var operators: [String] = []
    while token == .symbol("!") || token == .symbol("-") {
      operators.append(tokenText)
      position += 1
      try count()
    }
    // The smallest integer has no positive counterpart.
    if operators.last == "-", case .int(let number) = token {
      operators.removeLast()
      position += 1
      guard number <= UInt64(Int64.max) + 1 else { throw LanguageError("-\(number) is out of range") }
      let node = CELNode.literal(.int(Int64(truncatingIfNeeded: 0 &- number)))
      return try suffixes(of: node).applying(operators)
    }
    return try suffixes(of: try primary()).applying(operators)
  }

  // MARK: Members

  private mutating func suffixes(of start: CELNode) throws(LanguageError) -> CELNode {
    var node = start
    while true {
      try count()
      if accept("[") {
        node = .call("[]", [node, try expression()])
        try expect("]")
      } else if accept(".") {
        guard case .name(let name) = token, !Self.reserved.contains(name) else {
          throw LanguageError("expected a name before \(tokenText) in the expression")
        }
        position += 1
        node = accept("(") ? try method(name, of: node) : .select(node, name)
      } else {
        return node
      }
    }
  }

  private static let reserved: Set<String> = ["in", "true", "false", "null"]

  private mutating func method(_ name: String, of node: CELNode) throws(LanguageError) -> CELNode {
    if let macro = CELMacro(rawValue: name) {
      guard case .name(let variable) = token, !Self.reserved.contains(variable) else {
        throw LanguageError("\(name) requires the name of a variable")
      }
      position += 1
      try expect(",")
      scope.append(variable)
      defer { scope.removeLast() }
      var condition = try expression()
      var result: CELNode?
      if macro == .map {
        result = condition
        condition = .literal(.bool(true))
        if accept(","), let first = result {
          condition = first
          result = try expression()
        }
      }
      try expect(")")
      return .comprehension(macro, over: node, condition: condition, result: result)
    }
    let arguments = try self.arguments(until: ")")
    guard CELFunctions.isMethod(name, arguments.count) else {
      throw LanguageError("the function \(name) with \(arguments.count) arguments is not supported")
    }
    return .call(name, [node] + arguments)
  }

  private mutating func arguments(until end: String) throws(LanguageError) -> [CELNode] {
    var arguments: [CELNode] = []
    while !accept(end) {
      if !arguments.isEmpty { try expect(",") }
      // A list may end with a comma.
      if !arguments.isEmpty, end == "]", accept(end) { break }
      try count()
      arguments.append(try expression())
    }
    return arguments
  }

  private mutating func primary() throws(LanguageError) -> CELNode {
    let token = token
    position += 1
    switch token {
    case .int(let number):
      guard number <= UInt64(Int64.max) else { throw LanguageError("\(number) is out of range") }
      return .literal(.int(Int64(number)))
    case .uint(let number): return .literal(.uint(number))
    case .double(let number): return .literal(.double(number))
    case .string(let text): return .literal(.string(text))
    case .bytes(let bytes): return .literal(.bytes(bytes))
    case .name(let name): return try named(name)
    case .symbol("("):
      let node = try expression()
      try expect(")")
      return node
    case .symbol("["): return .list(try arguments(until: "]"))
    case .symbol("{"):
      var entries: [(key: CELNode, value: CELNode)] = []
      while !accept("}") {
        if !entries.isEmpty {
          try expect(",")
          if accept("}") { break }
        }
        try count()
        let key = try expression()
        try expect(":")
        entries.append((key, try expression()))
      }
      return .map(entries)
    default:
      position -= 1
      throw LanguageError("unexpected \(tokenText) in the expression")
    }
  }

  private mutating func named(_ name: String) throws(LanguageError) -> CELNode {
    switch name {
    case "true", "false": return .literal(.bool(name == "true"))
    case "null": return .literal(.null)
    default: break
    }
    guard accept("(") else {
      if let index = scope.lastIndex(of: name) { return .variable(index) }
      let types: Set<String> = [
        "bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type",
      ]
      if types.contains(name) { return .literal(.type(name)) }
      if name == "google", let type = timeType() { return .literal(.type(type)) }
      throw LanguageError("\(name) is not a variable")
    }
    let arguments = try self.arguments(until: ")")
    if name == "has" {
      guard arguments.count == 1, case .select(let node, let field) = arguments[0] else {
        throw LanguageError("has requires a field, as in has(this.name)")
      }
      return .has(node, field)
    }
    guard CELFunctions.isFunction(name, arguments.count) else {
      throw LanguageError("the function \(name) with \(arguments.count) arguments is not supported")
    }
    return .call(name, arguments)
  }

  /// The name of the type of timestamps or durations, after `google`; nil if another name follows.
  private mutating func timeType() -> String? {
    for name in ["Timestamp", "Duration"]
    where tokens[position...].prefix(4) == [.symbol("."), .name("protobuf"), .symbol("."), .name(name)] {
      position += 4
      return "google.protobuf.\(name)"
    }
    return nil
  }
}

extension CELNode {
  /// The node after unary operators, the last of which applies first.
  fileprivate func applying(_ operators: [String]) -> CELNode {
    operators.reversed().reduce(self) { .call($1 == "!" ? "!" : "negate", [$0]) }
  }
}
