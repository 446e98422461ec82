import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The values of a session: its variables, the last call, the last request, and the row of a test.
package struct SessionVariables {
  /// A variable that was set.
  private struct Variable {
    let value: JSONValue
    let bytes: Int
    /// Whether a server may have chosen it.
    let isFromServer: Bool
  }

  /// The call of the last command about a call; nil before the first one.
  package var last: (any LastCall)?
  /// The last request message.
  package var request: SessionMessage?
  /// The row of the test that runs; nil if it has none.
  package var row: JSONValue?
  /// The limit of all variables together and of a text with its values, in bytes. A variable that is
  /// repeatedly set to itself twice doubles each time.
  package static let defaultLimitBytes = Template.limitBytes

  private var own: [String: Variable] = [:]
  private let limitBytes: Int
  private let functions: TemplateFunctions
  let environment: (String) -> String?
  /// Returns the schema of `message(TYPE, JSON)`.
  package var schema: () throws(LanguageError) -> DescriptorPool? = { () throws(LanguageError) in nil }

  /// Makes values without variables.
  ///
  /// - Parameters:
  ///   - functions: The functions; their random values go on from call to call.
  ///   - limitBytes: The limit of all variables together and of a text with its values.
  ///   - environment: Returns the value of an environment variable.
  package init(
    _ functions: TemplateFunctions, limitBytes: Int = defaultLimitBytes,
    environment: @escaping (String) -> String?
  ) {
    self.functions = functions
    self.limitBytes = limitBytes
    self.environment = environment
  }

  /// The names of the values that exist.
  package var names: [String] {
    own.keys.sorted() + (last == nil ? [] : ["last"]) + (request == nil ? [] : ["request"])
      + (row == nil ? [] : ["row"])
  }

  /// Sets a variable.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - value: Its value.
  ///   - isFromServer: Whether a server may have chosen the value.
  /// - Throws: `Failure` if the name is invalid or the value is too large.
  package mutating func set(_ name: String, to value: JSONValue, isFromServer: Bool = false) throws(Failure) {
    do throws(LanguageError) { try Reference.check(variable: name) } catch {
      throw Failure(.usage, name, error)
    }
    let bytes = value.text.utf8.count
    let others = own.values.reduce(0) { $0 + $1.bytes } - (own[name]?.bytes ?? 0)
    guard others + bytes <= limitBytes else {
      throw Failure(
        .usage, name, "the variables would exceed \(limitBytes) bytes",
        hint: "unset variables that are not needed")
    }
    own[name] = Variable(value: value, bytes: bytes, isFromServer: isFromServer)
  }

  /// Removes a variable.
  package mutating func unset(_ name: String) throws(Failure) {
    guard own.removeValue(forKey: name) != nil else {
      let path = FieldPath(steps: [.field(name)])
      throw Failure(unknown(.variable(path)))
    }
  }

  /// Whether a server may have chosen a value of a template.
  func isFromServer(_ expressions: [Expression]) -> Bool {
    expressions.contains { expression in
      switch expression {
      case .literal, .reference(.row), .reference(.environment): false
      case .reference(.last), .reference(.request): true
      case .reference(let reference): own[reference.name]?.isFromServer ?? false
      case .json(let template): isFromServer(template.expressions)
      case .element, .call: isFromServer(expression.parts)
      }
    }
  }

  // MARK: Templates

  /// The value of an expression, written with or without its dollar sign.
  func value(of text: String) throws(Failure) -> JSONValue {
    let expression: Expression?
    do throws(Failure) {
      expression = try template(text.begins(with: "$") ? text : "${\(text)}").onlyExpression
    } catch {
      guard Template.reference(in: text) != nil else { throw error }
      expression = nil
    }
    guard let expression else {
      throw Failure(
        .usage, text, "not a value",
        hint: "text is in quotes: \(JSONValue.quoted(text)); or print $last.user.id")
    }
    do throws(LanguageError) { return try value(of: expression) } catch { throw Failure(error) }
  }

  /// Parses text with values.
  func template(_ text: some StringProtocol, hasShortForm: Bool = true) throws(Failure) -> Template {
    do throws(LanguageError) {
      let template = try Template(parsing: text)
      return hasShortForm ? try template.withShortForm() : template
    } catch {
      throw Failure(error)
    }
  }

  /// Inserts values into text.
  func expanded(_ template: Template) throws(Failure) -> ExpandedText {
    do throws(LanguageError) {
      return ExpandedText(try template.pieces(self, limitBytes: limitBytes))
    } catch {
      throw Failure(error)
    }
  }

  /// Inserts values into JSON.
  ///
  /// - Returns: The JSON, and what it contains.
  package func expand(json: String) throws(Failure) -> ExpandedJSON {
    do throws(LanguageError) {
      let template = try JSONTemplate(parsing: Array(json.utf8), hasShortForm: true)
      let expressions = template.expressions
      return ExpandedJSON(
        bytes: try template.json(self, limitBytes: limitBytes),
        isFromServer: isFromServer(expressions),
        mayBeSecret: expressions.contains {
          switch $0 {
          case .call, .json, .element, .reference(.environment): true
          case .literal, .reference: false
          }
        })
    } catch {
      throw Failure(error)
    }
  }

  /// The error for a variable that is not set.
  func unknown(_ reference: Reference, among names: [String]? = nil) -> LanguageError {
    let name = reference.name
    let hint =
      row?[name] != nil
      ? "write ${row.\(name)}"
      : environment(name) != nil ? "write ${env.\(name)}" : reference.hint(among: names ?? own.keys.sorted())
    return LanguageError("\(name): no such variable", hint: hint)
  }
}

