import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Conditions on the responses of calls: the checks of `assert`, and the goal of `retry`.
struct ResponseConditions: Sendable {
  fileprivate let conditions: [Condition]
  /// The contents of the golden files.
  fileprivate let files: ReadFiles

  /// Parses the values of a key.
  ///
  /// - Parameter refusal: Why a condition cannot be a value of this key; nil if it can.
  init(
    _ settings: SettingsReader, key: String, _ services: any InterceptorServices,
    refusal: (Condition) -> String? = { _ in nil }
  ) throws(ConfigurationError) {
    var conditions: [Condition] = []
    var contents: [String: [UInt8]] = [:]
    for text in settings.texts(key) {
      let condition: Condition
      do throws(LanguageError) {
        condition = try Condition(parsing: text)
      } catch {
        throw settings.error(key, error.reason, hint: AssertFactory.newForm(of: text) ?? error.hint)
      }
      guard condition.isLiteral else {
        throw settings.error(key, "${…} has no value here", hint: "write $${ for a literal ${")
      }
      if let reason = refusal(condition) { throw settings.error(key, "\(condition.text): \(reason)") }
      if let path = condition.goldenPath {
        do throws(SystemError) {
          contents[path] = try services.contents(ofFile: path, holdsMessages: true)
        } catch {
          throw settings.error(key, "\(path): \(error.reason)")
        }
      }
      conditions.append(condition)
    }
    self.conditions = conditions
    files = ReadFiles(contents: contents)
  }

  /// Whether there are none.
  var isEmpty: Bool { conditions.isEmpty }

  /// Whether one is about the status: a call that ends with another one than ok can then meet them.
  var isAboutStatus: Bool { conditions.contains(where: \.isAboutStatus) }

  /// Whether one is about the certificate of the server.
  var readCertificates: Bool { conditions.contains(where: \.isAboutCertificate) }

  /// The stages at which the response is received.
  var stages: Stages {
    var stages: Stages = .responseEnd
    if conditions.contains(where: { $0.isAboutHeaders || $0.isAboutConnection }) {
      stages.insert(.responseStart)
    }
    if conditions.contains(where: \.isAboutMessages) { stages.insert(.responseMessage) }
    return stages
  }

  /// Throws if responses of a type cannot meet the conditions.
  func check(against type: MessageType?) throws(LanguageError) {
    guard let type else { return }
    for condition in conditions {
      do throws(LanguageError) {
        try condition.check(against: type, files: files)
      } catch {
        // The error of a call has one text.
        throw LanguageError(error.at(condition.text).text)
      }
    }
  }

  /// Golden files that were read before the call.
  fileprivate struct ReadFiles: GoldenFiles, Sendable {
    let contents: [String: [UInt8]]
    let isUpdating = false

    func read(_ path: String) -> [UInt8]? { contents[path] }
    func write(_ path: String, _ content: [UInt8]) {}
  }
}

/// A condition that a response does not meet, and why.
struct UnmetCondition: Sendable {
  /// The text on one line, for messages.
  let line: String
  /// The text with the lines of JSON that differ, for reports.
  let lines: String
}

/// The evaluation of conditions during a call, part by part.
struct ResponseProgress {
  private let conditions: [Condition]
  private var evaluations: [Evaluation]
  private var result: CallResult

  /// Begins with a response of which nothing has arrived.
  init(_ conditions: ResponseConditions, of call: CallFacts, _ secrets: CallSecrets) {
    self.conditions = conditions.conditions
    evaluations = conditions.conditions.map {
      Evaluation($0, type: call.responseType, files: conditions.files)
    }
    result = CallResult(method: call.method, type: call.responseType, status: .ok)
    result.redaction = Redaction(secrets)
  }

  /// Receives the start of the response.
  mutating func receive(_ start: ResponseStart) { result.start = start }

  /// Receives a message of the response.
  mutating func receive(_ message: Message) {
    for index in evaluations.indices { evaluations[index].receive(message) }
  }

  /// The conditions that the response does not meet, without the credentials of the call.
  ///
  /// - Parameters:
  ///   - end: The end of the call.
  ///   - latency: The duration of the call.
  func failures(_ end: ResponseEnd, latency: Duration = .zero) -> [UnmetCondition] {
    var result = result
    result.end(end)
    result.latency = latency
    return zip(conditions, evaluations).compactMap { condition, evaluation in
      let reason: (line: String, lines: String)
      switch evaluation.outcome(of: result) {
      case .holds: return nil
      case .fails(let mismatch): reason = (mismatch.description, mismatch.lines)
      case .invalid(let text, _): reason = (text, text)
      }
      let text = condition.text(for: result)
      return UnmetCondition(
        line: result.redaction.text("\(text): \(reason.line)"),
        lines: result.redaction.text("\(text): \(reason.lines)"))
    }
  }

  /// Whether a condition expects the status of an end.
  func expects(statusOf end: ResponseEnd) -> Bool {
    var result = result
    result.end(end)
    return zip(conditions, evaluations).contains { condition, evaluation in
      condition.isAboutStatus && evaluation.outcome(of: result) == .holds
    }
  }
}

extension CallResult {
  fileprivate mutating func end(_ end: ResponseEnd) {
    status = end.code
    error = end.error?.message ?? ""
    details = end.error?.details ?? []
    trailers = end.trailers
  }
}
