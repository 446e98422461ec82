import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// One stub of a file: a response and the calls that it applies to.
struct Stub: Sendable {
  /// A condition on request messages.
  struct Condition: Sendable {
    var fields: JSONValue?
    var exactly: JSONValue?
    var tests: [RPCurlLanguage.Condition] = []
  }

  /// A message of a response.
  struct Piece: Sendable {
    /// Its path in the file, for errors.
    let path: String
    let delay: Duration
    let message: StubTemplate
  }

  /// A status other than ok.
  struct Status: Sendable {
    let path: String
    let code: StatusCode
    let message: Template
    let details: [StubTemplate]
  }

  /// A variable that a response sets.
  struct Assignment: Sendable {
    /// Its path in the file, for errors.
    let path: String
    /// The name of the variable.
    let name: String
    /// The variable, or an element of it.
    let target: Expression
    let value: StubTemplate
  }

  /// A response to each matching message of a stream.
  struct Rule: Sendable {
    let path: String
    let condition: Condition
    let sets: [Assignment]
    let delay: Duration
    let pieces: [Piece]
    /// If set, the status that ends the call.
    let status: Status?
  }

  struct Response: Sendable {
    let sets: [Assignment]
    let delay: Duration
    let headers: [(name: String, value: Template)]
    let pieces: [Piece]
    let rules: [Rule]
    let trailers: [(name: String, value: Template)]
    let status: Status?
  }

  let place: DocumentPlace
  let method: MethodPattern
  let condition: Condition
  let times: Int?
  let responses: [Response]
}

// MARK: - Reading

extension Stub {
  init(_ json: JSONValue, at place: DocumentPlace) throws(LanguageError) {
    self.place = place
    let object = try ObjectReader(
      json,
      keys: ["method", "request", "exactly", "where", "times", "response", "responses", "comment"],
      replaced: ["headers": "write \"where\":[\"header NAME == VALUE\"]"])
    let name = try object.string("method") ?? "*"
    guard let method = MethodPattern(name) else {
      throw object.error("method", "must be pkg.Service/Method, pkg.Service/*, */Method or *")
    }
    self.method = method
    condition = try Condition(object)
    times = try object.integer("times", atLeast: 1)
    var responses: [Response] = []
    if let response = object.value("response") {
      guard object.value("responses") == nil else {
        throw object.error("responses", "cannot be combined with response")
      }
      responses = [try Response(response, "response")]
    } else {
      for (index, response) in (try object.array("responses") ?? []).enumerated() {
        responses.append(try Response(response, "responses[\(index)]"))
      }
    }
    guard !responses.isEmpty else { throw object.error("response", "missing") }
    self.responses = responses
  }
}

extension Stub.Condition {
  static let keys = ["request", "exactly", "where"]

  init(_ object: ObjectReader) throws(LanguageError) {
    for (key, pattern) in [("request", \Self.fields), ("exactly", \Self.exactly)] {
      guard let json = object.value(key) else { continue }
      self[keyPath: pattern] = try StubTemplate.literal(json, at: object.place(key))
    }
    for text in try object.strings("where") {
      do throws(LanguageError) {
        let test = try RPCurlLanguage.Condition(parsing: text)
        guard test.isAboutRequest else {
          throw LanguageError(
            "\(text) is not about the request", hint: "write header NAME, a path, or ${NAME} for a variable")
        }
        let expressions = try RPCurlLanguage.Condition(parsing: text, hasShortForm: true).expressions
        for case .reference(.request(let value)) in expressions
        where !test.expressions.contains(.reference(.request(value))) {
          let reference = Reference.request(value)
          throw LanguageError("$\(reference) is text", hint: "write ${\(reference)}")
        }
        tests.append(test)
      } catch {
        throw error.at(object.place("where"))
      }
    }
  }

  /// Whether every message matches.
  var isEmpty: Bool { fields == nil && exactly == nil && tests.isEmpty }
}

extension Stub.Response {
  init(_ json: JSONValue, _ path: String) throws(LanguageError) {
    let object = try ObjectReader(
      json, path, keys: ["set", "delay", "headers", "message", "messages", "each", "trailers", "status"])
    sets = try Stub.Assignment.all(object)
    delay = try object.duration("delay") ?? .zero
    headers = try Self.metadata("headers", object)
    trailers = try Self.metadata("trailers", object)
    pieces = try Stub.Piece.all(object)
    status = try Stub.Status(object)
    switch object.value("each") {
    case nil: rules = []
    case .array(let elements)?:
      var rules: [Stub.Rule] = []
      for (index, element) in elements.enumerated() {
        rules.append(try Stub.Rule(element, "\(object.place("each"))[\(index)]"))
      }
      self.rules = rules
    case let rule?: rules = [try Stub.Rule(rule, object.place("each"))]
    }
  }

