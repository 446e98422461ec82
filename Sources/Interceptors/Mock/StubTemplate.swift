import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// The values of a stub's templates during a call.
struct RequestValues: TemplateValues {
  /// The request message to respond to; the last one received.
  var request: Message?
  /// The request's metadata.
  var headers = Headers()
  /// The credentials of the call.
  var secrets: CallSecrets?
  /// The method that was called.
  let method: MethodName
  /// The number of request messages received.
  var count = 0
  /// Functions and the environment.
  let others: FunctionValues
  /// The variables, while the call uses them.
  var variables = StubVariables()

  func value(of reference: Reference) throws(LanguageError) -> JSONValue {
    if case .variable(let path) = reference { return try variables.value(at: path) }
    guard case .request(let value) = reference else { return try others.value(of: reference) }
    switch value {
    case .method: return .string(method.description)
    case .count: return .number("\(count)")
    case .header(let name): return .string(headers.first(name) ?? "")
    case .message(_, let path):
      guard let request else { return .null }
      return try Self.value(at: path, of: request, reference)
    case .status, .trailer, .detail: throw LanguageError("\(reference): a request has no such value")
    }
  }

  private static func value(
    at path: FieldPath?, of request: Message, _ reference: Reference
  ) throws(LanguageError) -> JSONValue {
    // JSON has 64-bit numbers in quotes; a template inserts them as numbers.
    let options = JSONEncodingOptions(int64s: .numbers)
    do {
      return try JSONValue(
        parsing: path.map { try request.json(at: $0, options: options) } ?? request.json(options: options))
    } catch {
      throw LanguageError("\(reference): \(error)")
    }
  }

  func value(of function: Function, _ arguments: [JSONValue]) throws(LanguageError) -> JSONValue {
    try others.value(of: function, arguments)
  }

  /// The names in which references with values begin.
  static let names = ["request", "env"]

  func hasValues(of name: String) -> Bool { Self.names.contains(name) || variables.has(name) }
}

/// JSON of a stub, in which expressions are replaced: within a string by text, outside of strings by JSON.
indirect enum StubTemplate: Sendable {
  case value(JSONValue)
  case text(Template)
  case expression(Expression)
  case list([StubTemplate])
  case object([(name: String, value: StubTemplate)])

  /// Parses the templates in JSON of ``JSONValue/init(stub:)``.
  ///
  /// - Parameter place: The place in the file, for errors.
  init(_ json: JSONValue, at place: String) throws(LanguageError) {
    switch json {
    case .string(let text): self = .text(try Self.template(text, at: place))
    case .array(let elements):
      var list: [StubTemplate] = []
      for element in elements { list.append(try StubTemplate(element, at: place)) }
      self = .list(list)
    case .object(let members):
      var object: [(name: String, value: StubTemplate)] = []
      for member in members { object.append((member.name, try StubTemplate(member.value, at: place))) }
      self = .object(object)
    case .number(let text) where text.hasPrefix("$"):
      // It was parsed before.
      let parsed = try Expression.parse(in: Array(text.utf8), at: 0, hasShortForm: true)
      self = parsed.map { .expression($0.0) } ?? .value(json)
    case .null, .bool, .number: self = .value(json)
    }
  }

  /// Parses the template in a text.
  static func template(_ text: String, at place: String) throws(LanguageError) -> Template {
    for part in text.split(separator: "{{", omittingEmptySubsequences: false).dropFirst() {
      let name = part.drop { $0 == " " }
      let old = ["request", "text ", "header.", "method", "count", "'{{'"].first(where: name.hasPrefix)
      guard old == nil else {
        throw LanguageError(
          "\(place): {{\(name.prefix { $0 != "}" })}} is text; write ${request.PATH}, "
            + "${request.header.NAME}, ${request.method} or ${request.count}")
      }
    }
    do throws(LanguageError) {
      let template = try Template(parsing: text)
      if case .reference(let reference)? = (try? template.withShortForm())?.onlyExpression,
        template.literal != nil, RequestValues.names.contains(reference.name)
      {
        throw reference.isText
      }
      return template
    } catch {
      throw error.at(place)
    }
  }

  /// The JSON without expressions.
  ///
  /// - Throws: ``LanguageError`` if it has one.
  static func literal(_ json: JSONValue, at place: String) throws(LanguageError) -> JSONValue {
    let template = try StubTemplate(json, at: place)
    guard let expression = template.expressions.first else { return template.written }
    throw LanguageError(
      "\(place): ${\(expression)} has no value here; a condition of where can have it, as in "
        + "\".a == ${request.b}\"; $${ is a literal ${")
  }

  /// The JSON of a template without expressions.
  private var written: JSONValue {
    switch self {
    case .value(let value): value
    case .text(let template): .string(template.literal ?? "")
    case .expression: .null
    case .list(let elements): .array(elements.map(\.written))
    case .object(let members):
      .object(members.map { JSONValue.Member(name: $0.name, value: $0.value.written) })
    }
  }

  /// The expressions in order.
  var expressions: [Expression] {
    switch self {
    case .value: []
    case .text(let template): template.expressions
    case .expression(let expression): [expression]
    case .list(let elements): elements.flatMap(\.expressions)
    case .object(let members): members.flatMap(\.value.expressions)
    }
  }

  /// A string that is one expression; nil if there is none.
  var quotedExpression: Expression? {
    switch self {
    case .value, .expression: nil
    case .text(let template): template.onlyExpression
    case .list(let elements): elements.lazy.compactMap(\.quotedExpression).first
    case .object(let members): members.lazy.compactMap(\.value.quotedExpression).first
    }
  }

  /// Inserts values.
  func filled(_ values: RequestValues) throws(LanguageError) -> JSONValue {
    switch self {
    case .value(let value): return value
    case .text(let template): return .string(try template.text(values))
    case .expression(let expression): return try values.value(of: expression)
    case .list(let elements):
      var filled: [JSONValue] = []
      for element in elements { filled.append(try element.filled(values)) }
      return .array(filled)
    case .object(let members):
      var filled: [JSONValue.Member] = []
      for (name, value) in members {
        filled.append(JSONValue.Member(name: name, value: try value.filled(values)))
      }
      return .object(filled)
    }
  }
}

