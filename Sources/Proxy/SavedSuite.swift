import RPCurlBase
import RPCurlEngine
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The calls of clients as a suite for `rpcurl test` (`--save-suite`): a test with a step for each call, which expects the same
/// response. A value of a response that a later request has is captured in a variable.
struct SavedSuite {
  /// A call that has ended.
  struct Call {
    let method: MethodName
    /// The metadata of the client.
    let headers: Headers
    fileprivate private(set) var requests: [JSONValue] = []
    fileprivate private(set) var responses: [JSONValue] = []
    var code = StatusCode.ok
    /// The size of its messages, in bytes.
    fileprivate private(set) var bytes = 0
    /// Whether not all of it is kept.
    fileprivate private(set) var isCut = false

    init(_ request: RPCurlProtocols.ServerRequest) {
      (method, headers) = (request.start.method, request.start.headers)
    }

    /// Adds a message of the request.
    mutating func add(request: [UInt8], _ type: MessageType, _ codec: CodecName) {
      if let value = value(request, type, codec) { requests.append(value) }
    }

    /// Adds a message of the response.
    mutating func add(response: [UInt8], _ type: MessageType, _ codec: CodecName) {
      if let value = value(response, type, codec) { responses.append(value) }
    }

    /// The suite does not have this call.
    mutating func cut() { isCut = true }

    private mutating func value(_ message: [UInt8], _ type: MessageType, _ codec: CodecName) -> JSONValue? {
      bytes += message.count
      guard !isCut, bytes <= SavedSuite.maxCallBytes, let typed = try? Message(type, message, codec),
        let json = try? typed.json(), let value = try? JSONValue(parsing: json)
      else {
        isCut = true
        return nil
      }
      return value
    }
  }

  /// The limits of what is kept, and of the messages of a call that are checked.
  private static let (maxCalls, maxBytes, maxCallBytes, maxChecked) = (10_000, 16 << 20, 1 << 20, 10)
  /// The fields that each client sends by itself.
  private static let ownFields: Set = [
    "user-agent", "accept", "accept-language", "origin", "referer", "priority",
  ]

  private var calls: [Call] = []
  private var bytes = 0
  /// How many calls were not kept: the suite would be too large, or they were canceled.
  private var omittedCount = 0

  /// Whether it has no calls.
  var isEmpty: Bool { calls.isEmpty }

  /// Adds a call.
  mutating func add(_ call: Call) {
    guard !call.isCut, calls.count < Self.maxCalls, bytes + call.bytes <= Self.maxBytes else {
      omittedCount += 1
      return
    }
    bytes += call.bytes
    calls.append(call)
  }

  /// The text of the suite.
  ///
  /// - Parameters:
  ///   - state: The target, and the options that calls need.
  ///   - secrets: Replaces credentials by variables of the environment.
  func text(_ state: SessionState, _ secrets: WrittenSecrets) -> String {
    var secrets = secrets
    var lines = ["test recorded calls"]
    let captures = Captures(calls)
    for (number, call) in calls.enumerated() {
      lines.append("step \(number + 1) \(call.method.method)")
      for field in call.headers.fields where !Self.isOwn(field.name) {
        let word = secrets.header("\(field.name): \(field.value)")
        lines.append("header \(secrets.session(word, separator: ":"))")
      }
      let messages = call.requests.map { captures.text(of: $0, before: number) }
      lines.append((["call \(call.method)"] + messages).joined(separator: " "))
      lines += checks(of: call, number, captures)
      lines += captures.made(by: number).map { "set \($0.name) = $last\($0.path)" }
    }
    let omitted =
      omittedCount > 0
      ? ["# Calls that are not in it, since they are too large, too many or canceled: \(omittedCount)."] : []
    // The limits of a record of a session are not those of a suite.
    return SavedScript.session(
      SessionRecord(state), ending: lines, secrets,
      head: ["# Calls that rpcurl proxy has recorded. rpcurl test runs them again."] + omitted)
  }

  private static func isOwn(_ name: String) -> Bool { ownFields.contains(name) || name.hasPrefix("sec-") }

  private func checks(of call: Call, _ number: Int, _ captures: Captures) -> [String] {
    var lines = ["expect status \(call.code.name)"]
    if call.code != .ok, call.responses.isEmpty { return lines }
    let isSingle = call.code == .ok && call.responses.count == 1
    if !isSingle { lines.append("expect count == \(call.responses.count)") }
    for (index, response) in call.responses.prefix(Self.maxChecked).enumerated() {
      let selection = isSingle ? "" : "message \(index) "
      var varying: [(path: String, type: String)] = []
      let rest = response.withoutVarying(at: "", captures.paths(of: number), &varying)
      if let rest { lines.append("expect \(selection). contains \(captures.text(of: rest, before: number))") }
      // A path begins with a full stop, and that of the message is nothing else.
      for (path, type) in varying {
        lines.append("expect \(selection)\(path.hasPrefix(".") ? path : ".\(path)") \(type)")
      }
    }
    return lines
  }