/// JSON whose values are inserted.
package struct ExpandedJSON {
  package let bytes: [UInt8]
  /// Whether a server may have chosen a part of it.
  package let isFromServer: Bool
  /// Whether it has results of functions or variables of the environment, which errors must not show.
  package let mayBeSecret: Bool
}

// MARK: Values

extension SessionVariables: TemplateValues {
  package func value(of reference: Reference) throws(LanguageError) -> JSONValue {
    switch reference {
    case .variable(let path):
      guard let variable = own[reference.name] else { throw unknown(reference) }
      return try variable.value.value(ofVariableAt: path)
    case .row(let path):
      guard let row else {
        throw LanguageError("\(reference): no row", hint: "\"rows FILE\" in a test runs it for each row")
      }
      return try path.map { path throws(LanguageError) in try row.value(at: path, "\(reference)") } ?? row
    case .environment(let name):
      guard let value = environment(name) else {
        throw LanguageError("env.\(name): the environment variable is not set", hint: "export \(name)=VALUE")
      }
      return .string(value)
    case .last(let value):
      guard let last else {
        throw LanguageError("\(reference): no call was made yet", hint: "call METHOD")
      }
      return try last.value(of: value, "\(reference)")
    case .request(.message(nil, let path)):
      guard let request else {
        throw LanguageError("\(reference): no request was sent yet", hint: "call METHOD")
      }
      return try request.value(at: path, "\(reference)")
    case .request:
      throw LanguageError("\(reference): only stubs of mock have this value", hint: "write ${request.FIELD}")
    }
  }

  package func value(of function: Function, _ arguments: [JSONValue]) throws(LanguageError) -> JSONValue {
    try functions.value(of: function, arguments, pool: function == .message ? schema() : nil)
  }

  package func hasValues(of name: String) -> Bool {
    own[name] != nil || Reference.reserved.contains(name)
  }
}

// MARK: Completion

extension SessionVariables {
  /// What completion can name.
  package var scope: LanguageScope {
    var scope = LanguageScope(statuses: .codes, environment: EnvironmentVariables.names)
    scope.variables = own.keys.sorted()
    scope.types = last.map { [$0.responseType] } ?? []
    let message = last.flatMap { $0.seen > 0 ? $0.response($0.seen - 1) : nil }
      .flatMap { try? $0.message() }
    scope.last = last.map { last in
      LanguageScope.Call(
        type: scope.types.first, message: message, words: CallValue.Word.ofLast,
        headers: last.headers?.fields.map(\.name) ?? [],
        trailers: last.trailers?.fields.map(\.name) ?? [], details: last.details.map(\.typeName))
    }
    scope.request = request.map { LanguageScope.Call(type: $0.type) }
    scope.value = { try? value(of: $0) }
    scope.hasShortForm = true
    scope.functions = Function.ofText + [.message]
    return scope
  }
}