extension Stub {
  /// Checks that all expressions have values in calls whose requests have a type.
  func checkTemplates(_ type: MessageType?, _ values: RequestValues) throws(LanguageError) {
    for expression in expressions { try Self.check(expression, type, values) }
  }

  /// Checks that stubs set all variables that this stub reads.
  ///
  /// - Parameter names: The variables that stubs set.
  func checkVariables(_ names: Set<String>) throws(LanguageError) {
    for expression in expressions { try Self.checkVariables(expression, names) }
  }

  private static func checkVariables(_ expression: Expression, _ names: Set<String>) throws(LanguageError) {
    for part in expression.parts { try checkVariables(part, names) }
    guard case .reference(.variable(let path)) = expression, !names.contains(path.variable) else { return }
    throw LanguageError(
      "${\(path)}: no stub sets \(path.variable)",
      hint: Reference.variable(path).hint(among: names.sorted())
        ?? "\"set\": {\"\(path.variable)\": VALUE} in a response sets it; write ${env.\(path.variable)} for the environment"
    )
  }

  /// The variables that the stub sets.
  var variables: [String] { sets.map(\.name) }

  private var sets: [Assignment] { responses.flatMap { $0.sets + $0.rules.flatMap(\.sets) } }

  private var expressions: [Expression] {
    let conditions = [condition] + responses.flatMap(\.rules).map(\.condition)
    return conditions.flatMap(\.tests).flatMap(\.expressions)
      + sets.flatMap { $0.target.parts + $0.value.expressions } + responses.flatMap(\.expressions)
  }

  private static func check(
    _ expression: Expression, _ type: MessageType?, _ values: RequestValues
  ) throws(LanguageError) {
    for part in expression.parts { try check(part, type, values) }
    guard case .reference(let reference) = expression else { return }
    // MockFactory checks the names of variables: other stubs set them.
    if case .variable = reference { return }
    guard case .request(.message(let number, let path)) = reference else {
      _ = try values.value(of: reference)
      return
    }
    guard number == nil || number == -1 else {
      throw LanguageError("\(reference): a stub sees the last message", hint: "write ${request.PATH}")
    }
    guard let type, let path else { return }
    do throws(FieldPathError) { _ = try type.field(at: path) } catch {
      throw LanguageError("\(reference): \(error)")
    }
  }
}

extension Stub.Response {
  fileprivate var expressions: [Expression] {
    var found = (headers + trailers).flatMap(\.value.expressions)
    found += (pieces + rules.flatMap(\.pieces)).flatMap(\.message.expressions)
    for status in [status] + rules.map(\.status) {
      guard let status else { continue }
      found += status.message.expressions
      found += status.details.flatMap(\.expressions)
    }
    return found
  }
}

extension JSONValue {
  /// Parses the JSON of a stub. An expression outside of strings is a number with its text.
  ///
  /// - Throws: ``MessageParseError`` if the text is not JSON, or a ``LanguageError`` if an expression is invalid.
  init(stub json: [UInt8]) throws {
    var problem: LanguageError?
    do {
      try self.init(parsing: json) { start in
        do throws(LanguageError) {
          guard json[start] == UInt8(ascii: "$") else { return nil }
          return try Expression.parse(in: json, at: start, hasShortForm: true)?.end
        } catch {
          problem = error
          return nil
        }
      }
    } catch {
      throw problem ?? error
    }
  }
}
