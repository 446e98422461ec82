import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that check calls against conditions, and report those that fail.
struct AssertFactory: CollectingFactory {
  static let description = BuiltIns.Description(
    name: "assert", summary: "check status, metadata, messages and latency against conditions",
    keys: [
      BuiltIns.Key(
        "check=CONDITION", "condition on the response, as after expect; see rpcurl-language(7)",
        mayRepeat: true),
      BuiltIns.Key("name=TEXT", "name of the check in reports"),
      BuiltIns.Key("junit=FILE", "write a JUnit XML report of all calls of this run", isOutput: true),
    ],
    replaced: [
      "code", "message", "header", "trailer", "field", "first-field", "last-field", "any-field", "nth-field",
      "messages", "latency",
    ].reduce(into: [:]) { replaced, key in
      replaced[key] = { newForm(of: key, $0) }
    },
    isHarmless: true,
    make: { settings, services throws(ConfigurationError) in try AssertFactory(settings, services) })

  private let conditions: ResponseConditions
  private let report: ReportFile<AssertReport.Case>?
  private let services: any InterceptorServices
  private let name: String
  /// The name of the check in reports.
  private let title: String?
  /// Whether it is for all calls.
  private let isForAll: Bool
  private let hasCalls = Locked(false)

  private init(
    _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) {
    self.services = services
    name = settings.interceptor
    title = settings.text("name")
    isForAll = settings.isForAll
    conditions = try ResponseConditions(settings, key: "check", services)
    guard let path = settings.text("junit") else {
      report = nil
      return
    }
    do throws(SystemError) {
      let report = try AssertReport.file(path, services)
      try report.write()
      self.report = report
    } catch {
      throw settings.error("junit", "\(path): \(error.reason)")
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: conditions.stages, messages: MessageAccesses(.readTyped), effects: .checksResults
    ).keepingResponses().readingCertificates(conditions.readCertificates)
  }

  func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    report?.conclude(name, network)
    noteUnchecked(network)
    completion()
  }

  /// Warns that no call has reached the interceptor, as after one that responds, such as `replay`.
  private func noteUnchecked(_ network: FactoryNetwork) {
    // Nil if none was made.
    guard network.facts() != nil else { return }
    guard report?.isEmpty ?? false || isForAll && !hasCalls.withLock({ $0 }) else { return }
    network.log(
      LogRecord(
        level: .warning, source: name, text: "no call reached it, so its conditions were not checked"))
  }

  func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    hasCalls.withLock { $0 = true }
    do throws(LanguageError) {
      try conditions.check(against: call.responseType)
    } catch {
      // The condition can never hold for this call.
      let error = ConfigurationError(
        interceptor: context.name, key: "check", reason: error.reason, hint: error.hint)
      try? report?.add(AssertReport.notMade(error.description, at: services.nanosecondsSince1970))
      throw error
    }
    return Assertions(
      conditions, named: title, of: call, context, report, startedAt: services.nanosecondsSince1970)
  }
}

// MARK: - Earlier forms

extension AssertFactory {
  /// What to write instead of an earlier key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: Its value. That of a header may be a secret, and is not shown.
  static func newForm(of key: String, _ value: String) -> String {
    let condition = condition(of: key, value)
    let other = key == "header" ? "; chain-header=NAME selects calls by a header of the request" : ""
    return "write check='\(condition)'\(other)"
  }

  /// What to write instead of `KEY=VALUE` with an earlier key; nil for other text.
  static func newForm(of text: String) -> String? {
    let key = String(text.prefix { $0 != "=" })
    // The parser shows how `latency=<10s` is written.
    guard description.replaced[key] != nil, key != "latency", key.utf8.count < text.utf8.count else {
      return nil
    }
    let value = String(text.dropFirst(key.count + 1))
    guard !value.hasPrefix("="), !value.hasPrefix("~") else { return nil }
    return "write \(condition(of: key, value))"
  }

  private static func condition(of key: String, _ value: String) -> String {
    switch key {
    case "code": return "status \(value)"
    case "message": return "error =~ \(value)"
    case "header", "trailer": return "\(key) NAME == VALUE"
    case "messages": return "count \(value)"
    case "latency": return "latency < \(value.drop { "<= ".contains($0) })"
    case "nth-field":
      let number = value.prefix { $0 != ":" }
      return "message \(number) \(field(value.dropFirst(number.count + 1)))"
    case "last-field": return field(value[...])
    default:
      let selection = key.split(separator: "-")[0]
      return "\(selection == "field" ? "every" : selection) \(field(value[...]))"
    }
  }

  /// A condition on a field in the present words.
  private static func field(_ text: Substring) -> String {
    text.split(separator: " ", omittingEmptySubsequences: false).enumerated().map { index, word in
      index == 0 ? ".\(word)" : word == "missing" ? "absent" : word == "length" ? "size" : "\(word)"
    }.joined(separator: " ")
  }
}
