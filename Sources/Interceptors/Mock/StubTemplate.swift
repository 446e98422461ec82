import Language
import Protobuf
import RPCProtocols

/// The values of a stub's templates during a call.
struct RequestValues: TemplateValues {
  /// The request message to respond to; the last one received.
  var request: Message?
  /// The request's metadata.
  var headers = Headers()
  /// The method that was called.
  let method: MethodName
  /// The number of request messages received.
  var count = 0
  /// Functions and the environment.
  let others: FunctionValues

  func value(of reference: Reference) throws(LanguageError) -> JSONValue {
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
    do {
      let json = try JSONValue(parsing: path.map { try request.json(at: $0) } ?? request.json())
      // JSON has 64-bit numbers in quotes; a template inserts them as numbers.
      if case .string(let digits) = json, let path,
        FieldLeaf(of: path, in: request.type)?.is64BitInteger == true
      {
        return .number(digits)
      }
      return json
    } catch {
      throw LanguageError("\(reference): \(error)")
    }
  }

  func value(of function: Function, _ arguments: [JSONValue]) throws(LanguageError) -> JSONValue {
    try others.value(of: function, arguments)
  }

  func hasVariable(_ name: String) -> Bool { false }
}

/// JSON of a stub, whose strings are templates. A string that is exactly one expression is replaced by the value with its
/// type; within a longer text, an expression is replaced by the value's text.
indirect enum StubTemplate: Sendable {
  case value(JSONValue)
  case text(Template)
  case list([StubTemplate])
  case object([(name: String, value: StubTemplate)])

  /// Parses the templates in JSON.
  ///
  /// - Parameter place: The place in the file, for errors.
  init(_ json: JSONValue, at place: String) throws(FormatError) {
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
    case .null, .bool, .number: self = .value(json)
    }
  }

  /// Parses the template in a text.
  static func template(_ text: String, at place: String) throws(FormatError) -> Template {
    for part in text.split(separator: "{{", omittingEmptySubsequences: false).dropFirst() {
      let name = part.drop { $0 == " " }
      let old = ["request", "text ", "header.", "method", "count", "'{{'"].first(where: name.hasPrefix)
      guard old == nil else {
        throw FormatError(
          reason: "\(place): {{\(name.prefix { $0 != "}" })}} is text; write ${request.PATH}, "
            + "${request.header.NAME}, ${request.method} or ${request.count}")
      }
    }
    do throws(LanguageError) {
      return try Template(parsing: text)
    } catch {
      throw FormatError(reason: "\(place): \(error.reason)" + (error.hint.map { "; \($0)" } ?? ""))
    }
  }

  /// The expressions in order.
  var expressions: [Expression] {
    switch self {
    case .value: []
    case .text(let template): template.expressions
    case .list(let elements): elements.flatMap(\.expressions)
    case .object(let members): members.flatMap(\.value.expressions)
    }
  }

  /// Inserts values.
  func filled(_ values: RequestValues) throws(LanguageError) -> JSONValue {
    switch self {
    case .value(let value): return value
    case .text(let template):
      guard let expression = template.onlyExpression else { return .string(try template.text(values)) }
      return try values.value(of: expression)
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
  func checkTemplates(_ type: MessageType?, _ values: RequestValues) throws(FormatError) {
    for expression in responses.flatMap(\.expressions) {
      do throws(LanguageError) {
        try Self.check(expression, type, values)
      } catch {
        throw FormatError(reason: error.reason + (error.hint.map { "; \($0)" } ?? ""))
      }
    }
  }

  private static func check(
    _ expression: Expression, _ type: MessageType?, _ values: RequestValues
  ) throws(LanguageError) {
    for part in expression.parts { try check(part, type, values) }
    guard case .reference(let reference) = expression else { return }
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
    (headers + trailers).flatMap(\.value.expressions)
      + (pieces + rules.flatMap(\.pieces)).flatMap(\.message.expressions)
      + ([status] + rules.map(\.status)).compactMap { $0 }.flatMap {
        $0.message.expressions + $0.details.flatMap(\.expressions)
      }
  }
}

extension FieldLeaf {
  /// Whether JSON quotes its values although they are numbers.
  var is64BitInteger: Bool {
    switch field.kind {
    case .int64, .sint64, .sfixed64, .uint64, .fixed64: !isWhole
    default: false
    }
  }
}
