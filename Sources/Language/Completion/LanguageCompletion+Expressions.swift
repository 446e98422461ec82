import RPCurlProtobuf

extension LanguageCompletion {
  /// Completes the expression at the end of a text; nil if none is being typed.
  static func expression(at typed: String, _ scope: LanguageScope) -> LanguageCompletion? {
    guard let open = OpenExpression(in: typed) else {
      return scope.hasShortForm ? shortForm(at: typed, scope) : nil
    }
    guard !open.isQuoted else { return none }
    let token = typed[open.start...]
    if let (function, index) = open.call, function.isWord(at: index) {
      return function == .message
        ? LanguageCompletion(token, scope.typeNames().map { Candidate("\($0), ") }) : none
    }
    return reference(token, scope, end: open.isWhole ? "}" : "", hasFunctions: true)
  }

  /// Completes `$name.path`, which begins a word or a value of JSON.
  private static func shortForm(at typed: String, _ scope: LanguageScope) -> LanguageCompletion? {
    guard let dollar = typed.lastIndex(of: "$") else { return nil }
    let before = typed[..<dollar].last
    let token = typed[typed.index(after: dollar)...]
    guard before == nil || before.map({ $0.isWhitespace || ":,[=".contains($0) }) == true,
      token.endOfFieldPath == token.endIndex, !token.contains(where: { "{}(),".contains($0) })
    else { return nil }
    return reference(token, scope, end: "", hasFunctions: false)
  }

  /// Completes a reference, or the name of a function.
  private static func reference(
    _ token: Substring, _ scope: LanguageScope, end: String, hasFunctions: Bool
  ) -> LanguageCompletion {
    guard let stop = token.firstIndex(where: { ".[".contains($0) }) else {
      return LanguageCompletion(
        token, names(scope, end: end) + (hasFunctions ? functions(scope, end: end) : []))
    }
    let rest = token[stop...]
    switch Reference.Root(rawValue: String(token[..<stop])) {
    case .env:
      return LanguageCompletion(rest.dropFirst(), scope.environment.map { Candidate($0 + end) })
    case .last: return scope.last.map { call($0, rest, scope, end: end) } ?? none
    case .request:
      return scope.request.map { call($0, rest, scope, end: end) } ?? none
    case .row, nil: return members(token, scope, end: end)
    }
  }

  /// The names that a reference can begin with.
  private static func names(_ scope: LanguageScope, end: String) -> [Candidate] {
    var found: [Candidate] = []
    for name in scope.variables {
      guard let path = try? FieldPath(name) else { continue }
      found += candidates(name, scope.value(.variable(path)), "variable", end: end)
    }
    for root in Reference.Root.allCases {
      let name = root.rawValue
      switch root {
      case .env: found.append(Candidate("\(name).", "variable of the environment"))
      case .last where scope.last != nil:
        found += [Candidate(name + end, "last response"), Candidate("\(name).", "")]
      case .request where scope.request != nil:
        found += [Candidate(name + end, "request"), Candidate("\(name).", "")]
      case .row:
        found += scope.value(.row(nil)).map { candidates(name, $0, "row of the test", end: end) } ?? []
      case .last, .request: break
      }
    }
    return found
  }

  private static func functions(_ scope: LanguageScope, end: String) -> [Candidate] {
    scope.functions.map { function in
      let isEmpty = function.argumentCounts.upperBound == 0
      return Candidate(isEmpty ? "\(function.rawValue)()\(end)" : "\(function.rawValue)(", function.form)
    }
  }

  /// Completes what follows `last` or `request`.
  private static func call(
    _ call: LanguageScope.Call, _ rest: Substring, _ scope: LanguageScope, end: String
  ) -> LanguageCompletion {
    let types = call.type.map { [$0] } ?? []
    let message = call.message
    guard rest.hasPrefix(".") else {
      // The number of a message.
      guard let close = rest.firstIndex(of: "]") else { return none }
      let path = rest[rest.index(after: close)...]
      guard path.hasPrefix(".") else {
        return LanguageCompletion(path, [Candidate("."), Candidate(end)].filter { !$0.text.isEmpty })
      }
      return self.path(path, in: types, message, end: end)
    }
    let parts = rest.dropFirst().split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    if parts.count > 1, let word = CallValue.Word(rawValue: String(parts[0])), call.words.contains(word) {
      switch word {
      case .header:
        return LanguageCompletion(
          rest.dropFirst("header.".count + 1), call.headers.map { Candidate($0 + end) })
      case .trailer:
        return LanguageCompletion(
          rest.dropFirst("trailer.".count + 1), call.trailers.map { Candidate($0 + end) })
      case .detail where parts.count > 2:
        return path(parts[2], in: call.detailType(String(parts[1])).map { [$0] } ?? [], end: end)
      case .detail:
        return LanguageCompletion(parts[1], call.detailNames(end: end) + call.detailNames(end: "."))
      case .status, .method, .count: return none
      }
    }
    let fields = path(rest, in: types, message, end: end)
    guard parts.count == 1 else { return fields }
    return LanguageCompletion(parts[0], call.words.map { $0.candidate(end: end) } + fields.candidates)
  }

