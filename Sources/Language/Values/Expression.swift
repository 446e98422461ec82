import RPCurlProtobuf

/// What `${…}` contains: a literal, a reference to a value, or a call of a function. rpcurl-language(7), VALUES.
package indirect enum Expression: Equatable, Sendable {
  /// A number, `true`, `false`, `null`, a list or an object, as in JSON; and quoted text.
  case literal(JSONValue)
  /// JSON with expressions.
  case json(JSONTemplate)
  case reference(Reference)
  /// The value at a key that is an expression, `users[${request.id}]`, and at the path after it.
  case element(of: Expression, key: Expression, FieldPath?)
  case call(Function, [Expression])
}

/// A function of templates.
package enum Function: String, CaseIterable, Sendable {
  case uuid, now, random, base64, base64decode, count, regex, toInt, sort, file, offset, last, message

  /// Those that have a value in each text.
  package static let ofText = allCases.filter { $0 != .offset && $0 != .last && $0 != .message }

  /// The form of a call, for errors.
  package var form: String {
    switch self {
    case .uuid: "uuid()"
    case .now: "now(+1h)"
    case .random: "random(1,9)"
    case .base64: "base64(X)"
    case .base64decode: "base64decode(X)"
    case .count: "count(X)"
    case .regex: "regex(X, 'PATTERN')"
    case .toInt: "toInt(X)"
    case .sort: "sort(X)"
    case .file: "file(PATH)"
    case .offset: "offset()"
    case .last: "last()"
    case .message: "message(TYPE, JSON)"
    }
  }

  /// How many arguments it has.
  var argumentCounts: ClosedRange<Int> {
    switch self {
    case .uuid, .offset, .last: 0...0
    case .now: 0...1
    case .base64, .base64decode, .count, .toInt, .sort, .file: 1...1
    case .random, .regex, .message: 2...2
    }
  }

  /// Whether the argument at `index` is text as it is written, and not an expression.
  func isWord(at index: Int) -> Bool {
    switch self {
    case .now, .file: true
    case .message: index == 0
    case .uuid, .random, .base64, .base64decode, .count, .regex, .toInt, .sort, .offset, .last: false
    }
  }

  /// Throws if a call cannot have a result with any values of its expressions.
  func check(_ arguments: [Expression]) throws(LanguageError) {
    if case .regex = self, case .literal(.string(let pattern))? = arguments.last {
      _ = try TextPattern(pattern)
    }
  }
}

/// A reference to a value.
package enum Reference: Hashable, Sendable {
  /// A variable of a session, a suite or `--var`, and the path within it. The first step of the path is the variable.
  case variable(FieldPath)
  /// A column of the current row, and the path within its value; nil for the whole row.
  case row(FieldPath?)
  /// A variable of the environment.
  case environment(String)
  /// A value of the last call.
  case last(CallValue)
  /// A value of the current request.
  case request(CallValue)

  /// A name that is no variable.
  enum Root: String, CaseIterable {
    case last, row, env, request
  }

  /// Names that are no variables.
  package static let reserved = Root.allCases.map(\.rawValue)

  /// Throws if a variable cannot have this name.
  package static func check(variable name: String) throws(LanguageError) {
    guard !reserved.contains(name) else {
      throw LanguageError(
        "a value of the language has this name", hint: "use another name, such as \(name)_1")
    }
    guard case .reference(.variable(let path))? = (try? Template(parsing: "${\(name)}"))?.onlyExpression,
      path.steps.count == 1, "\(path)" == name
    else {
      throw LanguageError("invalid name", hint: "use letters, digits and _, as in user_id")
    }
  }

  /// The name in which it begins: that of a variable, or a reserved one.
  package var name: String {
    switch self {
    case .variable(let path): path.variable
    case .row: "row"
    case .environment: "env"
    case .last: "last"
    case .request: "request"
    }
  }

  /// The reference with more steps; nil if its value has no path.
  func appending(_ steps: [FieldPath.Step]) -> Reference? {
    let extended = { (path: FieldPath?) in FieldPath(steps: (path?.steps ?? []) + steps) }
    return switch self {
    case .variable(let path): .variable(extended(path))
    case .row(let path): .row(extended(path))
    case .last(.message(let number, let path)): .last(.message(number: number, path: extended(path)))
    case .last(.detail(let type, let path)): .last(.detail(type: type, path: extended(path)))
    case .request(.message(let number, let path)): .request(.message(number: number, path: extended(path)))
    case .environment, .last, .request: nil
    }
  }

  /// The error for its short form in quotes.
  package var isText: LanguageError {
    LanguageError("\"$\(self)\" is text", hint: "write \"${\(self)}\", or $\(self) without quotes")
  }

  /// What to write instead of a name that is no variable; nil if that is not known.
  ///
  /// - Parameter names: The variables that exist.
  package func hint(among names: [String]) -> String? {
    if let function = Function(rawValue: name) { return "write ${\(function.form)}" }
    let nearest = DescriptorPool.nearestNames(to: name, among: names + Self.reserved)
    let rest = "\(self)".dropFirst(name.count)
    return nearest.isEmpty ? nil : "did you mean \(nearest.map { $0 + rest }.joined(separator: ", or "))?"
  }
}

