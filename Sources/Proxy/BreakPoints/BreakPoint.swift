import RPCurlChain
import RPCurlEngine
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// A break point: the values of calls that wait for the user.
struct BreakPoint: CustomStringConvertible {
  /// The direction of a value.
  enum Side: String, CaseIterable { case request, response }

  /// How one is written.
  static let form = "[request|response] METHOD [where CONDITION]"

  let side: Side
  let methods: MethodPattern
  let condition: Condition?

  /// Parses the form. A name without a service is that of a method of any service.
  init(parsing text: String) throws(LanguageError) {
    var words = LineWords(text)
    var name = words.next()
    let side = Side(rawValue: name)
    if side != nil { name = words.next() }
    self.side = side ?? .request
    guard !name.isEmpty else { throw LanguageError("missing METHOD", hint: "write break \(Self.form)") }
    guard let methods = MethodPattern(name) ?? MethodPattern("*/\(name)") else {
      throw LanguageError(
        "\(name) is not a method", hint: "write pkg.Service/Method, pkg.Service/*, */Method, Method or *")
    }
    self.methods = methods
    let keyword = words.next()
    guard !keyword.isEmpty else {
      condition = nil
      return
    }
    guard keyword == "where" else {
      throw LanguageError("\(keyword) follows the method", hint: "write break \(Self.form)")
    }
    let condition = try Condition(parsing: words.rest)
    guard condition.isLiteral else {
      throw LanguageError("${…} has no value here", hint: "write $${ for a literal ${")
    }
    let isRequest = self.side == .request
    guard condition.isAboutRequest || !isRequest && condition.isAboutEnd && condition.goldenPath == nil else {
      throw LanguageError(
        "\(condition.text) is not a condition on one message of the \(self.side.rawValue)",
        hint: isRequest
          ? "such as .user.id == 7 or header x-tenant == blue; break response can look at the status"
          : "such as .user.id == 7, header x-tenant == blue, status not_found or latency > 1s")
    }
    self.condition = condition
  }

  /// Throws unless the schema has a method for the break point, with messages that can meet the condition.
  func check(_ schema: [MethodName: MethodDescriptor]) throws(LanguageError) {
    let found = schema.filter { methods.matches($0.key) }
    guard !found.isEmpty else {
      // Without a schema, calls pass as bytes.
      guard !schema.isEmpty else { return }
      let isOfAnyService = methods.description.hasPrefix("*/")
      let names = schema.keys.map { isOfAnyService ? "*/\($0.method)" : $0.description }
      let nearest = DescriptorPool.nearestNames(to: "\(methods)", among: names, limit: 1)
      throw LanguageError(
        "the schema has no method \(methods)", hint: nearest.first.map { "did you mean \($0)?" })
    }
    guard let condition else { return }
    var problem: LanguageError?
    for method in found.values {
      do throws(LanguageError) {
        try condition.check(
          against: side == .request ? method.input : method.output, files: NoGoldenFiles())
        return
      } catch {
        problem = error
      }
    }
    if let problem { throw problem.at(condition.text) }
  }

  /// Whether a value waits.
  func matches(_ value: HeldValue) -> Bool {
    guard value.side == side, methods.matches(value.method) else { return false }
    var result = CallResult(method: value.method, type: nil, status: .ok)
    result.headers = value.headers
    result.latency = value.latency
    var message: Message?
    switch value.content {
    case .start: guard condition?.isAboutHeaders ?? true else { return false }
    case .message(let content):
      guard condition.map({ $0.isAboutRequest && (content != nil || $0.isAboutHeaders) }) ?? true else {
        return false
      }
      message = content
    case .end(let end):
      guard let condition, condition.isAboutEnd else {
        return end.error != nil && condition?.isAboutHeaders ?? true && matches(result, nil)
      }
      result.status = end.code
      result.error = end.error?.message ?? ""
      result.details = end.error?.details ?? []
      result.trailers = end.trailers
    }
    return matches(result, message)
  }

  private func matches(_ result: CallResult, _ message: Message?) -> Bool {
    guard let condition else { return true }
    var evaluation = Evaluation(condition, type: message?.type)
    if let message { evaluation.receive(message) }
    return evaluation.outcome(of: result) == .holds
  }

  /// The text; parsing it gives the same break point.
  var description: String { "\(side.rawValue) \(methods)\(condition.map { " where \($0)" } ?? "")" }
}

/// The words of a command, and what follows them.
struct LineWords {
  private(set) var rest: String

  init(_ text: String) { rest = String(text[...].withoutOuterSpace) }

  /// The first word; empty if there is none.
  var first: String { String(rest.prefixOfScalars { !$0.properties.isWhitespace }) }

  /// Removes and returns the first word; empty if there is none.
  mutating func next() -> String {
    let word = first
    rest = String(Substring(rest.unicodeScalars.dropFirst(word.unicodeScalars.count)).withoutOuterSpace)
    return word
  }

  /// Removes and returns the first word if it is a number.
  mutating func nextNumber() -> Int? {
    var others = self
    guard let number = Int(others.next()) else { return nil }
    self = others
    return number
  }
}