  /// Completes a member of a variable or a row.
  private static func members(_ token: Substring, _ scope: LanguageScope, end: String) -> LanguageCompletion {
    guard let stop = token.lastIndex(of: "."),
      case .reference(let stem)? = (try? Template(parsing: "${\(token[..<stop])}"))?.onlyExpression,
      case .object(let members)? = scope.value(stem)
    else { return none }
    return LanguageCompletion(
      token[token.index(after: stop)...],
      members.flatMap { member in
        (try? FieldPath(member.name))?.steps == [.field(member.name)]
          ? candidates(member.name, member.value, "", end: end) : []
      })
  }

  /// The ways to go on with a value.
  private static func candidates(_ name: String, _ value: JSONValue?, _ note: String, end: String)
    -> [Candidate]
  {
    let isObject = if case .object? = value { true } else { false }
    return [Candidate(name + end, note)] + (isObject ? [Candidate("\(name).", "a member")] : [])
  }
}

extension CallValue.Word {
  fileprivate func candidate(end: String) -> LanguageCompletion.Candidate {
    switch self {
    case .status: LanguageCompletion.Candidate(rawValue + end, "status of the call")
    case .method: LanguageCompletion.Candidate(rawValue + end, "name of the method")
    case .count: LanguageCompletion.Candidate(rawValue + end, "number of messages")
    case .header, .trailer: LanguageCompletion.Candidate("\(rawValue).", "\(rawValue) of the call")
    case .detail: LanguageCompletion.Candidate("\(rawValue).", "detail of the status")
    }
  }
}

extension LanguageScope.Call {
  /// The last parts of the names of details.
  func detailNames(end: String) -> [LanguageCompletion.Candidate] {
    details.map { LanguageCompletion.Candidate("\($0.split(separator: ".").last ?? "")\(end)", $0) }
  }

  /// The type of a detail, by the end of its name.
  func detailType(_ name: String) -> MessageType? {
    guard let full = details.first(where: { $0 == name || $0.hasSuffix(".\(name)") }) else { return nil }
    return ((try? type?.relative(named: full)) ?? nil) ?? WellKnownMessages.type(full)
  }
}

/// An expression that is not closed at the end of a text. JSON in it has expressions too.
private struct OpenExpression {
  /// The start of its last name.
  private(set) var start: String.Index
  /// Whether the text ends in quotes, or in JSON.
  private(set) var isQuoted = false
  /// Whether the last name is the whole expression.
  private(set) var isWhole = true
  private var calls: [(function: Function?, argument: Int)] = []

  /// The innermost call, and the index of the argument that is typed.
  var call: (Function, Int)? { calls.last.flatMap { call in call.function.map { ($0, call.argument) } } }

  /// Finds the expression; nil if none is open.
  init?(in text: String) {
    // The open expressions, and nil for each list and object of JSON in them.
    var open: [OpenExpression?] = []
    var quote: Character?
    var index = text.startIndex
    while index < text.endIndex {
      let (rest, character) = (text[index...], text[index])
      index = text.index(after: index)
      if let end = quote {
        if character == "\\", index < text.endIndex { index = text.index(after: index) }
        if character == end { quote = nil }
      } else if var expression = open.last ?? nil {
        if character == "'" || character == "\"" { quote = character }
        if character == "{"
          || character == "[" && text[expression.start..<rest.startIndex].allSatisfy({ $0 == " " })
        {
          open.append(nil)
        } else if character == "}" {
          open.removeLast()
        } else {
          expression.read(character, text, next: index)
          open[open.count - 1] = expression
        }
      } else if open.isEmpty, rest.hasPrefix("$${") {
        index = text.index(index, offsetBy: 2)
      } else if rest.hasPrefix("${") {
        index = text.index(after: index)
        open.append(OpenExpression(start: index))
      } else if !open.isEmpty {
        switch character {
        case "\"": quote = character
        case "{", "[": open.append(nil)
        case "}", "]": open.removeLast()
        default: break
        }
      }
    }
    guard let innermost = open.last else { return nil }
    self = innermost ?? OpenExpression(start: text.endIndex)
    isQuoted = quote != nil || innermost == nil
  }

  private init(start: String.Index) { self.start = start }

  /// Reads a character outside of quotes and JSON.
  private mutating func read(_ character: Character, _ text: String, next: String.Index) {
    switch character {
    case "(":
      calls.append((Function(rawValue: String(text[start...].prefix { $0 != "(" })), 0))
    case ")":
      _ = calls.popLast()
      return
    case ",": if let last = calls.indices.last { calls[last].argument += 1 }
    case " ": break
    default: return
    }
    isWhole = isWhole && character == " "
    start = next
  }
}
