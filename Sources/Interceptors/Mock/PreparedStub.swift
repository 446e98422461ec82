import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// A stub prepared for a method with known types.
struct PreparedStub {
  let stub: Stub
  let index: Int
  private let condition: PreparedCondition
  /// The conditions of the rules of each response.
  let rules: [String: PreparedCondition]

  init(_ stub: Stub, index: Int, for call: CallFacts) throws(LanguageError) {
    self.stub = stub
    self.index = index
    condition = try PreparedCondition(stub.condition, "", call.requestType)
    var rules: [String: PreparedCondition] = [:]
    for response in stub.responses {
      for rule in response.rules {
        rules[rule.path] = try PreparedCondition(rule.condition, rule.path, call.requestType)
      }
    }
    self.rules = rules
  }

  /// Why it does not match a call; empty if it does.
  func differences(from values: RequestValues) -> [String] { condition.differences(from: values) }
}

/// A condition on the request, prepared for a type.
struct PreparedCondition {
  private let patterns: [MessagePattern]
  private let tests: [Condition]
  private let type: MessageType?

  init(_ condition: Stub.Condition, _ path: String, _ type: MessageType?) throws(LanguageError) {
    let prefix = path.isEmpty ? "" : "\(path)."
    var patterns: [MessagePattern] = []
    for (key, json, isExact) in [
      ("request", condition.fields, false), ("exactly", condition.exactly, true),
    ] {
      guard let json else { continue }
      guard let type else {
        throw LanguageError("\(prefix)\(key): the schema of the request is unknown")
      }
      do throws(MessageParseError) {
        patterns.append(try MessagePattern(json, of: type, isExact: isExact))
      } catch {
        throw LanguageError("\(prefix)\(key): \(error.withoutPlace)")
      }
    }
    for test in condition.tests {
      do throws(LanguageError) {
        guard type != nil || !test.isAboutMessages else {
          throw LanguageError("the schema of the request is unknown")
        }
        try test.check(against: type, files: NoGoldenFiles())
      } catch {
        throw error.at("\(prefix)where: \(test.text)")
      }
    }
    self.patterns = patterns
    self.tests = condition.tests
    self.type = type
  }

  /// Why a request does not match; empty if it does.
  ///
  /// - Parameter values: The last message of the request and its headers.
  func differences(from values: RequestValues) -> [String] {
    let message = values.request
    var found =
      message.map { message in patterns.flatMap { $0.differences(of: message).map(\.description) } }
      ?? (patterns.isEmpty ? [] : ["there is no message"])
    let request = Request(headers: values.headers, secrets: values.secrets)
    for test in tests {
      switch Self.outcome(test, type, request, values) {
      case .holds: break
      case .fails(let mismatch): found.append("\(test.text(for: request)): \(mismatch)")
      case .invalid(let reason, _): found.append("\(test.text(for: request)): \(reason)")
      }
    }
    return found
  }

  private static func outcome(
    _ test: Condition, _ type: MessageType?, _ request: Request, _ values: RequestValues
  ) -> ConditionOutcome {
    do throws(LanguageError) {
      // Golden files are not about requests.
      let test = try test.filled(values) { path throws(LanguageError) in "\(path)" }
      var evaluation = Evaluation(test, type: type)
      if let message = values.request { evaluation.receive(message) }
      return evaluation.outcome(of: request)
    } catch {
      return .invalid(reason: error.reason, hint: error.hint)
    }
  }

  /// A request, as conditions need it.
  private struct Request: Subject {
    let headers: Headers
    let secrets: CallSecrets?
    let statusNumber = 0
    let statusName = "ok"
    let error = ""
    let statusDetails: [(typeName: String, value: [UInt8])] = []
    let latency = Duration.zero
    let certificateValidity: Duration? = nil

    func headers(_ name: String) -> [String] { headers.values(name) }
    func trailers(_ name: String) -> [String] { [] }
    func connection(_ property: ConnectionProperty) -> [String] { [] }
    func shown(_ value: String, of name: String) -> String {
      Redaction(secrets ?? CallSecrets()).value(value, of: name)
    }
  }
}
