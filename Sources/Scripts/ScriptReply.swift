import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// A line of a script after the first.
package struct ScriptReply: Sendable {
  /// What the line is about.
  package enum Subject: Sendable, Equatable {
    /// The value with a number.
    case value(Int)
    /// All values up to a number that still wait.
    case upTo(Int)
    /// The call as a whole.
    case call
  }

  /// A message as the script gives it.
  package enum Body: Sendable, Equatable {
    /// JSON of the message's type.
    case json(JSONValue)
    /// The bytes in the call's codec.
    case bytes([UInt8])
  }

  /// A failure of a call.
  package struct Failure: Sendable {
    var code: StatusCode
    var message: String
    /// JSON with an `@type`, which the schema of the call resolves.
    var details: [JSONValue]
    var trailers: Headers
  }

  /// A response in place of a server's.
  package struct Response: Sendable {
    var headers: Headers
    var messages: [Body]
    var failure: Failure?
    var trailers: Headers
  }

  /// What happens to a value. Without a verdict it is passed on.
  package enum Verdict: Sendable {
    case message(Body)
    case drop
    case fail(Failure)
    case respond(Response)
    case retry(after: Duration, headers: Headers)
  }

  /// A change of headers or trailers.
  package enum HeaderChange: Sendable, Equatable {
    case add(String, String)
    case remove(String)
  }

  /// A call that the script makes.
  package struct OwnCall: Sendable {
    var id: Int
    var method: MethodName
    var message: Body?
    var headers: Headers
    var timeout: Duration?
  }

  /// A question for a person.
  package struct Question: Sendable, Equatable {
    var id: Int
    var text: String
  }

  /// The number of the call; nil for a line about none.
  package var call: Int?
  /// What the line is about.
  package var subject = Subject.call
  var headers: [HeaderChange] = []
  var verdict: Verdict?
  var injected: [Body] = []
  /// Messages that belong to no value, by their direction.
  var injectedRequests: [Body] = []
  var injectedResponses: [Body] = []
  var attributes: [(key: String, value: String?)] = []
  var findings: [(kind: Finding.Kind, text: String)] = []
  var logs: [(level: LogLevel, text: String)] = []
  var ownCall: OwnCall?
  var question: Question?

  private static let members = [
    "call", "value", "upto", "headers", "message", "bytes", "inject", "drop", "fail", "respond", "retry",
    "attributes", "finding", "log", "ask",
  ]

  private static let verdicts = ["message", "bytes", "drop", "fail", "respond", "retry"]

  /// Parses a line.
  ///
  /// - Throws: ``LanguageError`` that names the invalid member.
  package init(parsing line: [UInt8]) throws(LanguageError) {
    let object = try ObjectReader(Self.value(of: line), keys: Self.members)
    if case .object? = object.value("call") {
      try readCall(object)
    } else {
      call = try object.integer("call")
    }
    try readSubject(object)
    headers = try Self.headerChanges(object)
    verdict = try Self.verdict(object)
    try readInjected(object)
    try readRemarks(object)
    if let question = try object.object("ask", keys: ["id", "text"]) {
      self.question = Question(
        id: try question.requiredInteger("id"), text: try question.requiredString("text"))
    }
    if call == nil, let member = object.names.first(where: { $0 != "log" }) {
      throw object.error(member, "only with \"call\"")
    }
  }

  /// The JSON of a line.
  static func value(of line: [UInt8]) throws(LanguageError) -> JSONValue {
    do throws(MessageParseError) {
      return try JSONValue(parsing: line)
    } catch {
      throw LanguageError("a line that is no JSON: \(error.withoutPlace)")
    }
  }

  private mutating func readCall(_ object: ObjectReader) throws(LanguageError) {
    guard
      let own = try object.object(
        "call", keys: ["of", "id", "method", "message", "bytes", "headers", "timeout"])
    else { return }
    call = try own.requiredInteger("of")
    guard let method = MethodName(try own.requiredString("method")) else {
      throw own.error("method", "must be a method such as pkg.Service/Method")
    }
    ownCall = OwnCall(
      id: try own.requiredInteger("id"), method: method, message: try Self.body(own),
      headers: try own.headers("headers"),
      timeout: try own.duration("timeout"))
  }

  private mutating func readSubject(_ object: ObjectReader) throws(LanguageError) {
    if let value = try object.integer("value") {
      subject = .value(value)
      if object.value("upto") != nil { throw object.error("upto", "not with value") }
    } else if let last = try object.integer("upto") {
      subject = .upTo(last)
    }
    let allowed: [String]
    switch subject {
    case .value: return
    case .upTo: allowed = ["call", "upto"]
    case .call: allowed = ["call", "fail", "inject", "attributes", "finding", "log", "ask"]
    }
    if let member = object.names.first(where: { !allowed.contains($0) }) {
      throw object.error(member, subject == .call ? "only with \"value\"" : "not with upto")
    }
  }

  // MARK: Parts

  private static func body(_ object: ObjectReader) throws(LanguageError) -> Body? {
    // Present and null is the message null of google.protobuf.Value.
    if let message = object.members.first(where: { $0.name == "message" })?.value { return .json(message) }
    guard let text = try object.string("bytes") else { return nil }
    guard let bytes = Base64.decode(text) else { throw object.error("bytes", "is not base64") }
    return .bytes(bytes)
  }

  private static func bodies(_ values: [JSONValue], _ path: String) throws(LanguageError) -> [Body] {
    var bodies: [Body] = []
    for (index, value) in values.enumerated() {
      let object = try ObjectReader(value, "\(path)[\(index)]", keys: ["message", "bytes"])
      guard let body = try body(object) else { throw object.error("message", "missing") }
      bodies.append(body)
    }
    return bodies
  }

  private static func headerChanges(_ object: ObjectReader) throws(LanguageError) -> [HeaderChange] {
    guard let headers = try object.object("headers", keys: ["set", "add", "remove"]) else { return [] }
    var changes = try headers.strings("remove").map { HeaderChange.remove($0) }
    let (set, added) = (try headers.fields("set"), try headers.fields("add"))
    for field in set { changes.append(.remove(field.name)) }
    for fields in [set, added] {
      for (name, values) in fields {
        for value in values { changes.append(.add(name, value)) }
      }
    }
    return changes
  }

  private static func verdict(_ object: ObjectReader) throws(LanguageError) -> Verdict? {
    var given: String?
    for member in object.members where verdicts.contains(member.name) {
      if let given { throw object.error(member.name, "not with \(given)") }
      given = member.name
    }
    switch given {
    case nil: return nil
    case "drop": return try object.bool("drop") == true ? .drop : nil
    case "fail": return try failure(object).map { .fail($0) }
    case "respond": return try response(object).map { .respond($0) }
    case "retry": return try retry(object)
    default: return try body(object).map { .message($0) }
    }
  }

  private static func failure(_ object: ObjectReader) throws(LanguageError) -> Failure? {
    guard let fail = try object.object("fail", keys: ["code", "message", "details", "trailers"]) else {
      return nil
    }
    let code = try fail.code("code") ?? .unknown
    guard code != .ok else { throw fail.error("code", "ok is no failure") }
    return Failure(
      code: code, message: try fail.string("message") ?? "", details: try fail.array("details") ?? [],
      trailers: try fail.headers("trailers"))
  }

  private static func response(_ object: ObjectReader) throws(LanguageError) -> Response? {
    guard
      let respond = try object.object(
        "respond", keys: ["headers", "message", "bytes", "messages", "fail", "trailers"])
    else { return nil }
    var messages = try bodies(respond.array("messages") ?? [], respond.place("messages"))
    if let single = try body(respond) {
      guard messages.isEmpty else { throw respond.error("messages", "not with message") }
      messages = [single]
    }
    return Response(
      headers: try respond.headers("headers"), messages: messages, failure: try failure(respond),
      trailers: try respond.headers("trailers"))
  }

  private static func retry(_ object: ObjectReader) throws(LanguageError) -> Verdict? {
    if case .bool(let isWanted)? = object.value("retry") {
      return isWanted ? .retry(after: .zero, headers: Headers()) : nil
    }
    guard let retry = try object.object("retry", keys: ["after", "headers"]) else { return nil }
    var headers = Headers()
    for (name, values) in try retry.fields("headers") {
      for value in values { headers.add(name, value) }
    }
    return .retry(after: try retry.duration("after") ?? .zero, headers: headers)
  }

  private mutating func readInjected(_ object: ObjectReader) throws(LanguageError) {
    guard subject == .call else {
      injected = try Self.bodies(object.array("inject") ?? [], "inject")
      return
    }
    guard let inject = try object.object("inject", keys: ["request", "response"]) else { return }
    injectedRequests = try Self.bodies(inject.array("request") ?? [], "inject.request")
    injectedResponses = try Self.bodies(inject.array("response") ?? [], "inject.response")
  }

  private mutating func readRemarks(_ object: ObjectReader) throws(LanguageError) {
    for member in try object.object("attributes", keys: nil)?.members ?? [] {
      switch member.value {
      case .null: attributes.append((member.name, nil))
      case .string(let text): attributes.append((member.name, text))
      default: throw object.error("attributes.\(member.name)", "must be a string or null")
      }
    }
    for (text, kind) in try Self.remarks(object, "finding", "kind") {
      switch kind ?? "failure" {
      case "failure": findings.append((.failure, text))
      case "note": findings.append((.note, text))
      default: throw object.error("finding.kind", "must be failure or note")
      }
    }
    for (text, level) in try Self.remarks(object, "log", "level") {
      guard let level = LogLevel(name: level ?? "info") else {
        throw object.error("log.level", "must be debug, info, warning or error")
      }
      logs.append((level, text))
    }
  }

  /// Texts with a word each: one or a list of `"text"` or `{"text":…,KEY:…}`.
  private static func remarks(
    _ object: ObjectReader, _ name: String, _ key: String
  ) throws(LanguageError) -> [(text: String, word: String?)] {
    guard let value = object.value(name) else { return [] }
    let values = if case .array(let elements) = value { elements } else { [value] }
    var remarks: [(String, String?)] = []
    for value in values {
      if case .string(let text) = value {
        remarks.append((text, nil))
      } else {
        let remark = try ObjectReader(value, name, keys: ["text", key])
        remarks.append((try remark.requiredString("text"), try remark.string(key)))
      }
    }
    return remarks
  }
}