  /// A text without the syntax of values.
  fileprivate static func literal(_ text: String) -> String { text.replacing("${", with: "$${") }
}

/// The values of responses that later requests have.
private struct Captures {
  private struct Source {
    let call: Int
    let path: String
    let name: String
  }

  /// The length of the shortest text that is captured: shorter ones are in many messages by chance.
  private static let leastLength = 3

  private var sources: [String: Source] = [:]
  private var byCall: [Int: [Source]] = [:]

  init(_ calls: [SavedSuite.Call]) {
    var known: [String: (call: Int, path: String)] = [:]
    var given: Set<String> = []
    var names: Set<String> = []
    for (number, call) in calls.enumerated() {
      for request in call.requests {
        request.forEachText(at: "") { text, _ in
          if let (call, path) = known[text], sources[text] == nil {
            let field = path.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.last {
              $0.first?.isNumber == false
            }
            var base = field.map { String($0) } ?? "value"
            if Reference.reserved.contains(base) { base += "_value" }
            var (name, count) = (base, 1)
            while !names.insert(name).inserted {
              count += 1
              name = "\(base)_\(count)"
            }
            sources[text] = Source(call: call, path: path, name: name)
          }
          given.insert(text)
        }
      }
      // A check of a list knows its first message only by number, and `set` reads the last one.
      guard let response = call.responses.last else { continue }
      response.forEachText(at: "") { text, path in
        if text.utf8.count >= Self.leastLength, !given.contains(text), known[text] == nil {
          known[text] = (number, path)
        }
      }
    }
    byCall = Dictionary(grouping: sources.values, by: \.call)
  }

  /// The variables that a call gives, with their paths.
  func made(by call: Int) -> [(name: String, path: String)] {
    (byCall[call] ?? []).map { ($0.name, $0.path) }.sorted { $0.name < $1.name }
  }

  /// The paths of a response whose values are captured.
  func paths(of call: Int) -> Set<String> { Set((byCall[call] ?? []).map(\.path)) }

  /// The text of a message, with variables in the place of captured values.
  func text(of message: JSONValue, before call: Int) -> String {
    let json = message.mapTexts { text in
      guard let source = sources[text], source.call < call else { return SavedSuite.literal(text) }
      return "${\(source.name)}"
    }.text
    return Self.escapingNames(json)
  }

  /// JSON in which no text begins as the name of a value does, such as `"$last.id"`: that is a mistake in a suite.
  private static func escapingNames(_ json: String) -> String {
    guard json.firstRange(of: "\"$") != nil else { return json }
    let escape = "\"\\u0024"
    return json.replacing("\"$", with: escape).replacing("\(escape){", with: "\"${")
      .replacing("\(escape)${", with: "\"$${")
  }
}

extension JSONValue {
  /// Calls `body` with each text and its path.
  fileprivate func forEachText(at path: String, _ body: (String, String) -> Void) {
    switch self {
    case .string(let text): body(text, path)
    case .array(let elements):
      for (index, element) in elements.enumerated() { element.forEachText(at: "\(path)[\(index)]", body) }
    case .object(let members):
      for member in members { member.value.forEachText(at: Self.path(path, member.name), body) }
    case .null, .bool, .number: break
    }
  }

  fileprivate func mapTexts(_ change: (String) -> String) -> JSONValue {
    switch self {
    case .string(let text): .string(change(text))
    case .array(let elements): .array(elements.map { $0.mapTexts(change) })
    case .object(let members):
      // The name may be the key of a map, which the client has chosen.
      .object(
        members.map { Member(name: SavedSuite.literal($0.name), value: $0.value.mapTexts(change)) })
    case .null, .bool, .number: self
    }
  }

  /// The value without what differs from run to run: captured values, identifiers and times.
  ///
  /// - Parameter varying: Receives what is checked of them.
  /// - Returns: nil if nothing is left.
  fileprivate func withoutVarying(
    at path: String, _ captured: Set<String>, _ varying: inout [(path: String, type: String)]
  ) -> JSONValue? {
    switch self {
    case .string:
      if let kind = [ValueKind.uuid, .timestamp].first(where: { $0.includes(self) }) {
        varying.append((path, "is \(kind.rawValue)"))
        return nil
      }
      guard captured.contains(path) else { return self }
      varying.append((path, "exists"))
      return nil
    case .object(let members):
      let rest = members.compactMap { member in
        member.value.withoutVarying(at: Self.path(path, member.name), captured, &varying).map {
          Member(name: member.name, value: $0)
        }
      }
      return rest.isEmpty ? nil : .object(rest)
    // An element of a list cannot be left out.
    case .array, .null, .bool, .number: return self
    }
  }

  private static func path(_ path: String, _ name: String) -> String {
    let isName = !name.isEmpty && name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isASCIIAlphanumeric }
    return isName ? "\(path).\(name)" : "\(path)[\(FieldPath.Subscript.string(name))]"
  }
}

extension UInt8 {
  fileprivate var isASCIIAlphanumeric: Bool {
    (0x30...0x39).contains(self) || (0x61...0x7A).contains(self | 0x20)
  }
}