/// A value of a call.
package enum CallValue: Hashable, Sendable {
  /// The name of a property of the call, which is not a field of its message.
  package enum Word: String, CaseIterable, Sendable {
    case status, header, trailer, detail, method, count

    /// Those of `last`.
    package static let ofLast: [Word] = [.status, .header, .trailer, .detail]
    /// Those of `request`.
    package static let ofRequest: [Word] = [.header, .method, .count]
  }

  /// A field of a message, or a whole message if `path` is nil. The number counts from 0, or from the end if it is
  /// negative; nil for the last message.
  case message(number: Int?, path: FieldPath?)
  /// The name of the status.
  case status
  case header(String)
  case trailer(String)
  /// A field of a detail of the status, or a whole detail if `path` is nil. The type is the end of the name of a message
  /// type.
  case detail(type: String, path: FieldPath?)
  case method
  /// The number of messages.
  case count
}

extension Expression {
  /// The expressions in it: the arguments of a call, or those of a list or an object.
  package var parts: [Expression] {
    switch self {
    case .literal, .reference: []
    case .element(let base, let key, _): [base, key]
    case .json(let template): template.expressions
    case .call(_, let arguments): arguments
    }
  }

  /// Whether it calls a function.
  package func calls(_ function: Function) -> Bool {
    if case .call(function, _) = self { return true }
    return parts.contains { $0.calls(function) }
  }

  /// Whether it reads the environment or a file.
  package var readsElsewhere: Bool {
    if case .reference(.environment) = self { return true }
    if case .call(.file, _) = self { return true }
    return parts.contains(where: \.readsElsewhere)
  }
}

extension Expression: CustomStringConvertible {
  /// The text of the expression; parsing it gives the same expression.
  package var description: String {
    switch self {
    case .literal(.string(let text)): Self.quoted(text)
    case .literal(let value):
      // In a list or an object, a dollar sign may begin an expression.
      value.text.replacing("$", with: "\\u0024")
    case .json(let template): "\(template)"
    case .reference(let reference): "\(reference)"
    case .element(let base, let key, let path): "\(base)[${\(key)}]\(Reference.text(path))"
    case .call(let function, let arguments):
      "\(function.rawValue)(\(arguments.map(\.description).joined(separator: ",")))"
    }
  }

  /// Text in single quotes, or as a string of JSON if it contains one.
  private static func quoted(_ text: String) -> String {
    let isPlain = !text.unicodeScalars.contains { $0 == "'" || $0 == "\\" || $0.value < 0x20 }
    // In a string of JSON, a dollar sign may begin an expression.
    return isPlain ? "'\(text)'" : JSONValue.quoted(text).replacing("$", with: "\\u0024")
  }
}

extension Reference: CustomStringConvertible {
  /// The text of the reference, without braces.
  package var description: String {
    switch self {
    case .variable(let path): "\(path)"
    case .row(let path): "row\(Self.text(path))"
    case .environment(let name): "env.\(name)"
    case .last(let value): "last\(value)"
    case .request(let value): "request\(value)"
    }
  }

  /// A path that follows a name.
  fileprivate static func text(_ path: FieldPath?) -> String {
    guard let text = path.map({ "\($0)" }) else { return "" }
    return text.hasPrefix("[") ? text : ".\(text)"
  }
}

extension CallValue: CustomStringConvertible {
  /// The text that follows `last` or `request`.
  package var description: String {
    switch self {
    case .message(let number, let path): (number.map { "[\($0)]" } ?? "") + Reference.text(path)
    case .status: ".status"
    case .header(let name): ".header.\(name)"
    case .trailer(let name): ".trailer.\(name)"
    case .detail(let type, let path):
      (type.contains(".") ? ".detail[\(type)]" : ".detail.\(type)") + Reference.text(path)
    case .method: ".method"
    case .count: ".count"
    }
  }
}

extension FieldPath {
  /// The name of the variable in which the path begins.
  package var variable: String {
    if case .field(let name)? = steps.first { return name }
    return description
  }
}

extension FieldPath.Subscript {
  /// Makes the subscript of a value; nil if no list and no map has such a key.
  init?(_ key: JSONValue) {
    switch key {
    case .string(let text): self = .string(text)
    case .bool(let flag): self = .bool(flag)
    case .number(let text):
      if let number = Int64(text) {
        self = .integer(number)
      } else if let number = UInt64(text) {
        self = .unsigned(number)
      } else {
        return nil
      }
    case .null, .array, .object: return nil
    }
  }
}

extension JSONValue {
  /// The value at a path.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - reference: The reference, for errors.
  package func value(at path: FieldPath, _ reference: String) throws(LanguageError) -> JSONValue {
    do throws(FieldPathError) {
      return try path.value(in: self)
    } catch {
      let isUnknown = if case .unknownField = error { true } else { false }
      throw LanguageError("\(reference): \(isUnknown ? "no such value" : error.message)", hint: error.hint)
    }
  }

  /// The value at a path whose first step is the name of the variable that has this value.
  package func value(ofVariableAt path: FieldPath) throws(LanguageError) -> JSONValue {
    // Errors name the variable, as the first step of the path does.
    try JSONValue.object([Member(name: path.variable, value: self)]).value(at: path, "\(path)")
  }
}