  private static func metadata(
    _ key: String, _ object: ObjectReader
  ) throws(LanguageError) -> [(name: String, value: Template)] {
    guard let reader = try object.object(key, keys: nil) else { return [] }
    var fields: [(name: String, value: Template)] = []
    for member in reader.members {
      guard HeaderSyntax.isName(member.name) else {
        throw reader.error(member.name, "is not a valid header name")
      }
      let template = { (text: String) throws(LanguageError) in
        try StubTemplate.template(text, at: reader.place(member.name))
      }
      // A look-up by the name would search all members.
      switch member.value {
      case .null: continue
      case .string(let text): fields.append((member.name, try template(text)))
      default:
        for text in try reader.strings(of: member) { fields.append((member.name, try template(text))) }
      }
    }
    return fields
  }
}

extension Stub.Assignment {
  /// Parses `set`: variables and their values, in order.
  fileprivate static func all(_ object: ObjectReader) throws(LanguageError) -> [Stub.Assignment] {
    guard let reader = try object.object("set", keys: nil) else { return [] }
    var sets: [Stub.Assignment] = []
    for member in reader.members {
      let place = reader.place(member.name)
      do throws(LanguageError) {
        let (name, target) = try self.target(member.name)
        sets.append(
          Stub.Assignment(
            path: place, name: name, target: target, value: try StubTemplate(member.value, at: place)))
      } catch {
        throw error.reason.hasPrefix(place) ? error : error.at(place)
      }
    }
    return sets
  }

  /// Parses `NAME` or `NAME[KEY]`, where the key may be an expression.
  private static func target(_ text: String) throws(LanguageError) -> (name: String, Expression) {
    guard let target = (try? Template(parsing: "${\(text)}"))?.onlyExpression else {
      // The error of the text itself, such as an unknown function.
      _ = try Template(parsing: text)
      throw LanguageError("\(text) is not the name of a variable", hint: Self.hint)
    }
    let path: FieldPath
    switch target {
    case .reference(.variable(let whole)): path = whole
    case .element(of: .reference(.variable(let base)), key: _, nil):
      path = base.appending(.subscripted(.string("")))
    default: throw LanguageError("\(text) is not a variable", hint: Self.hint)
    }
    guard StubVariables.canSet(path) else { throw LanguageError("\(text) cannot be set", hint: Self.hint) }
    try Reference.check(variable: path.variable)
    return (path.variable, target)
  }

  private static let hint = "write NAME, or NAME[${EXPRESSION}] for an element"
}

extension Stub.Piece {
  private init(path: String, delay: Duration, json: JSONValue) throws(LanguageError) {
    self.init(path: path, delay: delay, message: try StubTemplate(json, at: path))
  }

  /// Parses `message` or `messages`; each is a message or, with a delay, `{"delay":"…","message":{…}}`.
  fileprivate static func all(_ object: ObjectReader) throws(LanguageError) -> [Stub.Piece] {
    if let message = object.value("message") {
      guard object.value("messages") == nil else {
        throw object.error("messages", "cannot be combined with message")
      }
      return [try Stub.Piece(path: object.place("message"), delay: .zero, json: message)]
    }
    var pieces: [Stub.Piece] = []
    for (index, element) in (try object.array("messages") ?? []).enumerated() {
      let path = "\(object.place("messages"))[\(index)]"
      if case .object(let members) = element, members.contains(where: { $0.name == "delay" }),
        members.count == 2, let message = element["message"]
      {
        let reader = try ObjectReader(element, path, keys: ["delay", "message"])
        let delay = try reader.duration("delay") ?? .zero
        pieces.append(try Stub.Piece(path: reader.place("message"), delay: delay, json: message))
      } else {
        pieces.append(try Stub.Piece(path: path, delay: .zero, json: element))
      }
    }
    return pieces
  }
}

extension Stub.Status {
  /// The status in an object; `nil` if it is absent or ok.
  fileprivate init?(_ object: ObjectReader) throws(LanguageError) {
    guard let value = object.value("status") else { return nil }
    path = object.place("status")
    guard case .object = value else {
      guard let code = try object.code("status"), code != .ok else { return nil }
      (self.code, message, details) = (code, Template(literal: ""), [])
      return
    }
    let reader = try ObjectReader(value, path, keys: ["code", "message", "details"])
    guard let code = try reader.code("code") else { throw reader.error("code", "missing") }
    guard code != .ok else { return nil }
    self.code = code
    message = try StubTemplate.template(reader.string("message") ?? "", at: reader.place("message"))
    var details: [StubTemplate] = []
    for (index, detail) in (try reader.array("details") ?? []).enumerated() {
      details.append(try StubTemplate(detail, at: "\(reader.place("details"))[\(index)]"))
    }
    self.details = details
  }
}

extension Stub.Rule {
  fileprivate init(_ json: JSONValue, _ path: String) throws(LanguageError) {
    let object = try ObjectReader(
      json, path, keys: Stub.Condition.keys + ["set", "message", "messages", "delay", "status"])
    self.path = path
    condition = try Stub.Condition(object)
    sets = try Stub.Assignment.all(object)
    status = try Stub.Status(object)
    delay = try object.duration("delay") ?? .zero
    pieces = try Stub.Piece.all(object)
    guard !pieces.isEmpty || status != nil || !sets.isEmpty else { throw object.error("message", "missing") }
  }
}
